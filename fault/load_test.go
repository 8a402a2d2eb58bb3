package fault

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"
	"time"
)

// outcome is what a producer knows of an event.
type outcome int

const (
	unknown outcome = iota // no answer, or one that says unknown
	acked                  // 200
	refused                // a definite refusal
)

// load is a set of producers that keep a journal. Each sends its own numbered events and repeats one
// with the same id until it has a definite answer, as the API asks of producers.
type load struct {
	name, url, token string
	mu               sync.Mutex
	journal          map[string]outcome
	attempts         int
	wait             sync.WaitGroup
	cancel           context.CancelFunc
}

// startLoad starts n producers whose sources carry the load's name; url may be unreachable at times.
func startLoad(t *testing.T, name, url, token string, n int) *load {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	l := &load{name: name, url: url, token: token, journal: map[string]outcome{}, cancel: cancel}
	client := &http.Client{Timeout: 15 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: n}}
	for i := range n {
		l.wait.Add(1)
		go func() {
			defer l.wait.Done()
			for k := 0; ctx.Err() == nil; k++ {
				id := fmt.Sprintf("%d-%d", i, k)
				at := time.Now().UTC().Format(time.RFC3339Nano)
				// The event that was begun is seen through to a definite answer, or the end.
				for l.send(context.WithoutCancel(ctx), client, i, id, at) == unknown {
					if ctx.Err() != nil {
						break
					}
					pause(ctx, 20*time.Millisecond)
				}
			}
		}()
	}
	t.Cleanup(func() { l.stop() })
	return l
}

// stop ends the producers after the event in hand.
func (l *load) stop() {
	l.cancel()
	l.wait.Wait()
}

func (l *load) send(ctx context.Context, client *http.Client, producer int, id, at string) outcome {
	body := fmt.Sprintf(`{"producer":%d,"id":%q,"big":9007199254740993}`, producer, id)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, l.url+"/v1/events", bytes.NewBufferString(body))
	if err != nil {
		return refused
	}
	for name, value := range map[string]string{
		"Authorization": "Bearer " + l.token, "Content-Type": "application/json", "ce-specversion": "1.0",
		"ce-id": id, "ce-source": l.source(producer), "ce-type": "load.v1", "ce-time": at,
	} {
		req.Header.Set(name, value)
	}
	got := unknown
	if resp, err := client.Do(req); err == nil {
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		switch {
		case resp.StatusCode == http.StatusOK:
			got = acked
		case resp.StatusCode < 500:
			got = refused
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.attempts++
	l.journal[l.source(producer)+"\x00"+id] = got
	return got
}

func (l *load) source(producer int) string { return fmt.Sprintf("/load/%s/%d", l.name, producer) }

// count tells how many events have an outcome.
func (l *load) count(o outcome) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, v := range l.journal {
		if v == o {
			n++
		}
	}
	return n
}

// pause waits unless ctx ends first.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
