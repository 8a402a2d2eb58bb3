package cloudevents_test

import (
	"strings"
	"testing"

	"oriel/server/cloudevents"
)

func TestTheContentTypeOfJSONBodies(t *testing.T) {
	t.Parallel()
	for contentType, ok := range map[string]bool{
		"application/cloudevents+json":                         true,
		"Application/CloudEvents+JSON; charset=UTF-8":          true,
		`application/cloudevents+json; charset="utf-8"; x=y`:   true,
		"application/cloudevents+json;charset=us-ascii":        true,
		"application/cloudevents+json; charset=iso-8859-1":     false,
		"application/cloudevents+json; charset=utf-16":         false,
		"application/cloudevents+json; nonsense; charset":      true,
		"application/cloudevents+json; odata.metadata=minimal": true,
	} {
		t.Run(contentType, func(t *testing.T) {
			t.Parallel()
			_, err := cloudevents.DecodeStructured(contentType, []byte(structured("")))
			_, batchErr := cloudevents.DecodeBatch(contentType, []byte("["+structured("")+"]"))
			if (err == nil) != ok || (batchErr == nil) != ok {
				t.Fatalf("got %v and %v", err, batchErr)
			}
			if !ok && violations(t, err)[0].Reason != "UNSUPPORTED_CONTENT_MODE" {
				t.Errorf("got %+v", violations(t, err))
			}
		})
	}
}

func TestBatches(t *testing.T) {
	t.Parallel()
	decode := func(body string) ([]cloudevents.Element, error) {
		return cloudevents.DecodeBatch("application/cloudevents-batch+json; charset=utf-8", []byte(body))
	}
	t.Run("an empty batch is valid and has no elements", func(t *testing.T) {
		t.Parallel()
		if got, err := decode(" [ ]\n"); err != nil || got == nil || len(got) != 0 {
			t.Fatalf("got %v, %v", got, err)
		}
	})
	t.Run("each element has its own outcome, in order", func(t *testing.T) {
		t.Parallel()
		got, err := decode("[" + structured(`,"data":{"n": 1}`) + ` , {"specversion":"1.0"}, 7, "x", ` + structured(`,"subject":"s"`) + "]\n")
		if err != nil || len(got) != 5 {
			t.Fatalf("got %v, %v", got, err)
		}
		if got[0].Err != nil || string(got[0].Event.Data) != `{"n": 1}` || got[0].Event.Mode != cloudevents.Batch {
			t.Errorf("first: %+v", got[0])
		}
		if got[1].Event != nil || len(got[1].Err.Violations) != 4 {
			t.Errorf("second: %+v", got[1])
		}
		for i, kind := range map[int]string{2: "a number", 3: "a string"} {
			if got[i].Event != nil || !strings.Contains(got[i].Err.Error(), kind) {
				t.Errorf("element %d: %+v", i, got[i])
			}
		}
		if got[4].Err != nil || got[4].Event.Subject != "s" {
			t.Errorf("last: %+v", got[4])
		}
	})
	t.Run("an element nested too deep fails alone, at any depth", func(t *testing.T) {
		t.Parallel()
		for _, n := range []int{513, 9_999, 10_001, 300_000} {
			deep := strings.Repeat("[", n) + strings.Repeat("]", n)
			got, err := decode("[" + structured(`,"data":`+deep) + "," + structured(`,"ext":`+deep) + "," + deep + "," + structured("") + "]")
			if err != nil || len(got) != 4 || got[3].Err != nil {
				t.Fatalf("%d deep: got %v, %v", n, got, err)
			}
			refusal{"DEPTH_EXCEEDED", "data", "512", ""}.check(t, got[0].Err.Violations)
			refusal{"INVALID_ATTRIBUTE", "ext", "an array", "a string"}.check(t, got[1].Err.Violations)
			refusal{"MALFORMED_JSON", "", "an array", "an object"}.check(t, got[2].Err.Violations)
		}
	})
	t.Run("256 events are accepted", func(t *testing.T) {
		t.Parallel()
		got, err := decode("[" + strings.Repeat(structured("")+",", 255) + structured("") + "]")
		if err != nil || len(got) != 256 || got[255].Event == nil {
			t.Fatalf("got %d, %v", len(got), err)
		}
	})
	for sentence, c := range map[string]struct {
		body string
		want refusal
	}{
		"257 events are refused, naming the limit": {"[" + strings.Repeat(structured("")+",", 256) + structured("") + "]", refusal{"BATCH_TOO_LARGE", "", "256", "256"}},
		"an object is refused":                     {structured(""), refusal{"MALFORMED_JSON", "", "application/cloudevents+json", ""}},
		"an open array is refused as a whole":      {"[" + structured(""), refusal{"MALFORMED_JSON", "", "the text ends", ""}},
		"a trailing comma is refused":              {"[" + structured("") + ",]", refusal{"MALFORMED_JSON", "", "a value", ""}},
		"a broken element breaks the whole":        {"[" + structured("") + `,{"id":}]`, refusal{"MALFORMED_JSON", "", "a value", ""}},
		"something after the array":                {"[]]", refusal{"MALFORMED_JSON", "", "the end of the body", ""}},
		"an empty body":                            {"", refusal{"MALFORMED_JSON", "", "empty", ""}},
		"bytes that are not UTF-8":                 {"[\"\xe9\"]", refusal{"INVALID_UTF8", "", "at byte 2", ""}},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			got, err := decode(c.body)
			if got != nil {
				t.Errorf("got elements %v", got)
			}
			c.want.check(t, violations(t, err))
		})
	}
}
