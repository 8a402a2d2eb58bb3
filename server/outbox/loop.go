package outbox

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// message is one row in hand.
type message struct {
	id       int64
	shard    int16
	token    int64 // of the lease under which it was read
	key      place
	topic    string
	before   *place // the one of its key that goes first
	attempts int32
	fails    int32 // of its lane, in a row
	size     int
	smaller  bool // there is a smaller value
	record   *kgo.Record
	state    state
	sent     time.Time
	alone    bool // nothing else of its topic was under way with it
}

// place is a message's place in its key.
type place struct {
	key string
	seq int64
}

// lane is the messages of one topic in one shard: what pauses together.
type lane struct {
	shard int16
	topic string
}

func (m *message) lane() lane { return lane{m.shard, m.topic} }

// state is how far a message in hand has come.
type state uint8

const (
	ready    state = iota // may go
	follows               // once the one before it in its key has been acknowledged
	flying                // has been sent
	finished              // is acknowledged, and not yet deleted
)

// doubt is a message that was refused, perhaps for another's sake.
type doubt struct {
	shard int16
	since time.Time
}

// result is what became of a message that was sent.
type result struct {
	m   *message
	err error
}

// loop is the goroutine that reads, sends and settles. It alone touches its fields.
type loop struct {
	*Relay
	client  *kgo.Client
	results chan result
	purging sync.WaitGroup

	held     map[int64]*message
	byPlace  map[place]*message
	followed map[place]*message // by the place before
	queue    []*message         // the ready ones
	bytes    int                // of what is held
	flights  int
	finished []int64 // to be deleted

	topics map[string]*traffic
	paused map[lane]time.Time // since when, as far as we know: to be resumed by an acknowledgement
	shy    map[int64]doubt    // ids that are to be sent alone

	nextRead, lastRead time.Time
	pause              time.Duration // to the next look, when there is nothing to do
	failures           int           // of the database, in a row
}

func newLoop(r *Relay, client *kgo.Client) *loop {
	return &loop{
		Relay: r, client: client, results: make(chan result, r.cfg.MaxHeld),
		held: map[int64]*message{}, byPlace: map[place]*message{}, followed: map[place]*message{},
		topics: map[string]*traffic{}, paused: map[lane]time.Time{}, shy: map[int64]doubt{},
		pause: r.cfg.PollMin,
	}
}

// wakeGap keeps a stream of commits from becoming a stream of looks at the table.
const wakeGap = 10 * time.Millisecond

func (l *loop) run(fetch, work context.Context) {
	for {
		if l.failures == 0 { // one that only ever fails stands still as well
			l.turned.Store(time.Now().UnixNano())
		}
		stopping := fetch.Err() != nil
		if stopping {
			l.dropUnsent()
		}
		l.clear(work)
		if !stopping && l.wantsMore() {
			l.look(work)
		}
		if !stopping {
			l.send(work)
		}
		l.leases.drain(func(shard int16) bool {
			for _, m := range l.held {
				if m.shard == shard {
					return true
				}
			}
			return false
		})
		if stopping && (len(l.held) == 0 || work.Err() != nil && l.flights == 0) {
			return
		}
		l.wait(fetch, work)
	}
}

// wait returns when there is something to do.
func (l *loop) wait(fetch, work context.Context) {
	until := min(l.pause, l.cfg.PollMax)
	if !l.nextRead.IsZero() {
		until = max(0, time.Until(l.nextRead))
	}
	if !l.hasRoom() {
		until = l.cfg.PollMax
	}
	if len(l.finished) > 0 {
		until = min(until, l.cfg.PollMin) // what could not be deleted
	}
	timer := time.NewTimer(until)
	defer timer.Stop()
	stop, wake := fetch.Done(), l.wake
	if fetch.Err() != nil {
		stop, wake = work.Done(), nil // nothing new is begun
		if work.Err() != nil {
			stop = nil // only results are left to wait for
		}
	}
	select {
	case res := <-l.results:
		l.settle(work, l.drain(res))
	case <-wake:
		l.pause = l.cfg.PollMin
		if soon := l.lastRead.Add(wakeGap); l.nextRead.IsZero() || soon.Before(l.nextRead) {
			l.nextRead = soon
		}
	case <-timer.C:
	case <-stop:
	}
}

// drain takes the results that are there.
func (l *loop) drain(first result) []result {
	all := []result{first}
	for {
		select {
		case res := <-l.results:
			all = append(all, res)
		default:
			return all
		}
	}
}

func (l *loop) hasRoom() bool {
	return len(l.held) <= l.cfg.MaxHeld/2 && l.bytes <= l.cfg.MaxHeldBytes/2
}

func (l *loop) wantsMore() bool {
	return l.hasRoom() && !time.Now().Before(l.nextRead)
}

// idle makes the next look later, and later still.
func (l *loop) idle() {
	l.nextRead = time.Now().Add(l.pause*3/4 + time.Duration(rand.Int64N(int64(l.pause)/2+1)))
	l.pause = min(2*l.pause, l.cfg.PollMax)
}

// trouble is a statement that failed.
func (l *loop) trouble(work context.Context, what string, err error) {
	if work.Err() != nil {
		return
	}
	if errors.Is(err, context.DeadlineExceeded) {
		l.pool.Reset() // where one line went dead so have its neighbours: the next statements begin on new ones
	}
	l.failures++
	l.metrics.databaseErrors.Inc()
	l.log.Warn("the database does not let the relay work; it tries again", "what", what, "error", err)
	l.pause = l.cfg.PollMax
	l.idle()
}

// statementIn bounds what is asked of the database at once, and the time of a lease does, after which the
// shards are another's anyway: a line that went dead never answers.
const statementIn = 15 * time.Second

func (c Config) statementIn() time.Duration { return min(statementIn, c.TTL) }

func (l *loop) statement(work context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(work, l.cfg.statementIn())
}

// drop lets go of a message, and of those of its key that came after it.
func (l *loop) drop(m *message) {
	for m != nil && l.held[m.id] == m {
		delete(l.held, m.id)
		delete(l.byPlace, m.key)
		l.bytes -= m.size
		if m.before != nil && l.followed[*m.before] == m {
			delete(l.followed, *m.before)
		}
		m = l.followed[m.key]
	}
}

// dropUnsent lets go of everything that is not under way.
func (l *loop) dropUnsent() {
	l.queue = nil
	for _, m := range l.held {
		if m.state == ready || m.state == follows {
			l.drop(m)
		}
	}
}
