package query

import (
	"reflect"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"oriel/server/fault"
)

// told is the places and reasons of mistakes, as place:length reason.
func told(t testing.TB, q string, violations []fault.Violation) string {
	t.Helper()
	out := make([]string, len(violations))
	for i, v := range violations {
		out[i] = v.Metadata["position"] + ":" + v.Metadata["length"]
		switch v.Reason {
		case fault.ReasonInvalidQuery:
		case fault.ReasonUnknownField:
			out[i] += "?" + v.Metadata["suggestions"]
		default:
			out[i] = v.Reason
		}
		if v.Message == "" || v.Metadata["accepted"] == "" || v.Metadata["attribute"] != "q" {
			t.Errorf("%q: the violation explains nothing: %+v", q, v)
		}
		if p := v.Metadata["position"]; p != "" {
			at, err := strconv.Atoi(p)
			length, errLength := strconv.Atoi(v.Metadata["length"])
			if err != nil || errLength != nil || at < 1 || length < 1 || at+length-1 > max(1, utf8.RuneCountInString(q)) {
				t.Errorf("%q: the place %s, %s is not within it", q, p, v.Metadata["length"])
			}
		}
	}
	return strings.Join(out, " ")
}

func TestWhatAQueryMeans(t *testing.T) {
	t.Parallel()
	for q, want := range map[string]string{ // the query as it is printed, or ! and the places of mistakes
		// Words, as there have always been.
		"tea":                       "tea",
		"  tea \t green\n":          "green tea",
		"tea tea":                   "tea",
		"order-77123456":            "order-77123456",
		"12:30":                     "12:30",
		"2026-11-30T12:00:00Z":      "2026-11-30T12:00:00Z",
		"http://x.test/a?b=c&d":     "http://x.test/a?b=c&d",
		"https://x.test:8443/y":     "https://x.test:8443/y",
		"ftp://x.test/y":            `"ftp://x.test/y"`,
		"urn:uuid:0-1":              "urn:uuid:0-1",
		"mailto:a@b.test":           "mailto:a@b.test",
		"a@b.test":                  "a@b.test",
		"10.0.0.1:9092":             "10.0.0.1:9092",
		"localhost:8080":            `"localhost:8080"`,
		"aa:bb:cc:00:11:22":         `"aa:bb:cc:00:11:22"`,
		"fe80::1":                   `"fe80::1"`,
		"std::vector":               `"std::vector"`,
		`C:\logs\x`:                 `"C:\logs\x"`,
		"/var/log/x.log":            "/var/log/x.log",
		"Error:":                    `"Error:"`,
		":8080":                     `":8080"`,
		"dGVzdA==":                  `"dGVzdA=="`,
		"1=1":                       "1=1",
		"1.5":                       "1.5",
		"and or not":                "and not or",
		"ANDROID NOTE":              "ANDROID NOTE",
		"tea -":                     "tea",
		"a-b C++ a||b a&&b 1==1":    "1==1 C++ a&&b a-b a||b",
		"hello! wow!x a—b 5” ‼️ x":  "5” a—b hello! wow!x x",
		"-5 - ! … — )":              "!12:1",
		"=== RUN a|b R & D":         "D R RUN a|b",
		"example.org:443 db-1:5432": `"db-1:5432" "example.org:443"`,
		`"status:500"`:              `"status:500"`,
		`"room" :8080`:              `":8080" room`,
		`"“green tea”" "!a" "a||"`:  `"!a" "a||" "“green tea”"`,
		"tea … / .":                 "tea",
		"well-known co-op":          "co-op well-known",
		"日本語":                       "日本語",
		"～/logs ~/logs":             "~/logs ～/logs",
		"data.a type severity room": "data.a room severity type",
		// Phrases, prefixes, parts.
		`"green tea"`:      `"green tea"`,
		`"tea"`:            "tea",
		`"say \"hi\" C:\"`: "!1:16",
		`"C:\\"`:           `"C:\\"`,
		`"C:\logs"`:        `"C:\logs"`,
		`"AND" "-tea"`:     `"-tea" "AND"`,
		"pre* order-7*":    "order-7* pre*",
		`"green t"*`:       `"green t"*`,
		`~"part of"`:       `~"part of"`,
		"~tea":             "~tea",
		"*":                "*",
		"* tea":            "tea",
		"-*":               "-*",
		// Operators.
		"a b OR c d":                "a b OR c d",
		"a AND b":                   "a b",
		"a (b OR c)":                "a (b OR c)",
		"(a OR b) OR (c)":           "a OR b OR c",
		"((a b))":                   "a b",
		"NOT a -b":                  "-a -b",
		"NOT NOT a":                 "a",
		"--a":                       "a",
		"NOT (a OR b)":              "-(a OR b)",
		"-(a b) OR c":               "c OR -(a b)",
		`-"a b"`:                    `-"a b"`,
		"-5":                        "-5",
		"f(x)":                      "f x",
		"a(b OR c)d":                "a d (b OR c)",
		"-AND":                      `-"AND"`,
		"tea AND green OR NOT blue": "-blue OR green tea",
		// Fields.
		"type:order":                             "type:order",
		"type=order":                             "type:order",
		"type!=order":                            "-type:order",
		"-type!=order":                           "type:order",
		`type:"an order"`:                        `type:"an order"`,
		"type:(a OR b)":                          "type:(a OR b)",
		"type:a OR type:b":                       "type:(a OR b)",
		"tag:(a b) room:x":                       "room:x tag:(a b)",
		"type:(a OR (b -c))":                     "type:a OR type:b -type:c",
		"type!=(a OR b)":                         "-type:(a OR b)",
		"subject:*":                              "subject:*",
		"-subject:*":                             "-subject:*",
		"source:urn:x source:C:\\logs":           `source:(C:\logs urn:x)`,
		"source://x/y":                           "source://x/y",
		"id:12345":                               "id:12345",
		"id:(-5 OR -x)":                          `id:-5 OR -id:x`,
		"type:null":                              "!1:9",
		`type:"null"`:                            `type:"null"`,
		"severity:WARN":                          "severity:warning",
		"severity>=warn":                         "severity>=warning",
		"severity:(error OR critical)":           "severity:(critical OR error)",
		"-severity:*":                            "-severity:*",
		"room:kitchen device:pre*":               "device:pre* room:kitchen",
		"room:AND":                               `room:"AND"`,
		`type~"declin" ext.a~"x"`:                `type~"declin" ext.a~"x"`,
		`type~declin backup~1 data.x~a*b`:        `"backup~1" type~"declin" data.x~"a*b"`,
		"ext.retry>3 ext.retry<=-1.5e3":          "ext.retry<=-1.5e3 ext.retry>3",
		"trace:4BF92F3577B34DA6A3CE929D0E0E4736": "trace:4bf92f3577b34da6a3ce929d0e0e4736",
		"trace:4BF9*":                            "trace:4bf9*",
		// The data.
		"data.a:1":                        "data.a:1",
		`data.a:"1"`:                      `data.a:"1"`,
		`data.a:"x"`:                      "data.a:x",
		`data."a":true data.b:"true"`:     `data.a:true data.b:"true"`,
		`data.a:"" data.a:null -data.a:*`: `data.a:("" null) -data.a:*`,
		`data.a:"null"`:                   `data.a:"null"`,
		"data.a:-5":                       "data.a:-5",
		"data.a:(-5 OR -7)":               "data.a:(-5 OR -7)",
		"data.a:(-x OR NOT 5)":            "-data.a:5 OR -data.a:x",
		"data.items[*].sku:x data.i[0]:y": "data.i[0]:y data.items[*].sku:x",
		`data."a.b (c)"."":1`:             `data."a.b (c)"."":1`,
		"data[*]:1 data:x data[2].a:1":    "data:x data[*]:1 data[2].a:1",
		"data.a>=9007199254740993":        "data.a>=9007199254740993",
		"data.$x:1 data.@id:2 data.日本:3":  "data.$x:1 data.@id:2 data.日本:3",
		"data.a-b:1":                      "data.a-b:1",
		`data.a~"\\"`:                     `data.a~"\\"`,
		// Mistakes.
		"…":                        "!EMPTY_QUERY",
		"":                         "!EMPTY_QUERY",
		" -- ... ":                 "!EMPTY_QUERY",
		`"" "…"`:                   "!EMPTY_QUERY",
		`say"hi"`:                  "!4:1",
		`"hi"there`:                "!5:1",
		`"a" "b`:                   "!5:2",
		"(a":                       "!1:1",
		"a) b":                     "!2:1",
		"()":                       "!1:2",
		"a OR":                     "!3:2",
		"OR a":                     "!1:2",
		"a AND OR b":               "!3:3",
		"(AND)":                    "!2:3",
		"a NOT":                    "!3:3",
		"日本 OR":                    "!4:2",
		"a*b":                      "!2:1",
		"*x":                       "!1:1",
		"-*a OR **":                "!2:1 8:1",
		`.* "…"*`:                  "!1:2 4:4",
		"<5":                       "!1:1",
		"12>5":                     "!3:1",
		"a->b":                     "!1:2?data.a-",
		"type: order":              "!1:6",
		"type:":                    "!1:5",
		"type:a*b":                 "!1:8",
		"type:>=5":                 "!1:8",
		`type:""*`:                 "!6:3",
		`type:a"b"`:                "!7:1",
		"type>5":                   "!1:6",
		"data.a>x":                 "!1:8",
		"data.a>=":                 "!1:8",
		`data.a>"5"`:               "!8:1",
		"severity:fatal":           "!1:14",
		"severity:err*":            "!1:13",
		"severity>=loud":           "!1:14",
		`severity~"err"`:           "!1:14",
		`~"" ~"` + "\u00ad\"":      "!1:3 5:4",
		"trace:abc":                "!1:9",
		"user:bob":                 "!1:4?data.user, ext.user",
		`user:"bob" x:(a OR b) ok`: "!1:4?data.user, ext.user 12:1?data.x, ext.x",
		`user~"bob"`:               "!1:4?data.user, ext.user",
		"tyep:order":               "!1:4?type, data.tyep, ext.tyep",
		"Severity:error":           "!1:8?severity, data.Severity, ext.severity",
		"rooms:x":                  "!1:5?room, data.rooms, ext.rooms",
		"häuser:x":                 "!1:6?data.häuser",
		"data.items[x]:1":          "!1:13?",
		"data.a..b:1":              "!1:9?",
		"ext.Retry:1":              "!1:9?ext.retry",
		"orderId:x OR (b":          "!1:7?data.orderId, ext.orderid 14:1",
		`type: "x" OR) ~"" -`:      "!1:6 11:2 13:1 15:3",
		// A number alone makes no word of a field that there is not.
		"status:500":    "!1:6?data.status, ext.status",
		"amount:100 x":  "!1:6?data.amount, ext.amount",
		"-(a rooms:7)":  "!5:5?room, data.rooms, ext.rooms",
		"LOCALHOST:443": `"LOCALHOST:443"`,
		// What other languages write.
		"tea - green":            "!5:2",
		"!declined":              "!1:1",
		"a –b —(c d) OR !type:x": "!3:1 6:1 16:1",
		`!"a b" −5 NOT - x -!y`:  "!1:1 8:1 15:2 20:1",
		"tea – green":            "!5:2",
		"tag:(a !b) tag:(a - b)": "!8:1 19:2",
		"a || b && c":            "!3:2 8:2",
		"a&& ||b tag:(a || b)":   "!2:2 5:2 16:2",
		"a == b":                 "!3:2",
		"data.n == 5":            "!1:10",
		"data.n = 5 a":           "!1:9",
		"data.n==5":              "!1:9",
		// Comparisons alone may have spaces around them: < and > are in no word.
		"data.n > 5 tea":                "tea data.n>5",
		"data.n >= 5 OR ext.n<-1e3":     "ext.n<-1e3 OR data.n>=5",
		"data.n> 5 data.n \u00a0<\t7":   "data.n>5 data.n<7",
		"-data.a-b >-5 (data <2)":       "data<2 -data.a-b>-5",
		`data."a b"[*].c <= 5`:          `data."a b"[*].c<=5`,
		`data."a b" > 5 severity >= e`:  `!16:13`,
		"NOT severity  >=  warn x":      "x -severity>=warning",
		"data.n >":                      "!1:8",
		"data.n > ":                     "!1:9",
		"data.n > x":                    "!1:10",
		"data.n > >5":                   "!1:11",
		"data.n > = 5":                  "!1:10",
		"data.n <> 5":                   "!1:9",
		`data.n > "5"`:                  "!10:1",
		"data.n > AND x":                "!1:12",
		"data.n > (5) y":                "!1:9",
		"type:(data.n > 5)":             "!14:1",
		"type:data.n > 5":               "!13:1",
		`"data.n" > 5`:                  "!10:1",
		"12 > 5":                        "!4:1",
		"data.n -> 5":                   "!9:1",
		"total > 100 tea":               "!1:5?data.total, ext.total",
		"a total>= 100":                 "!3:5?data.total, ext.total",
		"data.a..b > 5":                 "!1:9?",
		"localhost:80 > 5":              "!14:1",
		"data.n => 5 -a":                "!1:10",
		"type > 5":                      "!1:8",
		"room : hall":                   "!1:7",
		"room :hall":                    "!1:6",
		"x room =\"a b\" (type :)":      "!3:6 16:6",
		`data."a b" != 5`:               "!1:14",
		"“green tea” x":                 "!1:11",
		"type:“a b” -„x“ ~“y z”":        "!6:5 13:3 18:5",
		"type~“x tea":                   "!6:2",
		`data.“a b”:1 “x" y`:            "!6:5 14:3",
		"data.n:[1 TO 5] x":             "!1:15",
		"data.n:{1 TO *} type:[a TO b]": "!1:15 17:13",
		"severity:([info TO error}) count:[1 TO 5]": "!11:15 28:5?data.count, ext.count",
	} {
		n, violations := Parse(testSchema(), "q", q)
		got := "!" + told(t, q, violations)
		if len(violations) == 0 {
			got = Format(n)
		}
		if got != want {
			t.Errorf("%s means\n\t%s, not\n\t%s", q, got, want)
		}
	}
}

func TestWhatIsRefusedIsToldInTheLanguage(t *testing.T) {
	t.Parallel()
	for q, want := range map[string]string{ // what is accepted begins so
		`!type:"a b"`: `-type:"a b" `, "- -x": "-x ", "data.n == 5": "no spaces: data.n:5;", `room = "a b"`: `no spaces: room:"a b";`, "data.n =< 5": "no spaces: data.n<=5;",
		"data.n:[1 TO 5}": "data.n>=1 data.n<5", "severity:{info TO *]": "severity>info", "“green tea”": `straight quotes: "green tea"`, "a || b": "OR", "a && b": "AND", "data.n==5": "one : or = and the value right behind it, such as data.n:5;",
	} {
		if _, violations := Parse(testSchema(), "q", q); len(violations) != 1 || !strings.HasPrefix(violations[0].Metadata["accepted"], want) {
			t.Errorf("%s: %v, not %s", q, violations, want)
		}
	}
}

// replaced is the query with what would mend its mistakes in their places, from the last to the first.
func replaced(t *testing.T, q string, violations []fault.Violation) string {
	t.Helper()
	runes := []rune(q)
	for i := len(violations) - 1; i >= 0; i-- {
		m := violations[i].Metadata
		replacement, ok := m["replacement"]
		if !ok {
			continue
		}
		at, err := strconv.Atoi(m["position"])
		length, errLength := strconv.Atoi(m["length"])
		if err != nil || errLength != nil {
			t.Fatalf("%s: %v", q, m)
		}
		runes = append(runes[:at-1:at-1], append([]rune(replacement), runes[at-1+length:]...)...)
	}
	return string(runes)
}

func TestWhatCanBeMendedIsMended(t *testing.T) {
	t.Parallel()
	for q, want := range map[string]string{
		"data.total:>100": "data.total>100", "a data.total:>=1e3 b": "a data.total>=1e3 b", "data.total=>100": "data.total>100", "severity:>=warn": "severity>=warn", "data.total: >100": "data.total>100",
		"data.n:> 5": "", "data.n==5": "data.n:5", "type==x": "type:x", "type:>5": "", "data.n!=>5": "", "data.n:(>5)": "", "data.n:>x": "", "data.n!==5": "",
		"data.n == 5": "data.n:5", `x room = "a b"`: `x room:"a b"`, "room : (a b)": "room:(a b)", "data.n => 5": "data.n>=5", "data.n =< 5": "data.n<=5", "severity => loud": "", "room : ": "", "-room : hall": "-room:hall", `data."a b" != 5`: `data."a b"!=5`,
		"type: order": "type:order", `type: "a b" x`: `type:"a b" x`, "type:": "", "type: AND x": "", "type: room:hall": "", "type: (a b)": "type:(a b)", "severity: loud": "", "data.n: - 5": "data.n:-5",
		"data.n:[1 TO 5} x": "data.n>=1 data.n<5 x", "-data.n:[1 TO 5]": "-(data.n>=1 data.n<=5)", "NOT data.n:[1 TO 5]": "NOT (data.n>=1 data.n<=5)", "data.n:{* TO 5]": "data.n<=5", "-data.n:[* TO *]": "-data.n:*", "data.n:([1 TO 5])": "", "data.n:[a TO b]": "", "data.n!=[1 TO 5]": "", "type:[1 TO 5]": "", "data.n:[1 TO 5]^2": "",
		"“green tea” x": `"green tea" x`, "type:“a b”": `type:"a b"`, "“a b”c": "", "!declined": "-declined", "a – b": "a -b", "tea - green": "tea -green", "- -x": "", "—(c d)": "-(c d)",
		"a && b || c": "a AND b OR c", "a&& b": "a AND b", "a ||b": "a OR b", "a == b": "", "total>5": "", "severity:loud": "",
	} {
		_, violations := Parse(testSchema(), "q", q)
		if len(violations) == 0 {
			t.Errorf("%s is no mistake", q)
			continue
		}
		got := replaced(t, q, violations)
		if want == "" {
			want = q
		} else if _, violations := Parse(testSchema(), "q", got); len(violations) > 0 {
			t.Errorf("%s is mended to %s, which is refused: %v", q, got, violations)
		}
		if got != want {
			t.Errorf("%s is mended to %s, not %s", q, got, want)
		}
	}
}

func TestAFieldThatThereIsNotMayHaveBeenOneOfTheData(t *testing.T) {
	t.Parallel()
	for q, want := range map[string]string{
		"total>5": `There is no field "total"; a member of the data is written data.total, an extension ext.total,`, "tyep:x": `There is no field "tyep", but type; a member of the data is written data.tyep, an extension ext.tyep,`,
		"häuser:x": `There is no field "häuser"; a member of the data is written data.häuser,`, "Severity:x": `There is no field "Severity", but severity; a`,
	} {
		if _, violations := Parse(testSchema(), "q", q); len(violations) != 1 || !strings.HasPrefix(violations[0].Message, want) {
			t.Errorf("%s: %v, not %s", q, violations, want)
		}
	}
}

func TestTheConditionsOfAQuery(t *testing.T) {
	t.Parallel()
	data := func(path string) Field { return Field{Data, path} }
	for q, want := range map[string]Node{
		"tea":                     Word{"tea"},
		"tea -milk":               And{Not{Word{"milk"}}, Word{"tea"}},
		"pre*":                    Prefix{Field{}, "pre"},
		`~"x y"`:                  Contains{Field{}, "x y"},
		"*":                       And{},
		"-*":                      Or{},
		"subject:":                nil,
		`subject:""`:              Equal{Field{Attribute, "subject"}, "", true},
		"data.n:1":                Equal{data("n"), "1", false},
		`data.n:"1"`:              Equal{data("n"), "1", true},
		`data.n:"a"`:              Equal{data("n"), "a", false},
		`ext.n:"1"`:               Equal{Field{Extension, "n"}, "1", false},
		"data.n:null":             Null{data("n")},
		"data.n:*":                Exists{data("n")},
		"data:*":                  Exists{data("")},
		`data."a.b"[0]."".c[*]<5`: Compare{data(`"a.b"[0]."".c[*]`), Less, "5"},
		"severity<=Warn":          Compare{Field{Kind: Severity}, AtMost, "warning"},
		"room:x*":                 Prefix{Field{Facet, "room"}, "x"},
		"ext.room:x":              Equal{Field{Extension, "room"}, "x", false},
		"trace:*":                 Exists{Field{Kind: Trace}},
	} {
		if n, _ := Parse(testSchema(), "q", q); !reflect.DeepEqual(n, want) {
			t.Errorf("%s means %#v, not %#v", q, n, want)
		}
	}
}

func TestTheLimitsOfAQuery(t *testing.T) {
	t.Parallel()
	deep := func(n int) string { return strings.Repeat("(", n) + "a" + strings.Repeat(")", n) }
	for q, want := range map[string]string{
		strings.Repeat("x", MaxQuery):         "",
		strings.Repeat("x", MaxQuery+1):       fault.ReasonInvalidParameter,
		manyWords(MaxConditions):              "",
		manyWords(MaxConditions + 1):          fault.ReasonInvalidParameter,
		"type:(" + manyWords(65) + ")":        fault.ReasonInvalidParameter,
		deep(MaxDepth):                        "",
		deep(MaxDepth + 1):                    "33:1",
		"type:" + deep(MaxDepth+1):            "38:1",
		strings.Repeat("-", MaxQuery-1) + "a": "",
	} {
		_, violations := Parse(testSchema(), "q", q)
		if got := told(t, q, violations); got != want {
			t.Errorf("%.40s…: %s, not %s", q, got, want)
		}
	}
	if _, violations := Parse(testSchema(), "q", strings.Repeat("* <", 1000)); len(violations) != maxViolations {
		t.Errorf("%d mistakes are told", len(violations))
	}
}

func manyWords(n int) string {
	ws := make([]string, n)
	for i := range ws {
		ws[i] = "w" + strconv.Itoa(i)
	}
	return strings.Join(ws, " ")
}

func TestAFacetFieldComesFromTheConfiguration(t *testing.T) {
	t.Parallel()
	n, violations := Parse(Schema{Facets: []string{"ward"}}, "q", "ward:7 OR room-1:7")
	if told(t, "ward:7 OR room-1:7", violations) != "" {
		t.Fatal(violations)
	}
	if want := Node(Or{Word{"room-1:7"}, Equal{Field{Facet, "ward"}, "7", false}}); !reflect.DeepEqual(n, want) {
		t.Errorf("%#v", n)
	}
	for name, ok := range map[string]bool{
		"ward": true, "w2_x-y": true, "type": false, "from": false, "Ward": false, "": false, "urn": false, "a.b": false, "data": false,
		"by": false, "extension": false,
	} {
		if err := CheckFacet(name); (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestFieldsAreSpelledOneWay(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"type": "type", "id": "id", "severity": "severity", "trace": "trace", "tag": "tag", "ext.a1": "ext.a1",
		"data": "data", "data.a": "data.a", `data."a"`: "data.a", `data."a b".c[*]`: `data."a b".c[*]`, "data[0]": "data[0]", `data.""`: `data.""`,
		`data."\a"`: "data.a", `data."[*]"`: `data."[*]"`, "data.a[12].b": "data.a[12].b",
		"": "!", "Type": "!", "ext.": "!", "ext.A": "!", "ext.abcdefghijklmnopqrstu": "!", "data.": "!", "data.[0]": "!", "data[01]": "!",
		"data[1234567890]": "!", "database": "!", "data.a b": "!", `data."a`: "!", "data.a.": "!", "shelf": "!",
	} {
		got := "!"
		if f, err := FieldOf(testSchema(), name); err == nil {
			got = f.String()
		}
		if got != want {
			t.Errorf("%s is %s, not %s", name, got, want)
		}
	}
}
