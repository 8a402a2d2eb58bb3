package fault

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// deed is one thing that the nemesis does. who is a replica; key is a kind of request to the broker.
type deed struct {
	at, lasts time.Duration
	what      string
	who       int
	key       int16
}

// What the nemesis does, and how often of a hundred.
const (
	doKill     = "kill"     // kill -9
	doTerm     = "term"     // SIGTERM: a graceful stop
	doStop     = "stop"     // SIGSTOP, and SIGCONT after a time
	doPostgres = "postgres" // immediate stop of PostgreSQL, and a start after a time
	doReset    = "reset"    // every connection of a replica to PostgreSQL is cut
	doHold     = "hold"     // nothing passes between a replica and PostgreSQL for a time, and then it is cut
	doDelay    = "delay"    // the same, and then everything arrives
	doUnknown  = "unknown"  // the answer to a replica's next COMMIT is lost
	doUndone   = "undone"   // a replica's next COMMIT does not arrive
	doLeaders  = "leaders"  // partitions get other leaders
	doCoord    = "coord"    // groups and transactions get other coordinators
	doCut      = "cut"      // the connection is cut in place of the next answer to a kind of request
	doSilence  = "silence"  // the next answer to a kind of request never comes
	doForeign  = "foreign"  // somebody writes records that are no events
)

func weights() []struct {
	what string
	of   int
} {
	return []struct {
		what string
		of   int
	}{
		{doKill, 11},
		{doTerm, 6},
		{doStop, 9},
		{doPostgres, 3},
		{doReset, 9},
		{doHold, 6},
		{doDelay, 5},
		{doUnknown, 9},
		{doUndone, 5},
		{doLeaders, 7},
		{doCoord, 5},
		{doCut, 14},
		{doSilence, 5},
		{doForeign, 6},
	}
}

func requestKeys() []kmsg.Key {
	return []kmsg.Key{
		kmsg.Produce, kmsg.Fetch, kmsg.ListOffsets, kmsg.Metadata, kmsg.OffsetCommit, kmsg.OffsetFetch, kmsg.FindCoordinator,
		kmsg.JoinGroup, kmsg.Heartbeat, kmsg.LeaveGroup, kmsg.SyncGroup, kmsg.InitProducerID,
	}
}

// schedule is what the nemesis does in a time, which follows from the seed alone.
func schedule(seed uint64, length time.Duration, replicas int) []deed {
	rng := rand.New(rand.NewPCG(seed, seed))
	between := func(from, to time.Duration) time.Duration { return from + time.Duration(rng.Int64N(int64(to-from))) }
	var all []deed
	for at := between(0, time.Second); at < length; at += between(200*time.Millisecond, 1800*time.Millisecond) {
		d := deed{at: at, who: rng.IntN(replicas)}
		roll := rng.IntN(100)
		for _, w := range weights() {
			if roll -= w.of; roll < 0 {
				d.what = w.what
				break
			}
		}
		switch d.what {
		case doStop:
			d.lasts = between(time.Second, 8*time.Second)
		case doPostgres:
			d.lasts = between(0, 3*time.Second)
		case doHold, doDelay:
			d.lasts = between(500*time.Millisecond, 12*time.Second)
		case doCut, doSilence:
			keys := requestKeys()
			d.key = int16(keys[rng.IntN(len(keys))])
		}
		all = append(all, d)
	}
	return all
}

func (d deed) String() string {
	text := d.what
	switch d.what {
	case doKill, doTerm, doReset, doUnknown, doUndone:
		text += fmt.Sprintf(" of replica %d", d.who)
	case doStop, doHold, doDelay:
		text += fmt.Sprintf(" of replica %d for %s", d.who, d.lasts.Round(time.Millisecond))
	case doPostgres:
		text += fmt.Sprintf(" for %s", d.lasts.Round(time.Millisecond))
	case doCut, doSilence:
		text += " of " + kmsg.NameForKey(d.key)
	}
	return fmt.Sprintf("at %s: %s", d.at.Round(time.Millisecond), text)
}

func TestAScheduleFollowsFromItsSeed(t *testing.T) {
	t.Parallel()
	sum, total := map[string]int{}, 0
	for _, w := range weights() {
		total += w.of
	}
	if total != 100 {
		t.Errorf("the weights are %d of a hundred", total)
	}
	one, again := schedule(7, 10*time.Minute, 7), schedule(7, 10*time.Minute, 7)
	if fmt.Sprint(one) != fmt.Sprint(again) {
		t.Error("the same seed gives two schedules")
	}
	if fmt.Sprint(one) == fmt.Sprint(schedule(8, 10*time.Minute, 7)) {
		t.Error("two seeds give the same schedule")
	}
	for _, d := range one {
		sum[d.what]++
	}
	for _, w := range weights() {
		if sum[w.what] == 0 {
			t.Errorf("ten minutes without %s: %v", w.what, sum)
		}
	}
}
