package app_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"oriel/server/apptest"
	"oriel/server/dbtest"
)

// What an operator configures is a field like the built-in ones, everywhere; and a change of it changes nothing that
// is stored.
func TestAConfiguredFacetIsAFieldEverywhere(t *testing.T) {
	t.Parallel()
	dbtest.EachBroker(t, 2, func(t *testing.T, b dbtest.Broker) {
		in := apptest.Install(t, b)
		listen := apptest.FreeAddr(t)
		first := in.Serve(t, listen)
		a := &asker{t, "http://" + listen, in, ""}
		now := time.Now().UTC().Truncate(time.Hour)
		send := func(from, to int) {
			t.Helper()
			var events []map[string]any
			for i := from; i < to; i++ {
				e := event(fmt.Sprint(i), now.Add(-time.Duration(i%3)*time.Hour).Format(time.RFC3339), map[string]any{
					"roomId": "hall", "place": map[string]any{"line": fmt.Sprintf("line %d", i%2)}, "level": i % 4, "silent": i%2 == 0,
					"order": map[string]any{"no": fmt.Sprintf("ORD-%06d", i)}, "log": map[string]any{"level": "Critical"},
				})
				e["region"] = "north"
				events = append(events, e)
			}
			if status, answer := a.batch(events...); status != http.StatusOK {
				t.Fatalf("%d %s", status, answer)
			}
		}
		send(0, 6)
		a.until(6)
		first.Stop(20 * time.Second)
		in.Serve(t, listen, "ORIEL_FACETS=line=data.place.line,level=data.level,silent=data.silent,order=data.order.no,region=region,person=",
			"ORIEL_FACETS_COUNTED=line,silent", "ORIEL_SEVERITY_PATH=data.log.level")
		send(6, 18)
		a.until(18)

		var site struct{ Facets []string }
		if code := apptest.GetJSON(t, a.addr+"/v1/session", in.Reader, &site); code != http.StatusOK ||
			strings.Join(site.Facets, " ") != "device level line order region room silent tag" {
			t.Errorf("the installation has %v", site.Facets)
		}
		sequence := func(step, of int) (ids []string) {
			for i := 6; i < 18; i++ {
				if i%step == of {
					ids = append(ids, fmt.Sprint(i))
				}
			}
			slices.Sort(ids)
			return ids
		}
		for name, c := range map[string]struct {
			params []string
			want   []string
		}{
			"a value":              {[]string{"line", "line 1"}, sequence(2, 1)},
			"a number":             {[]string{"level", "3"}, sequence(4, 3)},
			"true":                 {[]string{"silent", "true"}, sequence(2, 0)},
			"an identifier":        {[]string{"order", "ORD-000009"}, []string{"9"}},
			"another value":        {[]string{"line!", "line 1", "region", "north"}, sequence(2, 0)},
			"the language":         {[]string{"q", `line:"line 0" level:(0 OR 3)`}, sequence(4, 0)},
			"any":                  {[]string{"q", "order:*"}, sequence(1, 0)},
			"stored before":        {[]string{"q", "-order:*"}, []string{"0", "1", "2", "3", "4", "5"}},
			"severity of the data": {[]string{"severity", "critical"}, sequence(1, 0)},
		} {
			if got := a.ids(c.params...); !slices.Equal(got, c.want) {
				t.Errorf("%s: %v, want %v", name, got, c.want)
			}
		}
		if code, body := apptest.Get(t, a.addr+"/v1/events?person=x", in.Reader); code != http.StatusBadRequest || !strings.Contains(string(body), "UNKNOWN_PARAMETER") {
			t.Errorf("a field that was taken away answers %d %s", code, body)
		}

		var f struct {
			Facets []struct {
				Field, Relation string
				Missing         int
				Values          []struct {
					Value string
					Count int
				}
			}
		}
		a.ask(":facets", &f, "line", "line 1")
		told := map[string]string{}
		for _, x := range f.Facets {
			told[x.Field] = fmt.Sprint(x.Values, x.Missing, x.Relation)
		}
		for field, want := range map[string]string{
			"line":   "[{line 0 6} {line 1 6}]6exact",
			"silent": "[{false 6}]0exact", "region": "[{north 6}]0exact", "level": "[{1 3} {3 3}]0exact",
		} {
			if strings.ReplaceAll(told[field], " ", "") != strings.ReplaceAll(want, " ", "") {
				t.Errorf("%s: %s, want %s", field, told[field], want)
			}
		}
		var h struct {
			Split   []string
			Buckets []struct {
				Count, Rest int
				Split       []int
			}
		}
		a.ask(":histogram", &h, "splitBy", "line", "interval", "1h")
		split, rest := map[string]int{}, 0
		for _, bucket := range h.Buckets {
			rest += bucket.Rest
			for i, n := range bucket.Split {
				split[h.Split[i]] += n
			}
		}
		if fmt.Sprint(split, rest) != "map[line 0:6 line 1:6] 6" {
			t.Errorf("the histogram is split into %v and %d", split, rest)
		}
		for text, want := range map[string]string{"lin": "line", "line:": "line 0,line 1,*", "order:ORD-00001": "ORD-000010"} {
			var s struct{ Suggestions []struct{ Kind, Text string } }
			a.ask(":suggest", &s, "text", text, "position", fmt.Sprint(len(text)))
			var texts []string
			for _, x := range s.Suggestions {
				texts = append(texts, x.Text)
			}
			if !strings.HasPrefix(strings.Join(texts, ","), want) {
				t.Errorf("%q suggests %v, want %s", text, texts, want)
			}
		}
		type present struct {
			Field   string
			Present int
		}
		var fields struct{ Fields []present }
		a.ask(":fields", &fields, "contains", "order")
		if !slices.Contains(fields.Fields, present{"order", 12}) {
			t.Errorf("the fields are %+v", fields.Fields)
		}
		if out := apptest.Run(t, in.Env, "check", "rollups"); !strings.Contains(out, ": 0 differ") {
			t.Error(out)
		}
		if out := apptest.Fails(t, append(slices.Clone(in.Env), "ORIEL_FACETS=zone=data.a,x=data..b", "ORIEL_FACETS_COUNTED=y"), "serve"); !strings.Contains(out, `ORIEL_FACETS: "zone"`) ||
			!strings.Contains(out, "x=data..b") || !strings.Contains(out, `ORIEL_FACETS_COUNTED: "y"`) {
			t.Errorf("serve says %s", out)
		}
	})
}
