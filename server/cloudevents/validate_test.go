package cloudevents_test

import (
	"strings"
	"testing"
	"time"

	"oriel/server/cloudevents"
)

func TestAttributeLimitsNameThemselves(t *testing.T) {
	t.Parallel()
	long := func(n int) string { return strings.Repeat("x", n) }
	valid := func() *cloudevents.Event {
		return &cloudevents.Event{ID: "1", Source: "/s", Type: "t", TimeText: "2026-11-30T12:00:00Z", Time: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)}
	}
	// sized is an event all of whose attributes take n bytes.
	sized := func(n int) *cloudevents.Event {
		e := valid()
		n -= len("specversion1.0id1source/stypettime2026-11-30T12:00:00Z")
		for _, name := range []string{"a", "b", "c", "d"} {
			size := min(n, 4096+1)
			e.Extensions = append(e.Extensions, cloudevents.Extension{Name: name, Value: long(size - 1)})
			if n -= size; n == 0 {
				break
			}
		}
		return e
	}
	for sentence, c := range map[string]struct {
		event *cloudevents.Event
		set   func(e *cloudevents.Event)
		want  *refusal
		limit string
	}{
		"an id of 1,024 bytes":              {set: func(e *cloudevents.Event) { e.ID = long(1024) }},
		"an id of 1,025 bytes":              {set: func(e *cloudevents.Event) { e.ID = long(1025) }, want: &refusal{"ATTRIBUTE_TOO_LONG", "id", "1025 bytes", ""}, limit: "1024"},
		"a source and an id of 1,024 each":  {set: func(e *cloudevents.Event) { e.ID, e.Source = long(1024), long(1024) }},
		"a source of 1,025 bytes":           {set: func(e *cloudevents.Event) { e.Source = long(1025) }, want: &refusal{"ATTRIBUTE_TOO_LONG", "source", "1024", ""}, limit: "1024"},
		"a type of 1,025 bytes":             {set: func(e *cloudevents.Event) { e.Type = long(1025) }, want: &refusal{"ATTRIBUTE_TOO_LONG", "type", "1024", ""}, limit: "1024"},
		"a subject of 513 two-byte letters": {set: func(e *cloudevents.Event) { e.Subject = strings.Repeat("é", 513) }, want: &refusal{"ATTRIBUTE_TOO_LONG", "subject", "1026 bytes", ""}, limit: "1024"},
		"a subject of 512 two-byte letters": {set: func(e *cloudevents.Event) { e.Subject = strings.Repeat("é", 512) }},
		"a content type of 4,097 bytes":     {set: func(e *cloudevents.Event) { e.DataContentType = long(4097) }, want: &refusal{"ATTRIBUTE_TOO_LONG", "datacontenttype", "4096", ""}, limit: "4096"},
		"a schema of 4,097 bytes":           {set: func(e *cloudevents.Event) { e.DataSchema = long(4097) }, want: &refusal{"ATTRIBUTE_TOO_LONG", "dataschema", "4096", ""}, limit: "4096"},
		"an extension of 4,096 bytes":       {set: func(e *cloudevents.Event) { e.Extensions = []cloudevents.Extension{{Name: "x", Value: long(4096)}} }},
		"an extension of 4,097 bytes":       {set: func(e *cloudevents.Event) { e.Extensions = []cloudevents.Extension{{Name: "x", Value: long(4097)}} }, want: &refusal{"ATTRIBUTE_TOO_LONG", "x", "4096", ""}, limit: "4096"},
		"attributes of 16,384 bytes":        {event: sized(16384)},
		"attributes of 16,385 bytes":        {event: sized(16385), want: &refusal{"ATTRIBUTES_TOO_LARGE", "", "16385 bytes", ""}, limit: "16384"},
		"a name of 20 characters":           {set: func(e *cloudevents.Event) { e.Extensions = []cloudevents.Extension{{Name: long(20)}} }},
		"a name of 21 characters":           {set: func(e *cloudevents.Event) { e.Extensions = []cloudevents.Extension{{Name: long(21)}} }, want: &refusal{"INVALID_ATTRIBUTE", long(21), "1 to 20", ""}, limit: "20"},
		"extensions out of order":           {set: func(e *cloudevents.Event) { e.Extensions = []cloudevents.Extension{{Name: "b"}, {Name: "a"}} }, want: &refusal{"INVALID_ATTRIBUTE", "a", "sorted", ""}},
		"an extension twice":                {set: func(e *cloudevents.Event) { e.Extensions = []cloudevents.Extension{{Name: "a"}, {Name: "a"}} }, want: &refusal{"INVALID_ATTRIBUTE", "a", "each once", ""}},
		"an extension of a reserved name":   {set: func(e *cloudevents.Event) { e.Extensions = []cloudevents.Extension{{Name: "subject", Value: "a"}} }, want: &refusal{"INVALID_ATTRIBUTE", "subject", "reserved", ""}},
		"a boolean that is none":            {set: func(e *cloudevents.Event) { e.Extensions = []cloudevents.Extension{{"a", cloudevents.Boolean, "True"}} }, want: &refusal{"INVALID_ATTRIBUTE", "a", "boolean", ""}},
		"an integer with a leading zero":    {set: func(e *cloudevents.Event) { e.Extensions = []cloudevents.Extension{{"a", cloudevents.Integer, "01"}} }, want: &refusal{"INVALID_ATTRIBUTE", "a", "integer", ""}},
		"an instant that is not the text's": {set: func(e *cloudevents.Event) { e.Time = e.Time.Add(time.Microsecond) }, want: &refusal{"INVALID_ATTRIBUTE", "time", "not the same", ""}},
		"a source with a line separator":    {set: func(e *cloudevents.Event) { e.Source = "/a\u2028b" }, want: &refusal{"INVALID_ATTRIBUTE", "source", "space", ""}},
		"a source as SDKs have been seen":   {set: func(e *cloudevents.Event) { e.Source = `C:\x|{y}^<é>%zz` }},
		"an id of white space":              {set: func(e *cloudevents.Event) { e.ID = " " }},
		"text beyond the basic plane":       {set: func(e *cloudevents.Event) { e.Subject = "😀 e\u0301 \u200d \ufffd" }},
		"time at its length":                {set: func(e *cloudevents.Event) { e.TimeText = "2026-11-30T12:00:00." + strings.Repeat("0", 43) + "Z" }},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			e := c.event
			if e == nil {
				e = valid()
				c.set(e)
			}
			before := *e
			got := cloudevents.Validate(e)
			if c.want == nil {
				if len(got) != 0 {
					t.Fatalf("refused: %+v", got)
				}
				return
			}
			c.want.check(t, got)
			if got[0].Limit != c.limit {
				t.Errorf("limit %q, want %q", got[0].Limit, c.limit)
			}
			if !e.Time.Equal(before.Time) {
				t.Error("Validate changed the event")
			}
		})
	}
}

func TestValuesAreCutTo200CharactersWhole(t *testing.T) {
	t.Parallel()
	_, err := cloudevents.DecodeStructured("", []byte(structured(`,"subject":"`+strings.Repeat("é", 600)+`"`)))
	if v := violations(t, err)[0]; v.Value != strings.Repeat("é", 200) {
		t.Errorf("value %q", v.Value)
	}
	_, err = cloudevents.DecodeBinary(required("ce-subject", strings.Repeat("a", 199)+"\xff\xfe"), nil)
	if v := violations(t, err)[0]; v.Value != strings.Repeat("a", 199)+"\uFFFD" {
		t.Errorf("value %q", v.Value)
	}
}
