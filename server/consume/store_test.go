package consume

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"oriel/server/cloudevents"
	"oriel/server/dbtest"
	"oriel/server/fault"

	"github.com/twmb/franz-go/pkg/kgo"
)

func TestEveryRecordHasExactlyOneOutcome(t *testing.T) {
	t.Parallel()
	dbtest.EachBroker(t, 1, func(t *testing.T, b dbtest.Broker) {
		r := newRig(t, b)
		now := time.Now()
		stored := event("stored")
		same := record(event("twice"), 0)
		twice := *same
		conflict := at(event("twice"), now.Add(-time.Minute))
		original := at(event("twice"), now.Add(-time.Minute))
		conflict.Data = []byte(`{"room":"other"}`)
		late := at(event("late"), now.Add(-89*24*time.Hour))
		old := at(event("old"), now.Add(-80*24*time.Hour))
		future := at(event("future"), now.Add(25*time.Hour))
		ancient := at(event("ancient"), now.Add(-91*24*time.Hour))
		noID := without(record(event("x"), 0), "ce_id")
		tooLong := event("y")
		tooLong.Subject = string(bytes.Repeat([]byte("s"), cloudevents.MaxAttribute+1))
		r.produce(
			record(stored, 0), same, &twice, record(original, 0), record(conflict, 0), record(late, 0), record(old, 0),
			record(future, 0), record(ancient, 0), noID, record(tooLong, 0),
			&kgo.Record{Value: []byte("no event at all"), Timestamp: now},
		)
		r.start(func(c *Config) { c.Retention = 85 * 24 * time.Hour })
		r.settle()
		// stored, twice once, original, old; the other twice; five dead and the conflict; late has expired.
		r.expect(tally{stored: 4, duplicate: 1, dead: 6, expired: 1})
		for offset, reason := range map[int]string{
			4: fault.ReasonConflictingDuplicate, 7: fault.ReasonTimeOutOfWindow, 8: fault.ReasonTimeOutOfWindow,
			9: fault.ReasonMissingAttribute, 10: fault.ReasonAttributeTooLong, 11: fault.ReasonUndecodable,
		} {
			var got string
			r.one(&got, `SELECT reason FROM dead_letter WHERE "offset" = $1`, offset)
			if got != reason {
				t.Errorf("offset %d: reason %s, want %s", offset, got, reason)
			}
		}
		if n := r.count(`SELECT count(*) FROM dead_letter WHERE record_value = $1`, conflict.Data); n != 1 {
			t.Error("the conflicting duplicate's bytes are not in its dead letter")
		}
	})
}

func TestOnePoisonRecordInFiveHundredBlocksNothing(t *testing.T) {
	t.Parallel()
	dbtest.EachBroker(t, 1, func(t *testing.T, b dbtest.Broker) {
		r := newRig(t, b)
		recs := make([]*kgo.Record, 500)
		for i := range recs {
			recs[i] = record(event(fmt.Sprintf("e-%03d", i)), 0)
		}
		without(recs[250], "ce_id")
		r.produce(recs...)
		r.start(func(c *Config) { c.BatchAge = time.Second })
		r.settle()
		r.expect(tally{stored: 499, dead: 1})
		if n := r.count("SELECT commits FROM checkpoint"); n != 1 {
			t.Errorf("the offset advanced %d times, want once", n)
		}
		if n := r.count(`SELECT "offset" FROM dead_letter`); n != 250 {
			t.Errorf("the dead letter is of offset %d", n)
		}
	})
}

func TestARowIsWhatWasSent(t *testing.T) {
	t.Parallel()
	r := newRig(t, dbtest.NewKfake(t, 1))
	e := event("id with spaces/ü")
	e.DataSchema = "https://example.com/s"
	e.Data = []byte(`{"b":1,"aa":2,"a":3,"b":4,"big":9007199254740993,"nul":"x\u0000y","deviceId":"dev-9","roomId":"attic",` +
		`"personId":"p1","tags":["hot","dry","hot",""],"severity":"Warn"}`)
	e.Extensions = []cloudevents.Extension{
		{Name: "answer", Type: cloudevents.Integer, Value: "42"},
		{Name: "sampled", Type: cloudevents.Boolean, Value: "true"},
		{Name: "traceparent", Value: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"},
	}
	e.Mode = cloudevents.Structured
	rec := record(e, 0)
	rec.Headers = append(rec.Headers, kgo.RecordHeader{Key: "x-none"}, kgo.RecordHeader{Key: "x-bytes", Value: []byte{0, 0xff}})
	absent, empty := event("absent"), event("empty")
	absent.Data, absent.DataContentType, absent.Subject = nil, "", ""
	empty.Data = []byte{}
	broken := event("broken")
	broken.Data = []byte(`{"a":"` + "\xff" + `"}`)
	r.produce(rec, record(absent, 0), record(empty, 0), record(broken, 0))
	r.start(nil)
	r.settle()

	var (
		data, trace []byte
		attributes  []string
		tags        []string
		facets      []string
		headers     [][]byte
		severity    int16
		flags       int16
		schema      string
	)
	err := r.pool.QueryRow(t.Context(), `SELECT data, trace_id, attributes, tags, facets, headers, severity, flags, dataschema
		FROM event WHERE id = $1 AND subject = 'sensor-7' AND datacontenttype = 'application/json' AND time_text = $2`, e.ID, e.TimeText).
		Scan(&data, &trace, &attributes, &tags, &facets, &headers, &severity, &flags, &schema)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(data, e.Data) {
		t.Errorf("data %s", data)
	}
	for what, pair := range map[string][2]any{
		"trace":      {fmt.Sprintf("%x", trace), "0af7651916cd43dd8448eb211c80319c"},
		"attributes": {fmt.Sprint(attributes), "[answer integer 42 sampled boolean true traceparent string " + e.Extensions[2].Value + "]"},
		"tags":       {fmt.Sprint(tags), "[hot dry]"},
		"facets":     {fmt.Sprint(facets), "[device=dev-9 person=p1 room=attic]"},
		"severity":   {severity, int16(rankWarning)},
		"mode":       {cloudevents.Flags(flags).Mode(), cloudevents.Structured},
		"schema":     {schema, e.DataSchema},
		"headers":    {fmt.Sprintf("%q", headers), fmt.Sprintf("%q", [][]byte{[]byte("x-none"), nil, []byte("x-bytes"), {0, 0xff}})},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: got %v, want %v", what, pair[0], pair[1])
		}
	}
	if headers[1] != nil {
		t.Error("a header without a value is not null")
	}
	for what, sql := range map[string]string{
		"absent data is null": `SELECT count(*) FROM event WHERE id = 'absent' AND data IS NULL AND datacontenttype IS NULL
			AND subject IS NULL AND flags & 4 = 4 AND facets IS NULL`,
		"empty data is empty":           `SELECT count(*) FROM event WHERE id = 'empty' AND length(data) = 0`,
		"broken data has its badge":     `SELECT count(*) FROM event WHERE id = 'broken' AND flags & 8 = 8 AND length(data) = 9`,
		"a subject stands for a device": `SELECT count(*) FROM event WHERE id = 'empty' AND facets = '{device=sensor-7}'`,
		"words are indexed":             `SELECT count(*) FROM event WHERE id = 'absent' AND cardinality(lexemes) > 3`,
		"words are known by name":       `SELECT (count(*) > 0)::int FROM term WHERE word = 'kitchen' OR word = 'attic'`,
		"paths are known by type":       `SELECT (count(*) = 1)::int FROM type_path WHERE type = 'com.example.reading.v1' AND path = 'roomId'`,
	} {
		if n := r.count(sql); n != 1 {
			t.Errorf("%s: %d", what, n)
		}
	}
}
