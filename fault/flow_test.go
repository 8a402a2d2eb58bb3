package fault

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// The types of the events; the witness refuses the second.
const (
	goodType   = "load.v1"
	poisonType = "poison.v1"
)

// flow is a set of producers, each with a key of its own and a journal. Every event is sent until its answer
// is definite: an acknowledgement, or that it was not published, after which its id is never used again.
type flow struct {
	r      *rig
	urls   []string // tried one after another
	poison int      // one event in so many is refused by the witness; 0 is none
	client *http.Client
	tokens chan struct{} // one an event
	wait   sync.WaitGroup
	cancel context.CancelFunc

	mu                      sync.Mutex
	begun, settled          int
	acked, refused, unknown int
	last                    event // the latest that was acknowledged and that the witness stores
}

// event is one of a flow's, to send it once more.
type event struct {
	key string
	n   int
	at  string
}

// startFlow starts producers of n keys, which send as many events as allow says.
func (r *rig) startFlow(n, poison int, addrs ...string) *flow {
	ctx, cancel := context.WithCancel(r.t.Context())
	f := &flow{
		r: r, poison: poison, cancel: cancel, tokens: make(chan struct{}, 1<<20),
		client: &http.Client{Timeout: 15 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: n}},
	}
	for _, a := range addrs {
		f.urls = append(f.urls, "http://"+a+"/v1/events")
	}
	for i := range n {
		f.wait.Go(func() { f.produce(ctx, fmt.Sprintf("key%d", i), i) })
	}
	r.t.Cleanup(f.stop)
	return f
}

// allow lets the producers send n events more.
func (f *flow) allow(n int) {
	for range n {
		f.tokens <- struct{}{}
	}
	f.mu.Lock()
	f.begun += n
	f.mu.Unlock()
}

// done says that every event that was allowed has its definite answer.
func (f *flow) done() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.settled == f.begun
}

// waiting is how many events are allowed and have no answer yet.
func (f *flow) waiting() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.begun - f.settled
}

func (f *flow) String() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return fmt.Sprintf("%d of %d events have an answer: %d acknowledged, %d refused; %d answers unknown",
		f.settled, f.begun, f.acked, f.refused, f.unknown)
}

// stop ends the producers; what is in hand stays unknown.
func (f *flow) stop() {
	f.cancel()
	f.wait.Wait()
}

func (f *flow) produce(ctx context.Context, key string, i int) {
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-f.tokens:
		}
		at := time.Now().UTC()
		if n%5 == 3 {
			at = at.AddDate(0, 0, -n/5%30) // one after another, days that no process has met before
		}
		for try := 0; ; try++ {
			f.r.journal.write(note{noteAttempt, key, n})
			e := event{key, n, at.Format(time.RFC3339Nano)}
			answer := f.send(ctx, f.urls[(i+try)%len(f.urls)], e)
			f.r.journal.write(note{answer, key, n})
			f.note(answer, e)
			if answer != noteUnknown {
				break
			}
			pause(ctx, 20*time.Millisecond)
			if ctx.Err() != nil {
				return
			}
		}
	}
}

// again sends an event once more that was acknowledged, as a producer does that forgot the answer.
func (f *flow) again(ctx context.Context) {
	f.mu.Lock()
	e := f.last
	f.mu.Unlock()
	f.r.journal.write(note{noteAttempt, e.key, e.n})
	f.r.journal.write(note{f.send(ctx, f.urls[0], e), e.key, e.n})
}

func (f *flow) isPoison(n int) bool { return f.poison > 0 && n%f.poison == f.poison/2 }

func (f *flow) note(answer string, e event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch answer {
	case noteAck:
		if !f.isPoison(e.n) {
			f.last = e
		}
		f.acked++
		f.settled++
	case noteFail:
		f.refused++
		f.settled++
	default:
		f.unknown++
	}
}

// send is one attempt. A definite no is an answer that says so: a status of 4xx, or 503 without an unknown
// outcome.
func (f *flow) send(ctx context.Context, url string, e event) string {
	id := eventID(e.key, e.n)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewBufferString(fmt.Sprintf(`{"id":%q,"n":%d}`, id, e.n)))
	if err != nil {
		return noteUnknown
	}
	kind := goodType
	if f.isPoison(e.n) {
		kind = poisonType
	}
	for name, value := range map[string]string{
		"Authorization": "Bearer " + f.r.token, "Content-Type": "application/json", "ce-specversion": "1.0",
		"ce-id": id, "ce-source": "/load/" + e.key, "ce-subject": e.key, "ce-type": kind, "ce-time": e.at,
	} {
		req.Header.Set(name, value)
	}
	resp, err := f.client.Do(req)
	if err != nil {
		return noteUnknown
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return noteUnknown
	case resp.StatusCode == http.StatusOK:
		return noteAck
	case resp.StatusCode < 500, resp.StatusCode == http.StatusServiceUnavailable && !strings.Contains(string(body), `"outcome":"unknown"`):
		return noteFail
	}
	return noteUnknown
}

// writePast produces records that are no events, as a producer that does not know the API would. Only what
// the broker acknowledged is counted on.
func (r *rig) writePast(n int) {
	r.t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(r.broker.Brokers...), kgo.DefaultProduceTopic(r.broker.Topic), kgo.MetadataMinAge(100*time.Millisecond))
	if err != nil {
		r.t.Fatal(err)
	}
	records := make([]*kgo.Record, n)
	for i := range records {
		records[i] = &kgo.Record{Key: fmt.Appendf(nil, "key%d", i), Value: []byte("no event")}
	}
	r.writers.Go(func() {
		defer client.Close()
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		for _, res := range client.ProduceSync(ctx, records...) {
			if res.Err == nil {
				r.mu.Lock()
				r.foreign = append(r.foreign, place{res.Record.Partition, res.Record.Offset})
				r.mu.Unlock()
			}
		}
	})
}

// waitDone waits until every allowed event has its answer.
func (f *flow) waitDone(t *testing.T, within time.Duration) {
	t.Helper()
	deadline := time.Now().Add(within)
	for !f.done() {
		if time.Now().After(deadline) {
			t.Fatalf("after %s: %s", within, f)
		}
		pause(t.Context(), 10*time.Millisecond)
	}
}
