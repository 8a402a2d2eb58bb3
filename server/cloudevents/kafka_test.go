package cloudevents_test

import (
	"reflect"
	"strings"
	"testing"

	"oriel/server/cloudevents"
)

// record is a foreign record with the headers of the smallest event and the given ones.
func record(value []byte, pairs ...string) cloudevents.Record {
	h := append(headers("ce_specversion", "1.0", "ce_id", "1", "ce_source", "/s", "ce_type", "t",
		"ce_time", "2026-11-30T12:00:00Z"), headers(pairs...)...)
	return cloudevents.Record{Value: value, Headers: h}
}

func TestARecordOfOursSaysAllOfTheEvent(t *testing.T) {
	t.Parallel()
	e := mustStructured(t, structured(`,"subject":"café 100% 房间","dataschema":"urn:x","n":-5,"b":true,"s":"5","traceparent":"00-x","data":{"a": 1.0}`))
	r := cloudevents.EncodeRecord(e)
	want := [][2]string{
		{"ce_specversion", "1.0"},
		{"ce_id", "1"},
		{"ce_source", "/s"},
		{"ce_type", "t"},
		{"ce_subject", "café 100% 房间"},
		{"ce_time", "2026-11-30T12:00:00Z"},
		{"ce_dataschema", "urn:x"},
		{"ce_b", "true"},
		{"ce_n", "-5"},
		{"ce_s", "5"},
		{"ce_traceparent", "00-x"},
		{"content-type", "application/json"},
		{"oriel-transport", "mode=structured;ct=absent;types=b:boolean,n:integer"},
	}
	if len(r.Headers) != len(want) {
		t.Fatalf("headers %v", r.Headers)
	}
	for i, h := range r.Headers {
		if h.Key != want[i][0] || string(h.Value) != want[i][1] {
			t.Errorf("header %d is %s: %s, want %v", i, h.Key, h.Value, want[i])
		}
	}
	if string(r.Key) != "/s#café 100% 房间" || string(r.Value) != `{"a": 1.0}` {
		t.Errorf("key %q, value %q", r.Key, r.Value)
	}
	back, rest, err := cloudevents.DecodeRecord(r)
	if err != nil || rest != nil || !reflect.DeepEqual(back, e) {
		t.Errorf("came back as %+v, %v, %v", back, rest, err)
	}
}

func TestTheTransportHeaderOfEachKindOfEvent(t *testing.T) {
	t.Parallel()
	for sentence, c := range map[string]struct {
		mode                    cloudevents.Mode
		contentType             string
		data                    []byte
		transport, recordedType string
	}{
		"binary":                             {cloudevents.Binary, "text/plain", []byte("x"), "mode=binary", "text/plain"},
		"binary without a type":              {cloudevents.Binary, "", []byte("1"), "mode=binary", ""},
		"batch":                              {cloudevents.Batch, "a/b", []byte("x"), "mode=batch", "a/b"},
		"structured, no type, no data":       {cloudevents.Structured, "", nil, "mode=structured", ""},
		"structured, no type, empty data":    {cloudevents.Structured, "", []byte{}, "mode=structured", ""},
		"structured, no type, JSON":          {cloudevents.Structured, "", []byte("[1]"), "mode=structured;ct=absent", "application/json"},
		"structured, no type, bytes":         {cloudevents.Structured, "", []byte{0xff}, "mode=structured", ""},
		"binary whose data is a cloud event": {cloudevents.Binary, "application/cloudevents+json", []byte("{}"), "mode=binary", "application/cloudevents+json"},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			e := mustStructured(t, structured(""))
			e.Mode, e.DataContentType, e.Data = c.mode, c.contentType, c.data
			r := cloudevents.EncodeRecord(e)
			recorded := ""
			for _, h := range r.Headers {
				if h.Key == "content-type" {
					recorded = string(h.Value)
				}
			}
			if last := r.Headers[len(r.Headers)-1]; last.Key != cloudevents.TransportHeader || string(last.Value) != c.transport || recorded != c.recordedType {
				t.Errorf("content-type %q, transport %s", recorded, last.Value)
			}
			back, rest, err := cloudevents.DecodeRecord(r)
			if err != nil || rest != nil || !reflect.DeepEqual(back, e) {
				t.Errorf("came back as %+v, %v, %v", back, rest, err)
			}
		})
	}
}

func TestForeignRecordsAreRead(t *testing.T) {
	t.Parallel()
	json := []byte(structured(`,"data":{"a":1},"n":1`))
	deep := strings.Repeat("[", 600) + strings.Repeat("]", 600)
	for sentence, c := range map[string]struct {
		record cloudevents.Record
		mode   cloudevents.Mode
		data   string
		rest   string
	}{
		"binary": {record([]byte("x"), "content-type", "text/plain"), cloudevents.Binary, "x", ""},
		"the other headers come in order, repeats and all": {record([]byte("x"), "trace", "1", "Z", "\xff\x00", "trace", "2", "content-type", "a/b", "traceparent", "00-1"), cloudevents.Binary, "x", "trace=1 Z=\xff\x00 trace=2 traceparent=00-1"},
		"names in another case":                            {record([]byte("x"), "CE_Ext", "1", "Content-Type", "a/b"), cloudevents.Binary, "x", ""},
		"a percent sign is not decoded":                    {record([]byte("x"), "ce_ext", "a%20b"), cloudevents.Binary, "x", ""},
		"structured":                                       {cloudevents.Record{Value: json, Headers: headers("content-type", "application/cloudevents+json; charset=UTF-8")}, cloudevents.Structured, `{"a":1}`, ""},
		"structured with other headers":                    {cloudevents.Record{Value: json, Headers: headers("a", "1", "Content-Type", "application/cloudevents+json", "a", "2", "content-type", "x")}, cloudevents.Structured, `{"a":1}`, "a=1 a=2 content-type=x"},
		"structured that repeats its attributes":           {record(json, "content-type", "application/cloudevents+json"), cloudevents.Structured, `{"a":1}`, "ce_specversion=1.0 ce_id=1 ce_source=/s ce_type=t ce_time=2026-11-30T12:00:00Z"},
		"binary in a format that we do not read":           {record([]byte("x"), "content-type", "application/cloudevents+avro"), cloudevents.Binary, "x", ""},
		"a transport header that is not ours":              {record([]byte("x"), "oriel-transport", "hello"), cloudevents.Binary, "x", "oriel-transport=hello"},
		"a transport header after one not ours":            {record([]byte("x"), "oriel-transport", "hello", "oriel-transport", "mode=batch"), cloudevents.Batch, "x", "oriel-transport=hello"},
		"a second transport header":                        {record([]byte("x"), "oriel-transport", "mode=batch", "oriel-transport", "mode=structured"), cloudevents.Batch, "x", "oriel-transport=mode=structured"},
		"transport parts of a later version":               {record([]byte("x"), "oriel-transport", "mode=structured;zip=no;types=;x"), cloudevents.Structured, "x", ""},
		"types that do not fit are not given":              {record([]byte("x"), "ce_ext", "01", "oriel-transport", "mode=structured;types=ext:integer,ext:boolean,none:integer,,:"), cloudevents.Structured, "x", ""},
		"data too deep is stored as it is":                 {record([]byte(deep), "content-type", "application/json"), cloudevents.Binary, deep, ""},
		"too deep in structured mode too":                  {cloudevents.Record{Value: []byte(structured(`,"data":` + deep)), Headers: headers("content-type", "application/cloudevents+json")}, cloudevents.Structured, deep, ""},
		"data that is no JSON":                             {record([]byte("{\xff"), "content-type", "application/json"), cloudevents.Binary, "{\xff", ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			e, rest, err := cloudevents.DecodeRecord(c.record)
			if err != nil {
				t.Fatalf("refused: %v", err)
			}
			var got []string
			for _, h := range rest {
				got = append(got, h.Key+"="+string(h.Value))
			}
			if e.Mode != c.mode || string(e.Data) != c.data || strings.Join(got, " ") != c.rest {
				t.Errorf("got mode %v, data %q, rest %q", e.Mode, e.Data, got)
			}
			for _, x := range e.Extensions {
				if x.Name == "ext" && (x.Type != cloudevents.String || x.Value == "a b") {
					t.Errorf("extension %+v", x)
				}
			}
		})
	}
}

func TestNullAndEmptyValuesOfRecordsDiffer(t *testing.T) {
	t.Parallel()
	for _, value := range [][]byte{nil, {}} {
		r := record(value, "content-type", "application/json")
		r.Headers = append(r.Headers, cloudevents.Header{Key: "ce_subject"}, cloudevents.Header{Key: "ce_ext"}, cloudevents.Header{Key: "other"})
		e, rest, err := cloudevents.DecodeRecord(r)
		if err != nil || (e.Data == nil) != (value == nil) || e.Subject != "" || len(e.Extensions) != 0 {
			t.Errorf("got %+v, %v", e, err)
		}
		if len(rest) != 1 || rest[0].Key != "other" || rest[0].Value != nil {
			t.Errorf("rest %+v", rest)
		}
	}
}

func TestRecordRefusals(t *testing.T) {
	t.Parallel()
	structuredType := headers("content-type", "application/cloudevents+json")
	noID := record(nil, "x", "y")
	noID.Headers = append(noID.Headers[:1:1], noID.Headers[2:]...)
	noTime := record(nil)
	noTime.Headers = noTime.Headers[:4]
	for sentence, c := range map[string]struct {
		record cloudevents.Record
		want   refusal
	}{
		"an empty record":               {cloudevents.Record{}, refusal{"UNDECODABLE", "", "no CloudEvent", "ce_"}},
		"plain JSON":                    {cloudevents.Record{Value: []byte("{}"), Headers: headers("content-type", "application/json", "x", "y")}, refusal{"UNDECODABLE", "", "neither ce_ headers", ""}},
		"a batch":                       {cloudevents.Record{Value: []byte("[]"), Headers: headers("content-type", "application/cloudevents-batch+json")}, refusal{"UNDECODABLE", "", "no CloudEvent", ""}},
		"another format":                {cloudevents.Record{Headers: headers("content-type", "application/cloudevents+avro")}, refusal{"UNDECODABLE", "", "no CloudEvent", ""}},
		"no ce_id":                      {noID, refusal{"MISSING_ATTRIBUTE", "id", "the header ce_id: ", ""}},
		"no ce_time":                    {noTime, refusal{"MISSING_ATTRIBUTE", "time", "the header ce_time: 2026-11-30T12:00:00Z", ""}},
		"a header twice":                {record(nil, "ce_id", "2"), refusal{"INVALID_ATTRIBUTE", "id", "more than once", ""}},
		"a content type twice":          {record(nil, "content-type", "a/b", "content-type", "c/d"), refusal{"INVALID_ATTRIBUTE", "datacontenttype", "more than once", ""}},
		"bytes that are no UTF-8":       {record(nil, "ce_subject", "\xff"), refusal{"INVALID_UTF8", "subject", "at byte 0.", ""}},
		"a structured tombstone":        {cloudevents.Record{Headers: structuredType}, refusal{"MALFORMED_JSON", "", "empty", ""}},
		"structured that is no JSON":    {cloudevents.Record{Value: []byte("{"), Headers: structuredType}, refusal{"MALFORMED_JSON", "", "at byte 1", ""}},
		"structured that is no UTF-8":   {cloudevents.Record{Value: []byte("{\xff"), Headers: structuredType}, refusal{"INVALID_UTF8", "", "at byte 1", ""}},
		"structured in UTF-16":          {cloudevents.Record{Value: []byte("{}"), Headers: headers("content-type", "application/cloudevents+json; charset=utf-16")}, refusal{"UNSUPPORTED_CONTENT_MODE", "", "utf-16", ""}},
		"structured, nested bottomless": {cloudevents.Record{Value: []byte(structured(`,"data":` + strings.Repeat("[", 100_000))), Headers: structuredType}, refusal{"MALFORMED_JSON", "", "", ""}},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			e, _, err := cloudevents.DecodeRecord(c.record)
			if e != nil {
				t.Errorf("refused and yet an event: %+v", e)
			}
			c.want.check(t, violations(t, err))
		})
	}
	if _, rest, _ := cloudevents.DecodeRecord(noID); len(rest) != 1 || rest[0].Key != "x" {
		t.Errorf("a refused record's other headers are %v", rest)
	}
}
