package search

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestFieldsAreWhatEventsHave(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	st.add(
		sample{at: noon().Add(-3 * time.Minute), kind: "a", severity: 6, data: []byte(`{"n":1.0,"big":9007199254740993,"s":"x","list":[{"k":1},{"k":2},{"k":1}],"dup":1,"dup":"y"}`), facets: []string{"room=r"}},
		sample{at: noon().Add(-2 * time.Minute), kind: "a", data: []byte(`{"n":1,"big":9007199254740992,"s":"","none":null,"a b":true}`), extensions: []string{"region", "string", "eu"}},
		sample{at: noon().Add(-time.Minute), kind: "b", data: []byte(`{"n":"1","n2":-1e400}`)},
		sample{at: noon().Add(-time.Minute), kind: "c", contentType: "text/plain", data: []byte(`{"no":"json"}`)},
		sample{at: noon().Add(-time.Minute), kind: "d", data: []byte(`{"cut":1`)},
	)
	st.exec(`INSERT INTO type_path (type, path, kinds) VALUES ('a', 'n', 2), ('b', 'old.path', 3), ('z', 'elsewhere', 1), ('c', '*', 0) ON CONFLICT DO NOTHING`)
	f, err := st.svc.Fields(t.Context(), values())
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]FieldStatistics{}
	var names []string
	for _, x := range f.Fields {
		byName[x.Field] = x
		names = append(names, x.Field)
	}
	if f.Sample != 5 || !f.More || f.Snapshot == "" {
		t.Errorf("a sample of %d, more %v", f.Sample, f.More)
	}
	for name, want := range map[string]string{
		"type":           "[string] 5 of 4 exact: a=2 b=1 c=1 d=1, to ",
		"severity":       "[string] 1 of 1 exact: error=1, to ",
		"room":           "[string] 1 of 1 exact: r=1, to ",
		"ext.region":     "[string] 1 of 1 exact: eu=1, to ",
		"data.n":         "[string number] 3 of 2 exact: 1=3, 1 to 1",
		"data.big":       "[number] 2 of 2 exact: 9007199254740992=1 9007199254740993=1, 9007199254740992 to 9007199254740993",
		"data.s":         "[string] 2 of 2 exact: =1 x=1, to ",
		"data.list":      "[array] 1 of 0 exact: , to ",
		"data.list[*]":   "[object] 1 of 0 exact: , to ",
		"data.list[*].k": "[number] 1 of 2 exact: 1=1 2=1, 1 to 2",
		"data.dup":       "[string number] 1 of 2 exact: 1=1 y=1, 1 to 1",
		"data.none":      "[null] 1 of 0 exact: , to ",
		`data."a b"`:     "[boolean] 1 of 1 exact: true=1, to ",
		"data.n2":        "[number] 1 of 1 exact: -1e400=1, -1e400 to -1e400",
		"data.old.path":  "[string number] 0 of 0 exact: , to ",
		"data":           "[object] 3 of 0 exact: , to ",
	} {
		x, ok := byName[name]
		var top []string
		for _, v := range x.Top {
			top = append(top, fmt.Sprintf("%s=%d", v.Value, v.Count))
		}
		got := fmt.Sprintf("%v %d of %d %s: %s, %s to %s", x.Kinds, x.Present, x.Distinct, x.DistinctIs, strings.Join(top, " "), x.Least, x.Most)
		if !ok || strings.ReplaceAll(got, ",  to", ", to") != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	for _, name := range []string{"data.elsewhere", "data.*", "data.no", "data.cut"} {
		if x, ok := byName[name]; ok && x.Present != 1 {
			t.Errorf("%s is a field", name)
		}
	}
	if x := byName["data.n"]; !x.FirstSeen.Equal(noon().Add(-3*time.Minute)) || !x.LastSeen.Equal(noon().Add(-time.Minute)) {
		t.Errorf("seen from %s to %s", x.FirstSeen, x.LastSeen)
	}
	if slices.Index(names, "type") > slices.Index(names, "ext.region") || slices.Index(names, "ext.region") > slices.Index(names, "data.n") ||
		slices.Index(names, "data.n") > slices.Index(names, "data.big") || slices.Index(names, "data.big") > slices.Index(names, "data.old.path") {
		t.Errorf("not in order: %v", names)
	}

	if f, err = st.svc.Fields(t.Context(), values("contains", "OLD")); err != nil || len(f.Fields) != 1 || f.Fields[0].Field != "data.old.path" {
		t.Errorf("a path that was never loaded: %+v, %v", f, err)
	}
	if f, err = st.svc.Fields(t.Context(), values("limit", "2")); err != nil || len(f.Fields) != 2 || !f.More {
		t.Errorf("two of many: %+v, %v", f, err)
	}
	if f, err = st.svc.Fields(t.Context(), values("field", "data.big", "type", "a")); err != nil || len(f.Fields) != 1 || f.Fields[0].Distinct != 2 || f.Sample != 2 {
		t.Errorf("one field: %+v, %v", f, err)
	}
	for name, want := range map[string]string{
		"data.old.path": "[string number] false", // as in the list
		"data.nowhere":  "[] true",               // a type has paths that are not listed
		"ext.nowhere":   "[] false",
	} {
		if f, err = st.svc.Fields(t.Context(), values("field", name)); err != nil || len(f.Fields) != 1 || f.Fields[0].Present != 0 || fmt.Sprint(f.Fields[0].Kinds, " ", f.More) != want {
			t.Errorf("%s, which nothing of the sample has: %+v, %v, want %s", name, f, err, want)
		}
	}
	if f, err = st.svc.Fields(t.Context(), values("field", "data.nowhere", "type", "b")); err != nil || len(f.Fields[0].Kinds) != 0 || f.More {
		t.Errorf("a field of no type of the filter: %+v, %v", f, err)
	}
	st.svc.limits.set, st.svc.sets = 2, newSets(1<<20)
	if f, err = st.svc.Fields(t.Context(), values("field", "type")); err != nil || f.Sample != 2 || f.Fields[0].DistinctIs != IsSampled || f.Covered.From.Before(noon().Add(-time.Minute)) {
		t.Errorf("a sample: %+v, %v", f, err)
	}
}
