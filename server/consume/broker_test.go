package consume

import (
	"log/slog"
	"testing"

	"oriel/server/dbtest"
	"oriel/server/kafka"
)

func TestABrokerThatRestartsIsFollowedWhereItWasLeft(t *testing.T) {
	t.Parallel()
	dir, topic := t.TempDir(), "events.restarted"
	up := func() *kafka.Embedded {
		t.Helper()
		e, err := kafka.StartEmbedded(dir, 0, map[string]int{topic: 2}, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	broker := up()
	defer func() {
		if err := broker.Close(); err != nil {
			t.Error(err)
		}
	}()
	r := newRig(t, dbtest.Broker{Kind: "kfake", Brokers: broker.Brokers(), Topic: topic})
	m := r.start(nil)
	defer func() { r.halt(m) }()
	for round := range 3 {
		for p := range int32(2) {
			r.produce(series(p, round*20, 20)...)
		}
		r.settle()
		if round == 1 {
			r.halt(m) // the new member starts from the stored leader epoch
		}
		if err := broker.Close(); err != nil {
			t.Fatal(err)
		}
		broker = up()
		if round == 1 {
			m = r.start(nil)
		}
	}
	r.produce(series(0, 60, 5)...)
	r.settle()
	r.expect(tally{stored: 125})
	r.await("the consumer is ready", func() bool { return m.Status().Ready() })
}
