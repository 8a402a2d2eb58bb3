package consume

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"oriel/server/cloudevents"
	"oriel/server/facets"
	"oriel/server/lexicon"
)

func TestSeverityComesFromTheFirstPlaceThatNamesARank(t *testing.T) {
	t.Parallel()
	plan := planFacets(facets.Default())
	ext := func(pairs ...string) []cloudevents.Extension {
		var out []cloudevents.Extension
		for i := 0; i < len(pairs); i += 2 {
			out = append(out, cloudevents.Extension{Name: pairs[i], Value: pairs[i+1]})
		}
		return out
	}
	for name, c := range map[string]struct {
		ext  []cloudevents.Extension
		data string
		want int16
	}{
		"nothing is nothing":                        {nil, "", 0},
		"an unknown word is nothing":                {ext("severity", "loud"), "", 0},
		"the number is asked first":                 {ext("severity", "info", "severitynumber", "17", "severitytext", "debug"), "trace", rankError},
		"then the text":                             {ext("severity", "info", "severitytext", "Debug"), "trace", rankDebug},
		"then the extension severity":               {ext("severity", "CRITICAL"), "trace", rankCritical},
		"then the data":                             {nil, "warn", rankWarning},
		"a number that is none leaves it to others": {ext("severitynumber", "0", "severitytext", "warn"), "", rankWarning},
		"a number beyond 24 is none":                {ext("severitynumber", "25"), "", 0},
		"a word of OpenTelemetry":                   {ext("severitytext", "INFO2"), "", rankNotice},
	} {
		out := &lexicon.Output{Picked: []string{c.data}}
		if got := plan.severityOf(&cloudevents.Event{Extensions: c.ext}, out); got != c.want {
			t.Errorf("%s: rank %d, want %d", name, got, c.want)
		}
	}
	want := map[int]int16{
		1: rankTrace, 4: rankTrace, 5: rankDebug, 8: rankDebug, 9: rankInfo, 10: rankNotice, 12: rankNotice,
		13: rankWarning, 16: rankWarning, 17: rankError, 18: rankCritical, 20: rankCritical, 21: rankEmergency, 24: rankEmergency,
	}
	for n, rank := range want {
		if got := severityOfNumber(fmt.Sprint(n)); got != rank {
			t.Errorf("number %d: rank %d, want %d", n, got, rank)
		}
	}
	for rank, word := range []string{"trace", "debug", "info", "notice", "warning", "error", "critical", "emergency"} {
		if got := severityOfText(word); int(got) != rank+1 {
			t.Errorf("%s: rank %d", word, got)
		}
	}
}

func TestTheTraceIsThatOfAValidTraceparent(t *testing.T) {
	t.Parallel()
	const id = "0af7651916cd43dd8448eb211c80319c"
	for name, c := range map[string]struct{ value, want string }{
		"a valid one":                       {"00-" + id + "-b7ad6b7169203331-01", id},
		"a later version with more":         {"01-" + id + "-b7ad6b7169203331-01-x", id},
		"version 0 has no more":             {"00-" + id + "-b7ad6b7169203331-01-x", ""},
		"version ff is invalid":             {"ff-" + id + "-b7ad6b7169203331-01", ""},
		"a trace of zeros is none":          {"00-00000000000000000000000000000000-b7ad6b7169203331-01", ""},
		"upper case is invalid":             {"00-" + strings.ToUpper(id) + "-b7ad6b7169203331-01", ""},
		"hex digits alone":                  {"00-" + id[:30] + "zz-b7ad6b7169203331-01", ""},
		"the parent has hex digits as well": {"00-" + id + "-b7ad6b716920333x-01", ""},
		"cut off":                           {"00-" + id, ""},
		"nothing":                           {"", ""},
	} {
		if got := hex.EncodeToString(parseTraceparent(c.value)); got != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
	header := []cloudevents.Header{{Key: "Traceparent", Value: []byte("00-" + id + "-b7ad6b7169203331-01")}}
	if got := hex.EncodeToString(traceID(&cloudevents.Event{}, header)); got != id {
		t.Errorf("from the header: %q", got)
	}
	own := &cloudevents.Event{Extensions: []cloudevents.Extension{{Name: "traceparent", Value: "00-" + strings.Repeat("a", 32) + "-b7ad6b7169203331-01"}}}
	if got := hex.EncodeToString(traceID(own, header)); got != strings.Repeat("a", 32) {
		t.Errorf("the extension comes first: %q", got)
	}
}

func TestConfiguredFacetsAreReadFromDataOrExtensions(t *testing.T) {
	t.Parallel()
	plan := planFacets(fieldsOf(t, "area=region,room=data.place.room,tag=data.labels,device=,person="))
	a := lexicon.New(lexicon.Key{}, plan.picks)
	r := &row{event: &cloudevents.Event{
		Subject: "s", Extensions: []cloudevents.Extension{{Name: "region", Value: "north"}},
		Data: []byte(`{"place":{"room":["attic","","attic","cellar"]},"labels":"one","long":"` + strings.Repeat("x", 300) + `"}`),
	}}
	plan.derive(r, a.Analyze(&lexicon.Input{JSON: true, Data: r.event.Data}, nil))
	if fmt.Sprint(r.tags, r.facets) != "[one] [area=north room=attic room=cellar]" {
		t.Errorf("tags %v, facets %v", r.tags, r.facets)
	}
}

func TestTheCacheForgetsAndNeverInvents(t *testing.T) {
	t.Parallel()
	s := newSeen()
	if s.term(0) || s.term(1) {
		t.Error("an empty cache knows a word")
	}
	s.addTerm(0) // a hash of 0 is never remembered: it is named again each time
	if s.term(0) {
		t.Error("hash 0")
	}
	var writers sync.WaitGroup
	for w := range 4 {
		writers.Go(func() {
			for i := range 1 << 19 {
				h := int64(w)<<60 | int64(i)*0x9E3779B97F4A7
				s.addTerm(h)
			}
		})
	}
	writers.Wait()
	known := 0
	for i := range 1 << 19 {
		if s.term(int64(i) * 0x9E3779B97F4A7) {
			known++
		}
		if s.term(int64(7)<<60 | int64(i)) {
			t.Fatal("a word was invented")
		}
	}
	if known == 0 {
		t.Error("nothing was remembered")
	}
	th := typeHash("t")
	s.addPath("t", "a.b", lexicon.KindString)
	if !s.path(th, "a.b", lexicon.KindString) || s.path(th, "a.b", lexicon.KindNumber) || s.path(typeHash("u"), "a.b", lexicon.KindString) {
		t.Error("a path is known by type and kinds")
	}
	s.addPath("t", "a.b", lexicon.KindNumber)
	if !s.path(th, "a.b", lexicon.KindString|lexicon.KindNumber) {
		t.Error("kinds add up")
	}
}

func TestABatchIsCutByCountBytesAndAge(t *testing.T) {
	t.Parallel()
	paused := 0
	q := newQueue(10, 10, 5000, func() { paused++ }, func() { paused-- })
	rec := func(offset int64, size int) *kgo.Record {
		return &kgo.Record{Offset: offset, Value: make([]byte, size)}
	}
	ctx := t.Context()
	for i := range int64(25) {
		q.put([]*kgo.Record{rec(i, 1)})
	}
	if paused != 1 {
		t.Errorf("above the high mark fetching is not paused: %d", paused)
	}
	if b := q.take(ctx, time.Hour); len(b) != 10 || b[0].Offset != 0 {
		t.Errorf("by count: %d records", len(b))
	}
	if b := q.take(ctx, time.Hour); len(b) != 10 || b[0].Offset != 10 {
		t.Errorf("by count: %d records", len(b))
	}
	if paused != 0 {
		t.Error("below the low mark fetching is not resumed")
	}
	q.put([]*kgo.Record{rec(25, 3000), rec(26, 3000), rec(27, 9000)})
	if b := q.take(ctx, time.Hour); len(b) != 6 {
		t.Errorf("by bytes: %d records", len(b))
	}
	if b := q.take(ctx, time.Hour); len(b) != 1 || b[0].Offset != 26 {
		t.Errorf("by bytes: %d records", len(b))
	}
	if b := q.take(ctx, time.Millisecond); len(b) != 1 || b[0].Offset != 27 {
		t.Errorf("a record larger than a batch: %d records", len(b))
	}
	q.put([]*kgo.Record{rec(28, 1)})
	if b := q.take(ctx, 10*time.Millisecond); len(b) != 1 {
		t.Errorf("by age: %d records", len(b))
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if b := q.take(ended, time.Hour); b != nil {
		t.Error("a batch after the end")
	}
	for i := range int64(25) {
		q.put([]*kgo.Record{rec(i, 1)})
	}
	q.close()
	q.put([]*kgo.Record{rec(99, 1)})
	if paused != 0 || !q.empty() {
		t.Errorf("a closed queue holds on: paused %d", paused)
	}
}

func TestABacklogMakesLargerBatchesAndNobodyWaitsForOne(t *testing.T) {
	t.Parallel()
	q := newQueue(10, 40, 1<<20, func() {}, func() {})
	put := func(n int) {
		for range n {
			q.put([]*kgo.Record{{Value: []byte("x")}})
		}
	}
	for _, c := range []struct{ put, want int }{{10, 10}, {100, 40}, {0, 40}, {0, 20}, {39, 39}} {
		put(c.put)
		if b := q.take(t.Context(), time.Hour); len(b) != c.want {
			t.Errorf("%d records after another %d, want %d", len(b), c.put, c.want)
		}
	}
	for given, want := range map[[2]int][2]int{{0, 0}: {500, 1000}, {20, 0}: {20, 20}, {20, 50}: {20, 50}, {0, 700}: {500, 700}, {20, 5}: {20, 20}} {
		c := Config{BatchRecords: given[0], BacklogBatch: given[1]}.withDefaults()
		if got := [2]int{c.BatchRecords, c.BacklogBatch}; got != want {
			t.Errorf("%v becomes %v, want %v", given, got, want)
		}
	}
}

func TestAnyTextAndTimeFitTheirColumns(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"a\x00b": "a\uFFFDb", "a\xffb": "a\uFFFDb", "äöü": "äö"} {
		if got := fit(in, 5); got != want {
			t.Errorf("%q became %q", in, got)
		}
	}
	for _, ms := range []int64{math.MinInt64, -1, 0, math.MaxInt64} {
		at := kafkaTime(&kgo.Record{Timestamp: time.UnixMilli(ms)})
		if y := at.Year(); y < 1 || y > 9999 {
			t.Errorf("%d ms became %v", ms, at)
		}
	}
}

func TestAPartitionThatWasGivenUpIsNotSaidToWait(t *testing.T) {
	t.Parallel()
	ours, before := &ownership{}, &ownership{}
	s := &session{c: &Consumer{status: statusBoard{state: StateRunning}}, owned: map[int32]*ownership{3: ours}}
	cause := errors.New("conn closed")
	s.retrying(3, before, cause) // a takeover that an older assignment began
	s.retrying(4, before, cause)
	if got := s.c.Status(); !got.Ready() {
		t.Errorf("%+v, though nothing of ours waits", got)
	}
	s.retrying(3, ours, cause)
	if got := s.c.Status(); got.Ready() || !strings.Contains(got.Detail, "partition 3 retries: conn closed") {
		t.Errorf("%+v, though a partition of ours waits", got)
	}
	s.c.status.forget(3)
	ours.gone = true
	s.retrying(3, ours, cause)
	if got := s.c.Status(); !got.Ready() {
		t.Errorf("%+v, though the partition is being given up", got)
	}
}

func TestTheWorstPartitionIsShown(t *testing.T) {
	t.Parallel()
	b := statusBoard{state: StateStarting}
	if b.read().Ready() {
		t.Error("ready before it joined")
	}
	b.joined(3)
	if !b.read().Ready() {
		t.Error("not ready after it joined")
	}
	b.retry(2, "slow")
	if s := b.read(); s.Ready() || !s.Degraded || s.State != StateRunning {
		t.Errorf("retrying: %+v", s)
	}
	b.stick(1, StateGap, "a gap")
	b.stick(4, StateFatal, "an end")
	if s := b.read(); s.State != StateFatal || s.Detail != "partition 4: an end (and 1 more)" {
		t.Errorf("worst: %+v", s)
	}
	b.forget(4)
	if s := b.read(); s.State != StateGap {
		t.Errorf("next worst: %+v", s)
	}
	b.forget(1)
	b.recovered(2)
	b.trouble("topic", "no broker")
	if s := b.read(); s.Ready() || s.Detail != "no broker" {
		t.Errorf("trouble: %+v", s)
	}
	b.trouble("topic", "")
	if !b.read().Ready() {
		t.Error("not ready after all was well")
	}
}
