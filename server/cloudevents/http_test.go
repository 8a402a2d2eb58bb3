package cloudevents_test

import (
	"strings"
	"testing"

	"oriel/server/cloudevents"
)

func TestContentModeIsChosenBySpecVersionThenMediaType(t *testing.T) {
	t.Parallel()
	for sentence, c := range map[string]struct {
		contentType    string
		hasSpecVersion bool
		mode           cloudevents.Mode
		ok             bool
	}{
		"the header says binary":                  {"application/json", true, cloudevents.Binary, true},
		"the header comes before the media type":  {"application/cloudevents+json", true, cloudevents.Binary, true},
		"the header alone":                        {"", true, cloudevents.Binary, true},
		"structured":                              {"application/cloudevents+json", false, cloudevents.Structured, true},
		"structured with parameters, in any case": {"Application/CloudEvents+json ; charset=utf-8", false, cloudevents.Structured, true},
		"batch":                        {"application/cloudevents-batch+json;charset=utf-8", false, cloudevents.Batch, true},
		"plain JSON says nothing":      {"application/json", false, 0, false},
		"nothing at all":               {"", false, 0, false},
		"a format that we do not read": {"application/cloudevents+avro", false, 0, false},
		"a media type that only begins like structured": {"application/cloudevents+jsonx", false, 0, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			mode, ok := cloudevents.ContentMode(c.contentType, c.hasSpecVersion)
			if ok != c.ok || ok && mode != c.mode {
				t.Errorf("got %v, %v", mode, ok)
			}
		})
	}
}

func TestHeaderValuesAreDecodedOnce(t *testing.T) {
	t.Parallel()
	for sentence, c := range map[string]struct{ raw, want string }{
		"an encoded space":                             {`a%20b`, "a b"},
		"the specification's example":                  {`Euro%20%E2%82%AC%20%F0%9F%98%80`, "Euro € 😀"},
		"lower-case hexadecimal digits":                {`%e2%82%ac`, "€"},
		"raw UTF-8":                                    {`café 房间`, "café 房间"},
		"raw UTF-8 beside a bare percent sign":         {`café 100%`, "café 100%"},
		"raw and encoded mixed":                        {`café caf%C3%A9`, "café café"},
		"one round only":                               {`100%2525`, "100%25"},
		"a percent sign before one digit":              {`5%2`, "5%2"},
		"a percent sign before no digits":              {`50% off %zz %`, "50% off %zz %"},
		"needlessly encoded":                           {`%61%62`, "ab"},
		"white space around the value":                 {" \ta b\t ", "a b"},
		"encoded white space at the ends is the value": {`%20a%20`, " a "},
		"a quoted string is unquoted":                  {`"a b"`, "a b"},
		"escapes of a quoted string":                   {`"a \"b\" \\c"`, `a "b" \c`},
		"percent-decoding follows unquoting":           {`"a%20b"`, "a b"},
		"encoded quotes are the value":                 {`%22a%22`, `"a"`},
		"quotes within a value stay":                   {`say "hi"`, `say "hi"`},
		"two quoted strings are no quoted string":      {`"a" and "b"`, `"a" and "b"`},
		"a lone quote":                                 {`"`, `"`},
		"an escaped last quote":                        {`"a\"`, `"a\"`},
		"a backslash outside quotes":                   {`a\b`, `a\b`},
		"a plus sign is no space":                      {`a+b`, "a+b"},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			e := mustBinary(t, required("ce-subject", c.raw, "ce-ext", c.raw), nil)
			if e.Subject != c.want || e.Extensions[0].Value != c.want {
				t.Fatalf("subject %q, extension %q, want %q", e.Subject, e.Extensions[0].Value, c.want)
			}
			// The same event in structured mode is identical.
			again := mustStructured(t, string(cloudevents.EncodeJSON(e)))
			if again.Subject != e.Subject || again.Digest() != e.Digest() {
				t.Errorf("structured mode gives %q", again.Subject)
			}
		})
	}
}

func TestBinaryModeTakesContentTypeAndCEHeadersAlone(t *testing.T) {
	t.Parallel()
	e := mustBinary(t, headers("Host", "h", "CE-SpecVersion", "1.0", "Ce-Id", "1", "cE-sourcE", "/s", "Ce-Type", "t",
		"traceparent", "00-1", "tracestate", "a=b", "Content-Type", " text/plain ", "ce-time", "2026-11-30T12:00:00+01:00",
		"Ce-Traceparent", "00-2", "ce-BOOL", "True", "ce-dataschema", "urn:x", "cetera", "1", "ce-empty", ""), []byte(" x\x00"))
	want := []cloudevents.Extension{{Name: "bool", Value: "True"}, {Name: "empty"}, {Name: "traceparent", Value: "00-2"}}
	if len(e.Extensions) != len(want) {
		t.Fatalf("extensions %+v", e.Extensions)
	}
	for i := range want {
		if e.Extensions[i] != want[i] {
			t.Errorf("extension %+v, want %+v", e.Extensions[i], want[i])
		}
	}
	if e.DataContentType != "text/plain" || string(e.Data) != " x\x00" || e.DataSchema != "urn:x" || e.Mode != cloudevents.Binary ||
		e.TimeText != "2026-11-30T12:00:00+01:00" || e.Time.Format("15:04 MST") != "11:00 UTC" {
		t.Errorf("got %+v", e)
	}
}

func TestABodyWithoutBytesIsAbsent(t *testing.T) {
	t.Parallel()
	for _, body := range [][]byte{nil, {}} {
		e := mustBinary(t, required("content-type", "application/json; charset=utf-8"), body)
		if e.Data != nil || e.DataContentType != "application/json; charset=utf-8" {
			t.Errorf("got %+v", e)
		}
	}
}

func TestMalformedDataOfBinaryModeIsAccepted(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"{\"a\":\"\xff\"}", "{", "\xef\xbb\xbf{}", "nul", "1 2"} {
		if e := mustBinary(t, required("content-type", "application/json"), []byte(body)); string(e.Data) != body {
			t.Errorf("got %q", e.Data)
		}
	}
	deep := []byte(strings.Repeat("[", 600))
	if e := mustBinary(t, required("content-type", "text/plain"), deep); len(e.Data) != 600 {
		t.Error("brackets of a text are no depth")
	}
}

func TestBinaryRefusals(t *testing.T) {
	t.Parallel()
	without := func(key string) []cloudevents.Header {
		var kept []cloudevents.Header
		for _, h := range required() {
			if h.Key != key {
				kept = append(kept, h)
			}
		}
		return kept
	}
	with := func(key, value string) []cloudevents.Header {
		h := required()
		for i := range h {
			if h[i].Key == key {
				h[i].Value = []byte(value)
			}
		}
		return h
	}
	for sentence, c := range map[string]struct {
		headers []cloudevents.Header
		body    string
		want    refusal
	}{
		"no time, and what to add":        {without("ce-time"), "", refusal{"MISSING_ATTRIBUTE", "time", "add the header ce-time: 2026-11-30T12:00:00Z with the instant", "RFC 3339"}},
		"an empty time":                   {with("ce-time", ""), "", refusal{"MISSING_ATTRIBUTE", "time", "ce-time: ", ""}},
		"no id":                           {without("ce-id"), "", refusal{"MISSING_ATTRIBUTE", "id", "ce-id: ", ""}},
		"an empty id":                     {with("ce-id", " "), "", refusal{"MISSING_ATTRIBUTE", "id", "must not be empty", ""}},
		"no source":                       {without("ce-source"), "", refusal{"MISSING_ATTRIBUTE", "source", "ce-source: ", ""}},
		"no type":                         {without("ce-type"), "", refusal{"MISSING_ATTRIBUTE", "type", "ce-type: ", ""}},
		"an empty specversion":            {with("ce-specversion", ""), "", refusal{"MISSING_ATTRIBUTE", "specversion", "ce-specversion: 1.0", "1.0"}},
		"specversion 0.3":                 {with("ce-specversion", "0.3"), "", refusal{"UNSUPPORTED_SPEC_VERSION", "specversion", "ce-specversion: 1.0", "1.0"}},
		"a Latin-1 byte":                  {required("ce-subject", "caf\xe9"), "", refusal{"INVALID_UTF8", "subject", "at byte 3; percent-encode", "percent-encoded"}},
		"encoded bytes that are no UTF-8": {required("ce-subject", "%FF"), "", refusal{"INVALID_UTF8", "subject", "structured mode", ""}},
		"an overlong encoding":            {required("ce-subject", "%C0%A0"), "", refusal{"INVALID_UTF8", "subject", "at byte 0", ""}},
		"an encoded surrogate":            {required("ce-subject", "%ED%A0%80"), "", refusal{"INVALID_UTF8", "subject", "", ""}},
		"a Latin-1 content type":          {required("content-type", "text/\xe9"), "", refusal{"INVALID_UTF8", "datacontenttype", "", ""}},
		"an encoded control character":    {required("ce-ext", "a%0A"), "", refusal{"INVALID_ATTRIBUTE", "ext", "U+000A", ""}},
		"an encoded NUL":                  {required("ce-ext", "%00"), "", refusal{"INVALID_ATTRIBUTE", "ext", "U+0000", ""}},
		"DEL":                             {required("ce-ext", "\x7f"), "", refusal{"INVALID_ATTRIBUTE", "ext", "U+007F", ""}},
		"an empty subject":                {required("ce-subject", ""), "", refusal{"INVALID_ATTRIBUTE", "subject", "leave the attribute out", ""}},
		"a repeated header":               {required("Ce-Id", "1"), "", refusal{"INVALID_ATTRIBUTE", "id", "more than once", ""}},
		"a repeated extension":            {required("ce-ext", "1", "Ce-Ext", "2"), "", refusal{"INVALID_ATTRIBUTE", "ext", "more than once", ""}},
		"a repeated content type":         {required("content-type", "a/b", "Content-Type", "a/b"), "", refusal{"INVALID_ATTRIBUTE", "datacontenttype", "more than once", ""}},
		"a content type that disagrees":   {required("content-type", "a/b", "ce-datacontenttype", "c/d"), "", refusal{"INVALID_ATTRIBUTE", "datacontenttype", `"a/b" and as "c/d"`, ""}},
		"a name with an underscore":       {required("ce-my_ext", "1"), "", refusal{"INVALID_ATTRIBUTE", "my_ext", "a-z and 0-9", ""}},
		"a name of 21 characters":         {required("ce-"+strings.Repeat("A", 21), "1"), "", refusal{"INVALID_ATTRIBUTE", strings.Repeat("a", 21), "1 to 20", ""}},
		"a header without a name":         {required("ce-", "1"), "", refusal{"INVALID_ATTRIBUTE", "", "a-z and 0-9", ""}},
		"the reserved name data":          {required("ce-data", "1"), "", refusal{"INVALID_ATTRIBUTE", "data", "reserved", ""}},
		"a space in the source":           {with("ce-source", "/a b"), "", refusal{"INVALID_ATTRIBUTE", "source", "%20", "without spaces"}},
		"a space in the schema":           {required("ce-dataschema", "urn: x"), "", refusal{"INVALID_ATTRIBUTE", "dataschema", "space", ""}},
		"JSON data 513 deep":              {required("content-type", "application/x+json"), strings.Repeat("[", 513) + strings.Repeat("]", 513), refusal{"DEPTH_EXCEEDED", "data", "512", ""}},
		"JSON data 20,000 deep":           {required("content-type", "application/json"), strings.Repeat(`{"a":`, 20000), refusal{"DEPTH_EXCEEDED", "data", "512", ""}},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			e, err := cloudevents.DecodeBinary(c.headers, []byte(c.body))
			if e != nil {
				t.Errorf("refused and yet an event: %+v", e)
			}
			c.want.check(t, violations(t, err))
		})
	}
}

func TestAContentTypeSentTwiceAlikeIsTolerated(t *testing.T) {
	t.Parallel()
	for _, h := range [][]cloudevents.Header{
		required("content-type", "a/b", "ce-datacontenttype", "a/b"),
		required("ce-datacontenttype", "a/b", "content-type", "a/b"),
		required("ce-datacontenttype", "a/b", "content-type", ""),
	} {
		if e := mustBinary(t, h, nil); e.DataContentType != "a/b" || len(e.Extensions) != 0 {
			t.Errorf("got %+v", e)
		}
	}
}
