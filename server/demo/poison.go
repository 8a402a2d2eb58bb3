package demo

import (
	"math/rand/v2"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// poisons are records that no consumer can take, as a program that bypasses the API may write them.
func poisons(at time.Time, rng *rand.Rand) []*kgo.Record {
	header := func(kv ...string) []kgo.RecordHeader {
		var h []kgo.RecordHeader
		for i := 0; i+1 < len(kv); i += 2 {
			h = append(h, kgo.RecordHeader{Key: kv[i], Value: []byte(kv[i+1])})
		}
		return h
	}
	now := at.UTC().Format(time.RFC3339)
	garbage := make([]byte, 48)
	for i := range garbage {
		garbage[i] = byte(rng.Uint32())
	}
	garbage[0] = 0xff
	const source, kind = "/legacy/importer", "legacy.row.imported"
	return []*kgo.Record{
		{
			Key: []byte(source), Value: []byte(`{"row":41,"problem":"no id"}`),
			Headers: header("ce_specversion", "1.0", "ce_source", source, "ce_type", kind, "ce_time", now,
				"content-type", "application/json"),
		},
		{Key: garbage[:8], Value: garbage},
		{
			Key: []byte(source), Value: []byte(`{"row":42,"problem":"a clock that was never set"}`),
			Headers: header("ce_specversion", "1.0", "ce_id", identity(rng), "ce_source", source, "ce_type", kind,
				"ce_time", "1970-01-01T00:00:00Z", "content-type", "application/json"),
		},
		{
			Key: []byte(source), Value: []byte(`{"row":43,"problem":"a time that is none"}`),
			Headers: header("ce_specversion", "1.0", "ce_id", identity(rng), "ce_source", source, "ce_type", kind,
				"ce_time", "yesterday", "content-type", "application/json"),
		},
		{
			Key: []byte(source), Value: []byte(`{"specversion":"1.0","id":"` + identity(rng) + `","source":"` + source + `","type":`),
			Headers: header("content-type", "application/cloudevents+json"),
		},
	}
}
