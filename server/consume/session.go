package consume

import (
	"context"
	"fmt"
	"sync"
	"time"

	"oriel/server/failpoint"
	"oriel/server/lexicon"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// How long the steps around a batch may take. A revoke waits for the transaction in hand, so the
// group must be patient for longer than the server lets a transaction run.
const (
	drainIn          = 25 * time.Second
	rebalanceTimeout = 60 * time.Second
	fetchWait        = 100 * time.Millisecond // bounds how late a resumed partition is fetched again
	offsetCommitIn   = 5 * time.Second
	closeIn          = 10 * time.Second
)

// How much the client fetches at once, and how many batches a poll hands over.
const (
	fetchBytes          = 8 << 20
	fetchPartitionBytes = 1 << 20
	maxFetches          = 2
	pollBatches         = 4
)

// session is the life of one Kafka client. A topic that was recreated, or a client that makes no
// progress without an error, ends it: nothing of a client's state outlives it.
type session struct {
	c    *Consumer
	cl   *kgo.Client
	adm  *kadm.Client
	key  lexicon.Key
	work context.Context // of workers: outlives fetching, ends when work in hand must be given up

	tasks    context.Context // of takeovers in the background
	endTasks context.CancelFunc
	running  sync.WaitGroup

	built   chan struct{} // closed once cl is set: the group may call back before NewClient has returned
	rebuild chan string   // why the session must end, at most one

	mu       sync.Mutex
	owned    map[int32]*ownership
	closing  bool
	topicID  topicID // as this client consumes it; zero until known
	wakePoll context.CancelFunc
	seeks    map[int32]seek

	refused   string // why the broker refused the last fetch, until records come again
	refusedAt time.Time

	commitMu sync.Mutex // no offset of a partition is committed once its revoke has returned
}

// ownership is one assignment of a partition to this member. A new assignment is a new ownership, so
// whatever was begun under an older one is seen to be stale.
type ownership struct {
	gone   bool    // it ended, or is about to: nothing may begin under it
	worker *worker // nil while the partition is stuck or being taken over again
	stuck  string  // gap, fatal or tripped
	hint   int64   // Kafka's offset of the group: as it was when we took over, then as we told it
}

// seek is a partition taken over again, to be continued elsewhere.
type seek struct {
	owner *ownership
	pos   position
	epoch int32
}

func newSession(c *Consumer, key lexicon.Key, work context.Context) (*session, error) {
	s := &session{
		c: c, key: key, work: work, built: make(chan struct{}), rebuild: make(chan string, 1),
		owned: map[int32]*ownership{}, seeks: map[int32]seek{},
	}
	s.tasks, s.endTasks = context.WithCancel(work)
	opts := []kgo.Opt{
		kgo.ConsumerGroup(c.cfg.Group),
		kgo.ConsumeTopics(c.cfg.Topic),
		kgo.DisableAutoCommit(),
		kgo.BlockRebalanceOnPoll(),
		kgo.Balancers(kgo.CooperativeStickyBalancer()),
		kgo.RebalanceTimeout(rebalanceTimeout),
		// Where a partition starts is the checkpoint's to say; an offset out of range is an operator's
		// decision, never a silent jump.
		kgo.ConsumeStartOffset(kgo.NewOffset().AtStart()),
		kgo.ConsumeResetOffset(kgo.NoResetOffset()),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.KeepControlRecords(), // they move the checkpoint over the end of a transaction
		kgo.FetchMaxWait(fetchWait),
		kgo.FetchMaxBytes(fetchBytes),
		kgo.FetchMaxPartitionBytes(fetchPartitionBytes),
		kgo.MaxConcurrentFetches(maxFetches),
		kgo.AdjustFetchOffsetsFn(s.takeOver),
		kgo.OnPartitionsAssigned(s.assigned),
		kgo.OnPartitionsRevoked(s.revoked),
		kgo.OnPartitionsLost(s.lost),
	}
	cl, err := kgo.NewClient(append(opts, c.opts...)...)
	if err != nil {
		s.endTasks()
		return nil, fmt.Errorf("make the Kafka client: %w", err)
	}
	s.cl, s.adm = cl, kadm.NewClient(cl)
	close(s.built)
	return s, nil
}

// run polls until fetch ends or the session must be rebuilt, and says why.
func (s *session) run(fetch context.Context) string {
	ctx, cancel := context.WithCancel(fetch)
	var jobs sync.WaitGroup
	for _, job := range []func(context.Context){s.pollAll, s.watchAll, s.commitAll} {
		jobs.Add(1)
		go func() { defer jobs.Done(); job(ctx) }()
	}
	var why string
	select {
	case why = <-s.rebuild:
	case <-fetch.Done():
		why = "stopped"
	}
	cancel()
	jobs.Wait()
	return why
}

// end asks for a new session; only the first reason counts.
func (s *session) end(why string) {
	select {
	case s.rebuild <- why:
	default:
	}
}

// close finishes the batches in hand, tells Kafka how far they came, and leaves the group.
func (s *session) close(work context.Context) {
	s.mu.Lock()
	s.closing = true
	s.mu.Unlock()
	bounded, cancel := context.WithTimeout(work, drainIn)
	s.drop(bounded, s.partitions(), true)
	cancel()
	s.endTasks()
	s.running.Wait()
	s.readable(0) // whether the next client may read it says itself
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.cl.CloseAllowingRebalance()
	}()
	select {
	case <-done:
	case <-time.After(closeIn):
		s.c.log.Error("the Kafka client did not close in time and is left behind")
	}
}

// pollAll hands records to the workers. It never waits for one of them.
func (s *session) pollAll(ctx context.Context) {
	for ctx.Err() == nil {
		poll, cancel := context.WithCancel(ctx)
		s.mu.Lock()
		s.wakePoll = cancel
		s.mu.Unlock()
		s.applySeeks()
		fetches := s.cl.PollRecords(poll, pollBatches*s.c.cfg.BacklogBatch)
		if fetches.IsClientClosed() {
			cancel()
			return
		}
		if !fetches.Empty() {
			failpoint.Hit("con.after_poll")
		}
		s.dispatch(fetches)
		s.cl.AllowRebalance()
		cancel()
	}
}

func (s *session) dispatch(fetches kgo.Fetches) {
	fetches.EachPartition(func(p kgo.FetchTopicPartition) {
		if p.Err != nil {
			s.fetchFailed(p.Topic, p.Partition, p.Err)
		}
		if len(p.Records) == 0 || p.Topic != s.c.cfg.Topic {
			return
		}
		s.readable(0)
		s.mu.Lock()
		var w *worker
		if o := s.owned[p.Partition]; o != nil {
			w = o.worker
		}
		s.mu.Unlock()
		if w != nil {
			w.q.put(p.Records)
		}
	})
}

// fetchFailed acts on an error of a fetch, by the table of kafkaerrors.go.
func (s *session) fetchFailed(topic string, partition int32, err error) {
	r := diagnoseFetch(err)
	log := s.c.log.With("topic", topic, "partition", partition, "why", r.why, "error", err)
	switch r.action {
	case fetchEnds:
	case fetchAgain:
		log.Warn("fetching failed")
	case fetchJoins:
		log.Info("the client joins the group again")
		s.c.status.waiting(fit(err.Error(), 300))
	case fetchRetakes:
		log.Error("a partition cannot be read from its checkpoint")
		s.retake(partition, r.why)
	case fetchSticks:
		log.Error("a partition cannot be read on")
		s.stick(partition, StateFatal, r.why+": "+fit(err.Error(), 300))
	case fetchRebuilds:
		log.Warn("the topic's identity changed")
		s.end(r.why)
	case fetchRefused:
		if s.refuse(err) {
			log.Error("fetching is refused")
		}
		s.c.status.trouble("fetch", fit(r.why+": "+err.Error(), 300))
	}
}

// refusalLasts is for how long after the last refused fetch fetching is taken to be refused: they come
// every few seconds.
const refusalLasts = 30 * time.Second

// refuse notes a refused fetch and says whether it is news.
func (s *session) refuse(err error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	news := s.refused != err.Error()
	s.refused, s.refusedAt = err.Error(), time.Now()
	return news
}

// readable ends the trouble of refused fetches, where the last one is so long ago.
func (s *session) readable(after time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refused != "" && time.Since(s.refusedAt) >= after {
		s.refused = ""
		s.c.status.trouble("fetch", "")
	}
}

// partitions are those owned now.
func (s *session) partitions() []int32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	ps := make([]int32, 0, len(s.owned))
	for p := range s.owned {
		ps = append(ps, p)
	}
	return ps
}

// workers are those that run now.
func (s *session) workers() []*worker {
	s.mu.Lock()
	defer s.mu.Unlock()
	ws := make([]*worker, 0, len(s.owned))
	for _, o := range s.owned {
		if o.worker != nil {
			ws = append(ws, o.worker)
		}
	}
	return ws
}
