package consume

import (
	"context"
	"errors"
	"time"

	"oriel/server/db"
)

// watchAll looks, at every tick, at what no fetch would tell: whether the topic is still the one that
// we consume (a client of a recreated topic gets no records and no errors), whether an operator moved
// a checkpoint or adopted a topic, and whether a partition with records makes progress.
func (s *session) watchAll(ctx context.Context) {
	var database, broker, configuration trouble
	for wait(ctx, s.c.cfg.WatchEvery) {
		limit := min(lookIn, s.c.cfg.AttemptIn)
		if err := s.c.inTime(ctx, limit, s.watchCheckpoints); ctx.Err() == nil {
			if database.note(err) {
				s.c.log.Warn("cannot read the checkpoints", "error", err)
			}
			s.c.status.trouble("database", database.lasting())
		}
		if err := s.c.inTime(ctx, limit, s.c.watchFacets); ctx.Err() == nil && configuration.note(err) {
			s.c.log.Warn("cannot compare the configuration of facets", "error", err)
		}
		if err := s.watchTopic(ctx); ctx.Err() == nil {
			if broker.note(err) {
				s.c.log.Warn("cannot read the topic", "error", err)
			}
			s.c.status.trouble("topic", broker.lasting())
		}
		s.watchLag(ctx)
		s.readable(refusalLasts)
	}
}

// trouble is an error that repeats. One alone says little.
type trouble struct {
	times int
	last  string
}

// note remembers the newest result and says whether it is news.
func (t *trouble) note(err error) bool {
	if err == nil {
		t.times, t.last = 0, ""
		return false
	}
	t.times++
	news := t.last != err.Error()
	t.last = err.Error()
	return news
}

// lasting is the error once it has come three times in a row, else "".
func (t *trouble) lasting() string {
	if t.times < 3 {
		return ""
	}
	return fit(t.last, 300)
}

// watchTopic ends the session when the topic has another identity than the one it consumes.
func (s *session) watchTopic(ctx context.Context) error {
	id, partitions, err := describeTopic(ctx, s.cl, s.c.cfg.Topic)
	if err != nil {
		if errors.Is(err, errNoTopic) {
			// It may be created at any moment: the client alone would look again after minutes.
			s.cl.ForceMetadataRefresh()
		}
		return err
	}
	s.mu.Lock()
	known, owned := s.topicID, len(s.owned)
	s.mu.Unlock()
	switch {
	case known != id && known != topicID{}:
		s.end("the topic was recreated")
	case owned == 0 || partitions > s.highest():
		s.cl.ForceMetadataRefresh()
	}
	return nil
}

// highest is one more than the highest partition that is ours: a topic with more may have new ones.
func (s *session) highest() int {
	n := 0
	for _, p := range s.partitions() {
		n = max(n, int(p)+1)
	}
	return n
}

// watchCheckpoints compares what is stored with what the workers believe. A worker that is idle never
// meets the fence by itself.
func (s *session) watchCheckpoints(ctx context.Context) error {
	workers := s.workers()
	believed := make(map[int32]position, len(workers))
	byLog := map[int16][]int32{}
	for _, w := range workers {
		pos := w.at()
		believed[w.part] = pos
		byLog[pos.log] = append(byLog[pos.log], w.part)
	}
	for log, ps := range byLog {
		rows, err := s.c.queries.ReadCheckpoints(ctx, db.ReadCheckpointsParams{
			Consumer: s.c.cfg.Consumer, Log: log, Partitions: ps,
		})
		if err != nil {
			return err
		}
		for _, r := range rows {
			pos := believed[r.Partition]
			switch {
			case r.OwnerEpoch != pos.epoch:
				s.retake(r.Partition, "the checkpoint has another owner")
			case r.State != StateRunning:
				s.retake(r.Partition, "the partition was stopped")
			// Fewer commits were read before our last one, more are not known to the worker yet.
			case r.Commits == pos.commits && r.NextOffset != pos.next:
				s.retake(r.Partition, "the checkpoint was moved")
			}
		}
	}
	return s.watchStuck(ctx)
}

// watchStuck ends the session when an operator has decided about a stuck partition: a new session
// takes everything over from the start.
func (s *session) watchStuck(ctx context.Context) error {
	var stuck []int32
	s.mu.Lock()
	id := s.topicID
	for p, o := range s.owned {
		if o.stuck != "" {
			stuck = append(stuck, p)
		}
	}
	s.mu.Unlock()
	if len(stuck) == 0 {
		return nil
	}
	newest, err := s.c.queries.NewestLog(ctx, db.NewestLogParams{Topic: s.c.cfg.Topic, Consumer: s.c.cfg.Consumer})
	if err != nil {
		return err
	}
	if newest.TopicID != id {
		return nil // still not adopted
	}
	rows, err := s.c.queries.ReadCheckpoints(ctx, db.ReadCheckpointsParams{
		Consumer: s.c.cfg.Consumer, Log: newest.ID, Partitions: stuck,
	})
	if err != nil {
		return err
	}
	for _, r := range rows {
		if r.State == StateRunning {
			s.end("an operator decided about a partition that was stuck")
			break
		}
	}
	return nil
}

// stall is a partition that has records and does nothing, as seen at one offset.
type stall struct {
	offset  int64
	since   time.Time
	rebuilt bool
}

// watchLag measures how far each partition is behind, and rebuilds the client when one has records,
// nothing to do and no progress: once for an offset, as aborted transactions may look like that.
func (s *session) watchLag(ctx context.Context) {
	workers := s.workers()
	if len(workers) == 0 {
		return
	}
	ends, err := s.adm.ListEndOffsets(ctx, s.c.cfg.Topic)
	if err != nil {
		return // the broker is away: fetching says so
	}
	for _, w := range workers {
		end, ok := ends.Lookup(s.c.cfg.Topic, w.part)
		if !ok || end.Err != nil {
			continue
		}
		next := w.at().next
		lag := max(end.Offset-next, 0)
		s.c.metrics.setLag(w.part, lag)
		seen, known := s.c.stalls[w.part]
		switch {
		case lag == 0, !w.idle():
			if known && seen.offset != next {
				delete(s.c.stalls, w.part)
			}
		case !known || seen.offset != next:
			s.c.stalls[w.part] = stall{offset: next, since: time.Now()}
		case !seen.rebuilt && time.Since(seen.since) >= s.c.cfg.StallAfter:
			seen.rebuilt = true
			s.c.stalls[w.part] = seen
			s.c.log.Error("a partition has records and makes no progress",
				"partition", w.part, "lag", lag, "offset", next)
			s.end("a partition has records and makes no progress")
			return
		}
	}
}
