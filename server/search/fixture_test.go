package search

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"oriel/server/block"
	"oriel/server/cloudevents"
	"oriel/server/dbtest"
	"oriel/server/lexicon"
)

// noon is the time that tests take for now.
func noon() time.Time { return time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC) }

// sample is an event to store; zero fields take values that say nothing.
type sample struct {
	at                time.Time
	log               int16
	partition         int32
	offset, commit    int64
	source, id, kind  string
	subject           string
	severity          int16
	contentType       string // "" is application/json, "-" is absent
	schema            string
	flags             cloudevents.Flags
	extensions        []string // name, type, value
	data              []byte   // nil is absent
	tags, facets      []string
	headers           [][]byte
	traceID           []byte
	timeText, recordK string
	over              bool // index it as one beyond the lexicon's bound
}

// store is a database of its own with the service under test.
type store struct {
	t        testing.TB
	pool     *pgxpool.Pool
	svc      *Service
	key      lexicon.Key
	analyzer *lexicon.Analyzer
	offsets  map[progress]int64
	days     map[time.Time]bool
	index    index // of the samples at hand
	bare     bool  // as stored by a build that wrote no blocks
}

// newStore has log 1, the topic "events", and generous limits: a slow machine must not make a page
// partial where the test is not about that.
func newStore(t testing.TB) *store {
	t.Helper()
	return newStoreOn(t, dbtest.NewURL(t))
}

func newStoreOn(t testing.TB, url string) *store {
	t.Helper()
	pool, reader := dbtest.Open(t, url), dbtest.Open(t, dbtest.ReadURL(t, url))
	st := &store{
		t: t, pool: pool, offsets: map[progress]int64{}, days: map[time.Time]bool{},
		svc: New(reader, Config{Retention: 91 * 24 * time.Hour}, slog.New(slog.DiscardHandler), prometheus.NewRegistry()),
	}
	var key []byte
	if err := pool.QueryRow(context.Background(), `SELECT key FROM lexicon_version WHERE version = 1`).Scan(&key); err != nil {
		t.Fatalf("read the lexicon's key: %v", err)
	}
	copy(st.key[:], key)
	st.analyzer = lexicon.New(st.key, nil)
	st.svc.now = noon
	st.svc.limits.statement, st.svc.limits.budget, st.svc.limits.others = time.Minute, time.Minute, time.Minute
	st.svc.limits.counting = time.Minute
	st.exec(`INSERT INTO log (topic, topic_id) VALUES ('events', gen_random_uuid())`)
	return st
}

func (st *store) exec(sql string, args ...any) {
	st.t.Helper()
	if _, err := st.pool.Exec(context.Background(), sql, args...); err != nil {
		st.t.Fatalf("%s: %v", sql, err)
	}
}

func (st *store) day(at time.Time) {
	st.t.Helper()
	day := at.UTC().Truncate(oneDay)
	if !st.days[day] {
		st.exec(`SELECT ensure_day('event', $1::date), ensure_day('event_block', $1::date)`, day)
		st.days[day] = true
	}
}

// commits sets how far the store has come in a partition of log 1.
func (st *store) commits(partition int32, commits int64) {
	st.t.Helper()
	st.exec(`INSERT INTO checkpoint (consumer, log, partition, next_offset, commits) VALUES ('store', 1, $1, 0, $2)
		ON CONFLICT (consumer, log, partition) DO UPDATE SET commits = greatest(checkpoint.commits, excluded.commits)`, partition, commits)
}

// add stores the samples and moves the checkpoints to their commits.
func (st *store) add(samples ...sample) {
	st.t.Helper()
	ctx := context.Background()
	st.index = index{terms: map[lexicon.Term]bool{}, paths: map[string]map[string]int16{}, blocks: map[blockID][]block.Row{}}
	rows := make([][]any, 0, len(samples))
	most := map[int32]int64{}
	for i := range samples {
		s := st.complete(&samples[i])
		st.day(s.at)
		most[s.partition] = max(most[s.partition], s.commit)
		rows = append(rows, st.row(s))
	}
	tx, err := st.pool.Begin(ctx)
	if err != nil {
		st.t.Fatal(err)
	}
	defer tx.Rollback(ctx) //nolint:errcheck // after a commit there is nothing to roll back
	if _, err := tx.CopyFrom(ctx, pgx.Identifier{"event"}, []string{
		"occurred_at", "log", "partition", "offset", "commit", "kafka_time", "digest", "severity", "flags", "source", "id", "type",
		"subject", "time_text", "datacontenttype", "attributes", "tags", "facets", "lexemes", "trace_id", "record_key", "headers", "data", "dataschema",
	}, pgx.CopyFromRows(rows)); err != nil {
		st.t.Fatalf("store samples: %v", err)
	}
	if !st.bare {
		st.index.store(st.t, tx)
	}
	for p, c := range most {
		if _, err := tx.Exec(ctx, `INSERT INTO checkpoint (consumer, log, partition, next_offset, commits) VALUES ('store', 1, $1, 0, $2)
			ON CONFLICT (consumer, log, partition) DO UPDATE SET commits = greatest(checkpoint.commits, excluded.commits)`, p, c); err != nil {
			st.t.Fatalf("move checkpoint: %v", err)
		}
	}
	if err := tx.Commit(ctx); err != nil {
		st.t.Fatal(err)
	}
}

// complete fills in what the sample leaves open.
func (st *store) complete(s *sample) *sample {
	if s.at.IsZero() {
		s.at = noon().Add(-time.Minute)
	}
	s.log = max(s.log, 1)
	s.commit = max(s.commit, 1)
	at := progress{log: s.log, partition: s.partition}
	if s.offset == 0 {
		s.offset = st.offsets[at]
	}
	st.offsets[at] = max(st.offsets[at], s.offset) + 1
	if s.source == "" {
		s.source = "/test"
	}
	if s.id == "" {
		s.id = fmt.Sprintf("%d-%d-%d", s.log, s.partition, s.offset)
	}
	if s.kind == "" {
		s.kind = "test.sample"
	}
	switch s.contentType {
	case "":
		s.contentType = "application/json"
	case "-":
		s.contentType = ""
		s.flags |= cloudevents.FlagContentTypeAbsent
	}
	if s.timeText == "" {
		s.timeText = s.at.UTC().Format(time.RFC3339Nano)
	}
	return s
}

func (st *store) row(s *sample) []any {
	out := st.analyzer.Analyze(inputOf(s.candidate()), nil)
	if out.Invalid {
		s.flags |= cloudevents.FlagDataInvalid
	}
	lexemes := st.indexed(s, out)
	return []any{
		s.at.UTC().Truncate(time.Microsecond), s.log, s.partition, s.offset, s.commit, s.at, int64(0), null(s.severity), int16(s.flags), s.source, s.id,
		s.kind, null(s.subject), s.timeText, null(s.contentType), s.extensions, s.tags, s.facets, lexemes, s.traceID,
		[]byte(s.recordK), s.headers, s.data, null(s.schema),
	}
}

func null[T comparable](v T) any {
	var zero T
	if v == zero {
		return nil
	}
	return v
}

// list asks for one page and fails the test on an error; parameters are name, value, …
func (st *store) list(params ...string) *Page {
	st.t.Helper()
	p, err := st.svc.List(context.Background(), values(params...))
	if err != nil {
		st.t.Fatalf("list %v: %v", params, err)
	}
	return p
}

func values(params ...string) url.Values {
	v := url.Values{}
	for i := 0; i+1 < len(params); i += 2 {
		v.Add(params[i], params[i+1])
	}
	return v
}

// all follows the next page tokens to the end.
func (st *store) all(params ...string) (events []Event, pages int) {
	st.t.Helper()
	token := ""
	for pages = range 1000 {
		p := st.list(append(slices.Clone(params), "pageToken", token)...)
		events = append(events, p.Events...)
		if p.NextToken == "" {
			return events, pages + 1
		}
		token = p.NextToken
	}
	st.t.Fatalf("no end of pages for %v", params)
	return nil, 0
}

func ids(events []Event) []string {
	out := make([]string, len(events))
	for i := range events {
		out[i] = events[i].ID
	}
	return out
}

func (st *store) expect(want string, params ...string) {
	st.t.Helper()
	events, _ := st.all(params...)
	if got := strings.Join(ids(events), " "); got != want {
		st.t.Errorf("%v found %q, want %q", params, got, want)
	}
}

func jsonOf(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
