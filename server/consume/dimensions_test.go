package consume

import (
	"fmt"
	"testing"

	"oriel/server/cloudevents"
	"oriel/server/dbtest"

	"github.com/twmb/franz-go/pkg/kgo"
)

func TestValuesForCompletionAreKept(t *testing.T) {
	t.Parallel()
	r := newRig(t, dbtest.NewKfake(t, 2))
	var recs []*kgo.Record
	for i := range 40 {
		e := event(fmt.Sprintf("e-%d", i))
		e.Subject = fmt.Sprintf("sensor-%d", i%7)
		e.Extensions = []cloudevents.Extension{{Name: "region", Value: fmt.Sprintf("r-%d", i)}}
		e.Data = fmt.Appendf(nil, `{"roomId":"room-%d","tags":["a","b%d"],"personId":"x\u0000y"}`, i%3, i%2)
		recs = append(recs, record(e, int32(i%2)))
	}
	r.produce(recs...)
	r.start(nil)
	r.settle()
	for dimension, want := range map[string]string{
		"type": "com.example.reading.v1", "source": "/homes/1", "extension": "region", "room": "room-0,room-1,room-2", "tag": "a,b0,b1",
		"subject": "sensor-0,sensor-1,sensor-2,sensor-3,sensor-4,sensor-5,sensor-6",
		"device":  "sensor-0,sensor-1,sensor-2,sensor-3,sensor-4,sensor-5,sensor-6",
	} {
		var got string
		r.one(&got, "SELECT coalesce(string_agg(value, ',' ORDER BY value), '') FROM dimension_value WHERE dimension = $1", dimension)
		if got != want {
			t.Errorf("%s: %s, want %s", dimension, got, want)
		}
	}
}

func TestADimensionTakesNoMoreThanItsBound(t *testing.T) {
	t.Parallel()
	r := newRig(t, dbtest.NewKfake(t, 4))
	r.exec("INSERT INTO dimension_value SELECT 'subject', 's' || i FROM generate_series(1, $1::int) i", maxDimension-5)
	r.exec(`CREATE TABLE asked (n int); GRANT ALL ON asked TO PUBLIC;
		CREATE FUNCTION count_asked() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN INSERT INTO asked VALUES (1); RETURN NULL; END $f$;
		CREATE TRIGGER count_asked AFTER INSERT ON dimension_value FOR EACH STATEMENT EXECUTE FUNCTION count_asked()`)
	produce := func(from, to int) {
		var recs []*kgo.Record
		for i := from; i < to; i++ {
			e := event(fmt.Sprintf("e-%d", i))
			e.Subject = fmt.Sprintf("new-%d", i)
			recs = append(recs, record(e, int32(i%4)))
		}
		r.produce(recs...)
		r.settle()
	}
	m := r.start(func(c *Config) { c.BatchRecords = 10; c.Facets = fieldsOf(t, "room=data.room,device=,person=,tag=") })
	r.start(func(c *Config) { c.BatchRecords = 10; c.Facets = fieldsOf(t, "room=data.room,device=,person=,tag=") }) // two replicas
	produce(0, 200)
	if n := r.count("SELECT count(*) FROM dimension_value WHERE dimension = 'subject'"); n != maxDimension {
		t.Errorf("%d values, want %d", n, maxDimension)
	}
	asked := r.count("SELECT count(*) FROM asked")
	r.halt(m)
	produce(200, 400)
	if n := r.count("SELECT count(*) FROM asked") - asked; n > 4 { // each partition's worker once, before the first of them is told
		t.Errorf("the database was asked %d times about values of a dimension that is full", n)
	}
}
