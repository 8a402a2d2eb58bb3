// Package pipeline says how the way of events from the topic to the table is doing, and which named conditions
// hold that somebody should look at.
//
// It promises that its numbers are of one reading, a few seconds old at most however often it is asked; that what
// cannot be known is absent and never guessed; and that a condition has one name and one threshold, whoever asks.
// It must not know how events are consumed, stored or shown.
package pipeline

import (
	"context"
	"encoding/base64"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"oriel/server/db"
	"oriel/server/fault"
	"oriel/server/telemetry"
)

const (
	fresh      = 5 * time.Second // for so long one reading serves all who ask
	patience   = 5 * time.Second // for a reading
	brokerWait = 2 * time.Second // for the broker's part of it
	rateOver   = time.Minute
	recentOver = 10 * time.Minute
	dayOver    = 24 * time.Hour

	// A partition commits a few times a second at most; a rate over a minute needs no more of them than this.
	lastCommits = 5000
)

// Partition is how far one partition of the topic is.
type Partition struct {
	Partition int32
	Next      int64  // the first offset that is not accounted for
	End       *int64 // the broker's next one; nil: it does not say
	State     string // running, gap, fatal or tripped
	Reason    string
	Updated   time.Time // since when it is so, as far as is known

	log [16]byte // the id of the topic that Next is an offset of
}

// Lag is how many records are not accounted for; nil: the broker does not say.
func (p Partition) Lag() *int64 {
	if p.End == nil {
		return nil
	}
	lag := max(*p.End-p.Next, 0)
	return &lag
}

// State is one reading.
type State struct {
	Topic, Consumer   string
	Partitions        []Partition
	Lag               *int64 // of all partitions; nil: not all are known
	StoredPerSecond   float64
	DeadLettersDay    int64
	DeadLettersRecent int64
	LastCommit        time.Time // zero before the first
	At                time.Time
}

// Config says what is watched.
type Config struct {
	Topic, Consumer string
	// Ends are who the topic is now and the next offsets of its partitions. Nil where this process has no way to
	// the broker.
	Ends func(ctx context.Context) (id [16]byte, ends map[int32]int64, err error)
	// Readiness is what this process knows of itself.
	Readiness func() telemetry.Readiness
}

// Monitor reads it. It is safe for concurrent use.
type Monitor struct {
	cfg     Config
	queries *db.Queries
	log     *slog.Logger

	mu    sync.Mutex // one reading at a time: who waits has its result
	state *State
	err   error
	tried time.Time            // when both are of
	since map[string]time.Time // since when a condition is known to hold
}

// New makes a monitor of one topic.
func New(pool *pgxpool.Pool, cfg Config, log *slog.Logger) *Monitor {
	return &Monitor{cfg: cfg, queries: db.New(pool), log: log, since: map[string]time.Time{}}
}

// State answers the last reading, and takes another where that is old.
func (m *Monitor) State(ctx context.Context) (*State, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.read(ctx)
}

// read answers the last reading while it is fresh, a failed one too. The caller holds m.mu.
func (m *Monitor) read(ctx context.Context) (*State, error) {
	if time.Since(m.tried) < fresh {
		return m.state, m.err
	}
	reading, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	state, err := m.readNow(reading)
	if err != nil && ctx.Err() != nil {
		return nil, err // who asked went away: that says nothing to others
	}
	m.state, m.err, m.tried = state, err, time.Now()
	return state, err
}

func (m *Monitor) readNow(ctx context.Context) (*State, error) {
	now := time.Now()
	s := &State{Topic: m.cfg.Topic, Consumer: m.cfg.Consumer, At: now}
	points, err := m.queries.PipelineCheckpoints(ctx, db.PipelineCheckpointsParams{Consumer: s.Consumer, Topic: s.Topic})
	if err != nil {
		return nil, unavailable(err, "read checkpoints")
	}
	var stored int64
	for _, c := range points {
		p := Partition{Partition: c.Partition, Next: c.NextOffset, State: c.State, Updated: c.UpdatedAt, log: c.TopicID}
		if c.StateReason != nil {
			p.Reason = *c.StateReason
		}
		s.Partitions = append(s.Partitions, p)
		if c.Commits > 0 && c.UpdatedAt.After(s.LastCommit) {
			s.LastCommit = c.UpdatedAt
		}
		if now.Sub(c.UpdatedAt) > rateOver {
			continue // it committed nothing since
		}
		n, err := m.queries.PipelineStored(ctx, db.PipelineStoredParams{
			Consumer: s.Consumer, Log: c.Log, Partition: c.Partition, After: c.Commits - lastCommits, Since: now.Add(-rateOver),
		})
		if err != nil {
			return nil, unavailable(err, "read the ledger")
		}
		stored += n
	}
	s.StoredPerSecond = float64(stored) / rateOver.Seconds()
	letters, err := m.queries.PipelineDeadLetters(ctx, db.PipelineDeadLettersParams{
		Consumer: s.Consumer, Since: now.Add(-dayOver), Recent: now.Add(-recentOver),
	})
	if err != nil {
		return nil, unavailable(err, "count dead letters")
	}
	s.DeadLettersDay, s.DeadLettersRecent = letters.Day, letters.Recent
	m.ends(ctx, s)
	return s, nil
}

// ends asks the broker how far the topic goes. A broker that does not answer is readiness's to report.
func (m *Monitor) ends(ctx context.Context, s *State) {
	if m.cfg.Ends == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, brokerWait)
	defer cancel()
	id, ends, err := m.cfg.Ends(ctx)
	if err != nil {
		m.log.Debug("the ends of the topic are not known", "topic", s.Topic, "error", err)
		return
	}
	if s.recreated(id) {
		return
	}
	known := map[int32]bool{}
	var all int64
	for i := range s.Partitions {
		p := &s.Partitions[i]
		end, ok := ends[p.Partition]
		if !ok {
			return // of a partition that the broker has not, nobody knows how far it is
		}
		p.End, known[p.Partition] = &end, true
		all += *p.Lag()
	}
	for partition, end := range ends {
		if end > 0 && !known[partition] {
			return // nothing of it is consumed yet, and where it begins was not asked
		}
	}
	s.Lag = &all
}

// recreated says that the checkpoints are of another topic than the broker has under this name. No partition goes
// on then, which no checkpoint says, and how far the old offsets are behind the new ones means nothing.
func (s *State) recreated(id [16]byte) bool {
	found := false
	for i := range s.Partitions {
		p := &s.Partitions[i]
		if p.log == id {
			continue
		}
		found = true
		p.Updated = time.Time{} // after its last commit, and nothing says when
		p.State, p.Reason = "fatal", fmt.Sprintf("The topic was recreated: its id is %s, and this offset is of %s.", topicID(id), topicID(p.log))
	}
	return found
}

// topicID is an id as Kafka's own tools print it.
func topicID(id [16]byte) string { return base64.RawURLEncoding.EncodeToString(id[:]) }

func unavailable(err error, what string) error {
	return fault.Wrap(fmt.Errorf("%s: %w", what, err), fault.Unavailable, fault.ReasonDatabaseUnavailable, "The database does not answer.")
}
