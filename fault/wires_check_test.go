package fault

import (
	"io"
	"net"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestTheWiresLoseTheAnswersThatTheyAreToldTo(t *testing.T) {
	t.Parallel()
	w := newWires()
	b, _ := newCluster(t, 1, kfake.ListenFn(w.listen))
	client, err := kgo.NewClient(kgo.SeedBrokers(b.Brokers...), kgo.DefaultProduceTopic(b.Topic), kgo.MetadataMinAge(20*time.Millisecond),
		kgo.ProduceRequestTimeout(time.Second), kgo.RequestTimeoutOverhead(time.Second))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for _, how := range []lostAs{cutOff, silent} {
		w.lose(int16(kmsg.Produce), how)
		if err := client.ProduceSync(t.Context(), kgo.StringRecord("again")).FirstErr(); err != nil {
			t.Error(err) // the client asks again, and the broker knows the record
		}
	}
	if lost := w.heal(); lost != 2 {
		t.Errorf("%d answers were lost, want 2", lost)
	}
	if end := logEnds(t, b, b.Topic)[0]; end != 2 {
		t.Errorf("the log has %d records, want 2", end)
	}
}

func TestAMemberThatEndsInTheMiddleOfAJoinIsSeenUnlessItComesBack(t *testing.T) {
	t.Parallel()
	w := newWires()
	join := kmsg.NewPtrJoinGroupRequest()
	join.Version, join.Group, join.MemberID = 9, "g", "one"
	sent := kmsg.NewRequestFormatter(kmsg.FormatterClientID("test")).AppendRequest(nil, join, 7)
	connect := func() *wire {
		near, far := net.Pipe()
		t.Cleanup(func() { near.Close() })
		go func() { _, _ = io.Copy(io.Discard, near) }()
		c := &wire{Conn: far, wires: w, keys: map[int32]int16{}}
		for _, b := range sent { // however it is cut up
			c.follow([]byte{b})
		}
		return c
	}
	connect().Close()
	for range 2 { // until it is forgotten
		if ids := w.timedOut(0); len(ids) != 1 || ids[0] != "one" || !w.waiting() {
			t.Errorf("gone are %q", ids)
		}
	}
	if w.forget([]string{"one"}); w.waiting() {
		t.Error("who is forgotten is waited for")
	}
	answered := connect()
	if _, err := answered.Write([]byte{0, 0, 0, 4, 0, 0, 0, 7}); err != nil {
		t.Fatal(err)
	}
	answered.Close()
	connect().Close()
	back := connect()
	if ids := w.timedOut(0); len(ids) != 0 {
		t.Errorf("%q came back and are taken for gone", ids)
	}
	back.Close()
}

func TestAFrontHoldsEverythingAndLetsGo(t *testing.T) {
	t.Parallel()
	server, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	go func() { // an echo
		for {
			c, err := server.Accept()
			if err != nil {
				return
			}
			go func() { defer c.Close(); _, _ = io.Copy(c, c) }()
		}
	}()
	f := newFront(t, func() (string, string) { return "tcp", server.Addr().String() })
	conn, err := net.Dial("tcp", f.addr())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	say := func(within time.Duration) error {
		if _, err := conn.Write([]byte{1}); err != nil {
			return err
		}
		_ = conn.SetReadDeadline(time.Now().Add(within))
		_, err := io.ReadFull(conn, make([]byte, 1))
		return err
	}
	if err := say(time.Minute); err != nil {
		t.Fatal(err)
	}
	f.hold()
	if err := say(100 * time.Millisecond); err == nil {
		t.Error("something passed")
	}
	f.letGo()
	_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
	if _, err := io.ReadFull(conn, make([]byte, 1)); err != nil {
		t.Errorf("what was held did not arrive: %v", err)
	}
	f.cut()
	if err := say(time.Minute); err == nil {
		t.Error("the connection was not cut")
	}
}
