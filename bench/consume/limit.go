package main

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/twmb/franz-go/pkg/kgo"
	"golang.org/x/sync/errgroup"

	"oriel/server/cloudevents"
	"oriel/server/lexicon"
)

// everything is a Seen that has nothing to ask for.
type everything struct{}

func (everything) Term(int64) bool                 { return true }
func (everything) Path(string, string, int16) bool { return true }

// limitRow is one record, decoded and lexed.
type limitRow struct {
	rec      *kgo.Record
	event    *cloudevents.Event
	severity int16
	tags     []string
	facets   []string
	text     any // what is indexed of the text
	digest   int64

	identifiers []uint64
}

// loop is one connection of the limit, and the partitions it reads.
type loop struct {
	log        int16
	conn       *pgx.Conn
	analyzer   *lexicon.Analyzer
	text       textIndex
	partitions map[int32]int64 // commits
	counts     map[int32]int64 // records to read
	batch      int
}

// limit is a contender that reads the topic without a group and writes it as fast as this shape of table
// allows.
func (s *stage) limit(text textIndex) func(context.Context, options, string, int, *pgxpool.Pool) error {
	return func(ctx context.Context, o options, topic string, n int, pool *pgxpool.Pool) error {
		return s.runLimit(ctx, o, topic, n, pool, text)
	}
}

func (s *stage) runLimit(ctx context.Context, o options, topic string, n int, pool *pgxpool.Pool, text textIndex) error {
	var key lexicon.Key
	var raw []byte
	if err := pool.QueryRow(ctx, "SELECT key FROM lexicon_version WHERE version = $1", lexicon.Version).Scan(&raw); err != nil {
		return err
	}
	copy(key[:], raw)
	var log int16
	if err := pool.QueryRow(ctx, "INSERT INTO log (topic, topic_id) VALUES ($1, gen_random_uuid()) RETURNING id", topic).Scan(&log); err != nil {
		return err
	}
	if _, err := pool.Exec(ctx, `INSERT INTO checkpoint (consumer, log, partition, next_offset)
		SELECT 'store', $2, p, 0 FROM generate_series(0, $1::int - 1) p`, o.partitions, log); err != nil {
		return err
	}
	counts, err := s.shares(ctx, topic, n)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	for c := range o.conns {
		var apart []lexicon.Option
		if !text.blocks() {
			apart = append(apart, lexicon.WithoutIdentifiers())
		}
		l := &loop{
			log: log, batch: o.batch, text: text.clone(), counts: counts, partitions: map[int32]int64{},
			analyzer: lexicon.New(key, []string{"severity", "tags", "deviceId", "roomId", "personId"}, apart...),
		}
		start := map[int32]kgo.Offset{}
		for p := c; p < o.partitions; p += o.conns {
			l.partitions[int32(p)] = 0
			start[int32(p)] = kgo.NewOffset().At(0)
		}
		group.Go(func() error { return l.run(ctx, s.brokers, topic, start, pool) })
	}
	return group.Wait()
}

func (l *loop) run(ctx context.Context, brokers []string, topic string, start map[int32]kgo.Offset, pool *pgxpool.Pool) (err error) {
	if l.conn, err = pgx.ConnectConfig(ctx, pool.Config().ConnConfig); err != nil {
		return err
	}
	defer l.conn.Close(context.WithoutCancel(ctx))
	l.text.prepare(l.conn)
	cl, err := kgo.NewClient(kgo.SeedBrokers(brokers...), kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: start}),
		kgo.FetchMaxWait(100*time.Millisecond))
	if err != nil {
		return err
	}
	defer cl.Close()
	queued, left, all := map[int32][]*kgo.Record{}, map[int32]int64{}, int64(0)
	for p := range start {
		left[p] = l.counts[p]
		all += left[p]
	}
	for all > 0 {
		fetches := cl.PollRecords(ctx, 2*l.batch)
		if err := fetches.Err(); err != nil {
			return err
		}
		fetches.EachRecord(func(r *kgo.Record) {
			if left[r.Partition] == 0 {
				return
			}
			left[r.Partition]--
			all--
			queued[r.Partition] = append(queued[r.Partition], r)
		})
		for p, rs := range queued {
			for len(rs) >= l.batch || (left[p] == 0 && len(rs) > 0) {
				n := min(l.batch, len(rs))
				if err := l.write(ctx, p, rs[:n]); err != nil {
					return err
				}
				rs = rs[n:]
			}
			queued[p] = rs
		}
	}
	return ctx.Err()
}

func (l *loop) decode(rs []*kgo.Record) ([]limitRow, error) {
	rows := make([]limitRow, len(rs))
	var headers []cloudevents.Header
	for i, rec := range rs {
		headers = headers[:0]
		for _, h := range rec.Headers {
			headers = append(headers, cloudevents.Header{Key: h.Key, Value: h.Value})
		}
		e, _, err := cloudevents.DecodeRecord(cloudevents.Record{Key: rec.Key, Value: rec.Value, Headers: headers})
		if err != nil {
			return nil, err
		}
		if vs := cloudevents.Validate(e); len(vs) > 0 {
			return nil, &cloudevents.Error{Violations: vs}
		}
		out := l.analyzer.Analyze(&lexicon.Input{
			Type: e.Type, Source: e.Source, ID: e.ID, JSON: true, Data: e.Data,
			Attributes: []string{"type", e.Type, "source", e.Source, "subject", e.Subject},
		}, everything{})
		r := &rows[i]
		r.rec, r.event, r.digest = rec, e, e.Digest()
		r.identifiers = slices.Clone(out.Identifiers)
		if r.text, err = l.text.of(e, out); err != nil {
			return nil, err
		}
		r.severity = int16(slices.Index([]string{"", "trace", "debug", "info", "notice", "warning", "error", "critical", "emergency"}, out.Picked[0]))
		r.severity = max(r.severity, 0)
		r.tags = slices.Clone(out.PickedAll[1])
		for f, name := range []string{"device", "room", "person"} {
			if v := out.Picked[2+f]; v != "" {
				r.facets = append(r.facets, name+"="+v)
			}
		}
	}
	slices.SortFunc(rows, func(a, b limitRow) int {
		return cmp.Or(a.event.Time.Compare(b.event.Time), strings.Compare(a.event.Source, b.event.Source), strings.Compare(a.event.ID, b.event.ID))
	})
	return rows, nil
}

func (l *loop) write(ctx context.Context, p int32, rs []*kgo.Record) error {
	rows, err := l.decode(rs)
	if err != nil {
		return err
	}
	tx, err := l.conn.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // after COMMIT it does nothing
	columns := []string{
		"occurred_at", "log", "partition", "offset", "commit", "kafka_time", "digest", "severity", "flags",
		"facets_version", "source", "id", "type", "subject", "time_text", "datacontenttype", "tags", "facets", l.text.column(), "record_key", "data",
	}
	commit := l.partitions[p] + 1
	if _, err := tx.CopyFrom(ctx, pgx.Identifier{"event"}, columns, pgx.CopyFromSlice(len(rows), func(i int) ([]any, error) {
		r := &rows[i]
		var severity *int16
		if r.severity > 0 {
			severity = &r.severity
		}
		e := r.event
		return []any{
			e.Time, l.log, p, r.rec.Offset, commit, r.rec.Timestamp, r.digest, severity, int16(0), int16(1), e.Source, e.ID,
			e.Type, e.Subject, e.TimeText, e.DataContentType, r.tags, r.facets, r.text, r.rec.Key, e.Data,
		}, nil
	})); err != nil {
		return err
	}
	batch := rollUp(l.log, p, rows)
	if l.text.blocks() {
		if err := queueBlocks(batch, l.log, p, commit, rows); err != nil {
			return err
		}
	}
	last := rs[len(rs)-1].Offset + 1
	batch.Queue(`UPDATE checkpoint SET next_offset = $1, commits = $2 WHERE consumer = 'store' AND log = $4 AND partition = $3`, last, commit, p, l.log)
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return err
	}
	l.partitions[p] = commit
	return tx.Commit(ctx)
}

type bucket struct {
	at               time.Time
	dimension, value string
	severity         int16
}

type sums struct{ n, errors int64 }

// rollUp sums the rows.
func rollUp(log int16, p int32, rows []limitRow) *pgx.Batch {
	totals := map[bucket]sums{}
	add := func(r *limitRow, b bucket) {
		s := totals[b]
		s.n++
		if r.severity >= 6 {
			s.errors++
		}
		totals[b] = s
	}
	for i := range rows {
		r := &rows[i]
		add(r, bucket{at: r.event.Time.Truncate(time.Minute), severity: r.severity})
		quarter := r.event.Time.Truncate(15 * time.Minute)
		add(r, bucket{at: quarter, dimension: "type", value: r.event.Type})
		add(r, bucket{at: quarter, dimension: "source", value: r.event.Source})
		for _, t := range r.tags {
			add(r, bucket{at: quarter, dimension: "tag", value: t})
		}
		for _, f := range r.facets {
			if name, v, _ := strings.Cut(f, "="); name != "device" {
				add(r, bucket{at: quarter, dimension: name, value: v})
			}
		}
	}
	keys := make([]bucket, 0, len(totals))
	for b := range totals {
		keys = append(keys, b)
	}
	slices.SortFunc(keys, func(a, b bucket) int {
		return cmp.Or(a.at.Compare(b.at), strings.Compare(a.dimension, b.dimension), strings.Compare(a.value, b.value), cmp.Compare(a.severity, b.severity))
	})
	var at, qat []time.Time
	var severity []int16
	var n, errs, qn, qerrs []int64
	var dimension, value []string
	for _, b := range keys {
		s := totals[b]
		if b.dimension == "" {
			at, severity, n, errs = append(at, b.at), append(severity, b.severity), append(n, s.n), append(errs, s.errors)
			continue
		}
		qat, dimension, value = append(qat, b.at), append(dimension, b.dimension), append(value, b.value)
		qn, qerrs = append(qn, s.n), append(qerrs, s.errors)
	}
	var batch pgx.Batch
	batch.Queue(`INSERT INTO rollup_minute AS r SELECT unnest($1::timestamptz[]), $6, $2, unnest($3::smallint[]), unnest($4::bigint[]), unnest($5::bigint[])
		ON CONFLICT (bucket, log, partition, severity) DO UPDATE SET n = r.n + EXCLUDED.n, errors = r.errors + EXCLUDED.errors`, at, p, severity, n, errs, log)
	batch.Queue(`INSERT INTO rollup_quarter AS r SELECT unnest($1::timestamptz[]), $7, $2, unnest($3::text[]), unnest($4::text[]), unnest($5::bigint[]), unnest($6::bigint[])
		ON CONFLICT (bucket, log, partition, dimension, value) DO UPDATE SET n = r.n + EXCLUDED.n, errors = r.errors + EXCLUDED.errors`,
		qat, p, dimension, value, qn, qerrs, log)
	return &batch
}
