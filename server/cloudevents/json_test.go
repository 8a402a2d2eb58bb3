package cloudevents_test

import (
	"strconv"
	"strings"
	"testing"

	"oriel/server/cloudevents"
)

func TestStructuredDataIsKeptByteForByte(t *testing.T) {
	t.Parallel()
	for sentence, c := range map[string]struct {
		members string
		want    string
		absent  bool
	}{
		"no data member is absent data":                  {members: ``, absent: true},
		"an object keeps white space, order, duplicates": {`,"data": {"b" : 1,"aa":2, "a":3,"b":4}`, `{"b" : 1,"aa":2, "a":3,"b":4}`, false},
		"numbers keep their spelling":                    {`,"data":{"id":9007199254740993,"f":1.0,"z":-0,"e":1E2}`, `{"id":9007199254740993,"f":1.0,"z":-0,"e":1E2}`, false},
		"an escaped NUL stays an escape":                 {`,"data":{"a":"x\u0000y"}`, `{"a":"x\u0000y"}`, false},
		"a literal backslash-u stays untouched":          {`,"data":{"a":"x\\u0000y"}`, `{"a":"x\\u0000y"}`, false},
		"lone surrogates in data are data":               {`,"data":["\ud800","\udc00","\ud83d\ude00"]`, `["\ud800","\udc00","\ud83d\ude00"]`, false},
		"null is the JSON text null":                     {`,"data":null`, `null`, false},
		"null under a text type is the text null":        {`,"datacontenttype":"text/plain","data":null`, `null`, false},
		"a JSON string under no type keeps its quotes":   {`,"data":"I'm"`, `"I'm"`, false},
		"a JSON string under a JSON type keeps quotes":   {`,"datacontenttype":"text/json; charset=utf-8","data":"a\n"`, `"a\n"`, false},
		"+json is JSON":                                  {`,"datacontenttype":"application/vnd.x+JSON","data":"a"`, `"a"`, false},
		"a string under a text type is decoded":          {`,"datacontenttype":"text/plain","data":"caf\u00e9\n\"x\" \ud83d\ude00"`, "café\n\"x\" 😀", false},
		"an XML string without escapes":                  {`,"datacontenttype":"application/xml","data":"<a b='c'/>"`, "<a b='c'/>", false},
		"an empty string under a text type is empty":     {`,"datacontenttype":"text/plain","data":""`, "", false},
		"an object under a text type is its JSON text":   {`,"datacontenttype":"text/plain","data":{"a": 1}`, `{"a": 1}`, false},
		"base64 is decoded":                              {`,"datacontenttype":"image/png","data_base64":"AAH/\/w=="`, "\x00\x01\xff\xff", false},
		"base64 of JSON under a JSON type":               {`,"datacontenttype":"application/json","data_base64":"eyJhIjogMX0="`, `{"a": 1}`, false},
		"empty base64 is empty":                          {`,"data_base64":""`, "", false},
		"null base64 is absent":                          {`,"data_base64":null`, "", true},
		"null base64 beside data is data":                {`,"data_base64":null,"data":[1]`, `[1]`, false},
		"data before its content type":                   {`,"data":"a","datacontenttype":"text/plain"`, `a`, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			e := mustStructured(t, structured(c.members))
			if (e.Data == nil) != c.absent || string(e.Data) != c.want {
				t.Fatalf("data %q (absent %v), want %q (absent %v)", e.Data, e.Data == nil, c.want, c.absent)
			}
		})
	}
}

func TestStructuredMembersBecomeAttributes(t *testing.T) {
	t.Parallel()
	e := mustStructured(t, " "+structured(`,"subject":"caf\u00e9","datacontenttype":null,"dataschema":"https://x/y",
		"zz":"text","flag":true,"off":false,"n":-2147483648,"m":2147483647,"zero":-0,"empty":"","none":null,"\u0061b":"c"`)+"\n\t")
	want := []cloudevents.Extension{
		{"ab", cloudevents.String, "c"},
		{"empty", cloudevents.String, ""},
		{"flag", cloudevents.Boolean, "true"},
		{"m", cloudevents.Integer, "2147483647"},
		{"n", cloudevents.Integer, "-2147483648"},
		{"off", cloudevents.Boolean, "false"},
		{"zero", cloudevents.Integer, "-0"},
		{"zz", cloudevents.String, "text"},
	}
	if e.Subject != "café" || e.DataContentType != "" || e.DataSchema != "https://x/y" || e.Mode != cloudevents.Structured {
		t.Errorf("got %+v", e)
	}
	if len(e.Extensions) != len(want) {
		t.Fatalf("extensions %+v", e.Extensions)
	}
	for i := range want {
		if e.Extensions[i] != want[i] {
			t.Errorf("extension %d is %+v, want %+v", i, e.Extensions[i], want[i])
		}
	}
}

// refusal is what a table expects of the first violation; "" is not looked at.
type refusal struct{ reason, attribute, message, accepted string }

func (want refusal) check(t *testing.T, v []cloudevents.Violation) {
	t.Helper()
	got := v[0]
	if len(v) != 1 || got.Reason != want.reason || got.Attribute != want.attribute ||
		!strings.Contains(got.Message, want.message) || !strings.Contains(got.Accepted, want.accepted) {
		t.Fatalf("got %+v, want %+v", v, want)
	}
	if strings.ContainsAny(got.Message, "\n\r") || !strings.HasSuffix(got.Message, ".") {
		t.Errorf("the message is not one sentence: %q", got.Message)
	}
}

func TestStructuredRefusals(t *testing.T) {
	t.Parallel()
	for sentence, c := range map[string]struct {
		body string
		want refusal
	}{
		"data and data_base64":                 {structured(`,"data":null,"data_base64":"AA=="`), refusal{"DATA_AND_DATA_BASE64", "data", "send one of them", "data or data_base64"}},
		"an empty subject":                     {structured(`,"subject":""`), refusal{"INVALID_ATTRIBUTE", "subject", "leave the attribute out", ""}},
		"an empty content type":                {structured(`,"datacontenttype":""`), refusal{"INVALID_ATTRIBUTE", "datacontenttype", "leave the attribute out", ""}},
		"an empty schema":                      {structured(`,"dataschema":""`), refusal{"INVALID_ATTRIBUTE", "dataschema", "leave the attribute out", ""}},
		"an object extension":                  {structured(`,"ext":{"a":1}`), refusal{"INVALID_ATTRIBUTE", "ext", "an object", ""}},
		"an array extension":                   {structured(`,"ext":[]`), refusal{"INVALID_ATTRIBUTE", "ext", "an array", ""}},
		"a fraction":                           {structured(`,"ext":1.5`), refusal{"INVALID_ATTRIBUTE", "ext", "send others as a string", "-2147483648 to 2147483647"}},
		"an exponent":                          {structured(`,"ext":1e2`), refusal{"INVALID_ATTRIBUTE", "ext", "1e2", ""}},
		"an integer over 32 bits":              {structured(`,"ext":2147483648`), refusal{"INVALID_ATTRIBUTE", "ext", "send others as a string", "2147483647"}},
		"an integer under 32 bits":             {structured(`,"ext":-2147483649`), refusal{"INVALID_ATTRIBUTE", "ext", "-2147483649", ""}},
		"an integer of 100 digits":             {structured(`,"ext":` + strings.Repeat("9", 100)), refusal{"INVALID_ATTRIBUTE", "ext", "whole numbers", ""}},
		"a repeated attribute":                 {structured(`,"subject":"a","subject":"a"`), refusal{"INVALID_ATTRIBUTE", "subject", "more than once", ""}},
		"a repeated id by escapes":             {structured(`,"\u0069d":"2"`), refusal{"INVALID_ATTRIBUTE", "id", "more than once", ""}},
		"a repeated null":                      {structured(`,"subject":null,"subject":"a"`), refusal{"INVALID_ATTRIBUTE", "subject", "more than once", ""}},
		"a repeated null specversion":          {structured(`,"specversion":null`), refusal{"INVALID_ATTRIBUTE", "specversion", "more than once", ""}},
		"a repeated extension":                 {structured(`,"ext":"a","other":"b","ext":null`), refusal{"INVALID_ATTRIBUTE", "ext", "more than once", ""}},
		"repeated data":                        {structured(`,"data":1,"data":1`), refusal{"INVALID_ATTRIBUTE", "data", "more than once", ""}},
		"repeated base64":                      {structured(`,"data_base64":"","data_base64":""`), refusal{"INVALID_ATTRIBUTE", "data_base64", "more than once", ""}},
		"an upper-case name":                   {structured(`,"myExt":"a"`), refusal{"INVALID_ATTRIBUTE", "myExt", "a-z and 0-9", "a-z and 0-9"}},
		"an upper-case standard name":          {structured(`,"Subject":"a"`), refusal{"INVALID_ATTRIBUTE", "Subject", "a-z and 0-9", ""}},
		"an empty name":                        {structured(`,"":"a"`), refusal{"INVALID_ATTRIBUTE", "", "a-z and 0-9", ""}},
		"a name of 21 characters":              {structured(`,"abcdefghijklmnopqrstu":"a"`), refusal{"INVALID_ATTRIBUTE", "abcdefghijklmnopqrstu", "1 to 20", ""}},
		"a name with a lone surrogate":         {structured(`,"a\ud800":"a"`), refusal{"INVALID_ATTRIBUTE", "a\uFFFD", "a-z and 0-9", ""}},
		"a number as id":                       {strings.Replace(structured(``), `"id":"1"`, `"id":1`, 1), refusal{"INVALID_ATTRIBUTE", "id", "id is a number", "a string"}},
		"an object as type":                    {strings.Replace(structured(``), `"type":"t"`, `"type":{}`, 1), refusal{"INVALID_ATTRIBUTE", "type", "type is an object", ""}},
		"a boolean as subject":                 {structured(`,"subject":true`), refusal{"INVALID_ATTRIBUTE", "subject", "subject is a boolean", ""}},
		"a null id":                            {strings.Replace(structured(``), `"id":"1"`, `"id":null`, 1), refusal{"MISSING_ATTRIBUTE", "id", "id is required", ""}},
		"no specversion":                       {strings.Replace(structured(``), `"specversion":"1.0",`, ``, 1), refusal{"MISSING_ATTRIBUTE", "specversion", `add "specversion": "1.0"`, "1.0"}},
		"a null specversion":                   {strings.Replace(structured(``), `"1.0"`, `null`, 1), refusal{"MISSING_ATTRIBUTE", "specversion", "required", ""}},
		"specversion 0.3":                      {strings.Replace(structured(``), `"1.0"`, `"0.3"`, 1), refusal{"UNSUPPORTED_SPEC_VERSION", "specversion", `"0.3"`, "1.0"}},
		"specversion as a number":              {strings.Replace(structured(``), `"1.0"`, `1.0`, 1), refusal{"UNSUPPORTED_SPEC_VERSION", "specversion", `the string "1.0"`, ""}},
		"a control character":                  {structured(`,"ext":"a\u0007"`), refusal{"INVALID_ATTRIBUTE", "ext", "U+0007", ""}},
		"a C1 control character":               {structured(`,"subject":"a\u0085"`), refusal{"INVALID_ATTRIBUTE", "subject", "U+0085", ""}},
		"NUL":                                  {structured(`,"subject":"\u0000"`), refusal{"INVALID_ATTRIBUTE", "subject", "U+0000", ""}},
		"a lone surrogate":                     {structured(`,"subject":"a\ud800b"`), refusal{"INVALID_ATTRIBUTE", "subject", "surrogate", ""}},
		"surrogates in wrong order":            {structured(`,"subject":"\ude00\ud83d"`), refusal{"INVALID_ATTRIBUTE", "subject", "surrogate", ""}},
		"a noncharacter":                       {structured(`,"subject":"\uffff"`), refusal{"INVALID_ATTRIBUTE", "subject", "noncharacter U+FFFF", ""}},
		"a noncharacter of a plane":            {structured(`,"subject":"\ud83f\udffe"`), refusal{"INVALID_ATTRIBUTE", "subject", "U+1FFFE", ""}},
		"a noncharacter of FDD0":               {structured(`,"subject":"\ufdd0"`), refusal{"INVALID_ATTRIBUTE", "subject", "U+FDD0", ""}},
		"a text with a lone surrogate as data": {structured(`,"datacontenttype":"text/plain","data":"\ud800"`), refusal{"INVALID_UTF8", "data", "data_base64", "data_base64"}},
		"base64 without padding":               {structured(`,"data_base64":"AA"`), refusal{"INVALID_ATTRIBUTE", "data_base64", "base64", "RFC 4648"}},
		"base64 for URLs":                      {structured(`,"data_base64":"_-=="`), refusal{"INVALID_ATTRIBUTE", "data_base64", "base64", ""}},
		"base64 as an object":                  {structured(`,"data_base64":{}`), refusal{"INVALID_ATTRIBUTE", "data_base64", "base64", ""}},
		"an empty body":                        {``, refusal{"MALFORMED_JSON", "", "empty", ""}},
		"a byte order mark":                    {"\uFEFF" + structured(``), refusal{"MALFORMED_JSON", "", "byte order mark", ""}},
		"an array":                             {`[` + structured(``) + `]`, refusal{"MALFORMED_JSON", "", "cloudevents-batch+json", ""}},
		"a string":                             {`"x"`, refusal{"MALFORMED_JSON", "", "at byte 0", ""}},
		"a second value":                       {structured(``) + ` {}`, refusal{"MALFORMED_JSON", "", "at byte " + strconv.Itoa(len(structured(``))+1), ""}},
		"a trailing comma":                     {structured(`,`), refusal{"MALFORMED_JSON", "", "a member's name", ""}},
		"a bad escape in data":                 {structured(`,"data":"\x"`), refusal{"MALFORMED_JSON", "", "escape", ""}},
		"a truncated body":                     {strings.TrimSuffix(structured(`,"data":{"a":1}`), `}}`), refusal{"MALFORMED_JSON", "", "the text ends", ""}},
		"a raw control character":              {structured(",\"ext\":\"a\nb\""), refusal{"MALFORMED_JSON", "", `'\n'`, ""}},
		"bytes that are not UTF-8":             {"{\"a\":\"\xff\"}", refusal{"INVALID_UTF8", "", "at byte 6", "UTF-8"}},
		"an overlong encoding":                 {"{\"\xc0\xa0\"", refusal{"INVALID_UTF8", "", "at byte 2", ""}},
		"data 513 deep":                        {structured(`,"data":` + strings.Repeat("[", 513) + strings.Repeat("]", 513)), refusal{"DEPTH_EXCEEDED", "data", "512", ""}},
		"data 513 deep and then shallow":       {structured(`,"data":[` + strings.Repeat("[", 512) + strings.Repeat("]", 512) + `,[]]`), refusal{"DEPTH_EXCEEDED", "data", "512", ""}},
		"data in base64 513 deep":              {structured(`,"data_base64":"` + strings.Repeat("W1tb", 171) + strings.Repeat("XV1d", 171) + `"`), refusal{"DEPTH_EXCEEDED", "data", "512", ""}},
		"data 20,000 deep":                     {structured(`,"data":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000)), refusal{"DEPTH_EXCEEDED", "data", "512", ""}},
		"an extension 20,000 deep":             {structured(`,"ext":` + strings.Repeat(`{"a":[`, 10000) + strings.Repeat("]}", 10000)), refusal{"INVALID_ATTRIBUTE", "ext", "an object", "a string"}},
		"an id 20,000 deep":                    {strings.Replace(structured(``), `"id":"1"`, `"id":`+strings.Repeat("[", 20000)+strings.Repeat("]", 20000), 1), refusal{"INVALID_ATTRIBUTE", "id", "id is an array", "a string"}},
		"data 20,000 deep and cut off":         {structured(`,"data":` + strings.Repeat("[", 20000)), refusal{"MALFORMED_JSON", "", "a value", ""}},
		"data closed by the wrong bracket":     {structured(`,"data":[{"a":[1}]}`), refusal{"MALFORMED_JSON", "", "a comma or the array's end", ""}},
		"an empty specversion":                 {strings.Replace(structured(``), `"1.0"`, `""`, 1), refusal{"MISSING_ATTRIBUTE", "specversion", "required", "1.0"}},
		"base64 over two lines":                {structured(`,"data_base64":"QUJD\nREVG"`), refusal{"INVALID_ATTRIBUTE", "data_base64", "base64", "RFC 4648"}},
		"base64 with a carriage return":        {structured(`,"data_base64":"QUJD\r"`), refusal{"INVALID_ATTRIBUTE", "data_base64", "base64", "RFC 4648"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			e, err := cloudevents.DecodeStructured(cloudevents.MediaTypeStructured, []byte(c.body))
			if e != nil {
				t.Errorf("refused and yet an event: %+v", e)
			}
			c.want.check(t, violations(t, err))
		})
	}
}

func TestAllViolationsOfAnEventComeTogetherAndInOrder(t *testing.T) {
	t.Parallel()
	body := `{"data":1,"data_base64":"","zz":[],"Bad":"x","subject":"","time":"yesterday","id":"","aa":1.5}`
	for range 20 {
		_, err := cloudevents.DecodeStructured("application/cloudevents+json", []byte(body))
		var got []string
		for _, v := range violations(t, err) {
			got = append(got, v.Attribute+" "+v.Reason)
		}
		want := "specversion MISSING_ATTRIBUTE|id MISSING_ATTRIBUTE|source MISSING_ATTRIBUTE|type MISSING_ATTRIBUTE|" +
			"subject INVALID_ATTRIBUTE|time INVALID_ATTRIBUTE|Bad INVALID_ATTRIBUTE|aa INVALID_ATTRIBUTE|zz INVALID_ATTRIBUTE|" +
			"data DATA_AND_DATA_BASE64"
		if s := strings.Join(got, "|"); s != want {
			t.Fatalf("got  %s\nwant %s", s, want)
		}
	}
}

func TestEncodedJSONKeepsDataReadableWhereItCan(t *testing.T) {
	t.Parallel()
	for sentence, c := range map[string]struct {
		contentType, data, want string
		mode                    cloudevents.Mode
	}{
		"JSON goes out as it is":                       {"application/json", `{"b":1.0, "b":"\ud800"}`, `,"data":{"b":1.0, "b":"\ud800"}}`, 0},
		"JSON with white space around it is base64":    {"application/json", " 1", `,"data_base64":"IDE="}`, 0},
		"malformed JSON is base64":                     {"application/json", `{`, `,"data_base64":"ew=="}`, 0},
		"empty data under a JSON type is empty base64": {"application/json", ``, `,"data_base64":""}`, 0},
		"text is a string":                             {"text/plain", "a\"\n\u2028é", `,"data":"a\"\n` + "\u2028é\"}", 0},
		"empty text is an empty string":                {"text/plain", "", `,"data":""}`, 0},
		"another charset is base64":                    {"text/plain; charset=iso-8859-1", "abc", `,"data_base64":"YWJj"}`, 0},
		"bytes are base64":                             {"image/png", "\x89PNG\x00", `,"data_base64":"iVBORwA="}`, 0},
		"no type in binary mode claims nothing":        {"", "1", `,"data_base64":"MQ=="}`, 0},
		"no type in structured mode is JSON":           {"", "1", `,"data":1}`, cloudevents.Structured},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			e := mustStructured(t, structured(""))
			e.DataContentType, e.Data, e.Mode = c.contentType, []byte(c.data), c.mode
			got := string(cloudevents.EncodeJSON(e))
			if !strings.HasSuffix(got, c.want) {
				t.Fatalf("got %s, want …%s", got, c.want)
			}
			back := mustStructured(t, got)
			if string(back.Data) != c.data || back.Data == nil {
				t.Errorf("came back as %q", back.Data)
			}
		})
	}
}
