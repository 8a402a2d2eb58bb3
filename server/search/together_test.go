package search

import (
	"errors"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"oriel/server/fault"
)

func TestEverythingWrongWithAnyRequestIsReportedTogether(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	for i := range 3 {
		st.add(sample{id: strconv.Itoa(i), offset: int64(i)})
	}
	page := st.list("pageSize", "1", "from", "-2h")
	list := func(v url.Values) error { _, err := st.svc.List(t.Context(), v); return err }
	snapshot := func(v url.Values) error { _, err := st.svc.Snapshot(t.Context(), v); return err }
	get := func(v url.Values) error { _, err := st.svc.Get(t.Context(), "no-colon", v); return err }
	for name, c := range map[string]struct {
		ask    func(url.Values) error
		params url.Values
		want   string
	}{
		"a range that is empty and a stranger":         {list, values("foo", "1", "from", "-1h", "until", "-2h"), "UNKNOWN_PARAMETER foo, INVALID_PARAMETER until"},
		"a bound that is no time makes no empty range": {list, values("from", "x", "until", "-2d"), "INVALID_PARAMETER from"},
		"a snapshot of another range":                  {list, values("snapshot", page.Snapshot, "from", "-1h", "until", "now"), "INVALID_PARAMETER from, INVALID_PARAMETER until"},
		"a page token of another search in two ways":   {list, values("pageToken", page.NextToken, "q", "tea", "from", "-1h"), "INVALID_PAGE_TOKEN pageToken, INVALID_PAGE_TOKEN pageToken"},
		"a page token beside a snapshot that it is of": {list, values("pageToken", page.NextToken, "snapshot", page.Snapshot, "until", "now"), "INVALID_PARAMETER until, INVALID_PAGE_TOKEN pageToken"},
		"a snapshot asked with a stranger and no time": {snapshot, values("foo", "1", "from", "x"), "UNKNOWN_PARAMETER foo, INVALID_PARAMETER from"},
		"a snapshot of a filter":                       {snapshot, values("q", "tea", "v", "1", "until", "-2d"), "UNKNOWN_PARAMETER q, UNKNOWN_PARAMETER v, INVALID_PARAMETER until"},
		"a snapshot with a bound twice":                {snapshot, values("from", "-1h", "from", "-2h"), "INVALID_PARAMETER from"},
		"an event by no name, at no time, and more":    {get, values("foo", "1", "time", "noon"), "INVALID_PARAMETER event, UNKNOWN_PARAMETER foo, INVALID_PARAMETER time"},
		"an event at two times":                        {get, values("time", "2026-11-30T12:00:00Z", "time", "2026-11-30T13:00:00Z"), "INVALID_PARAMETER event, INVALID_PARAMETER time"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := c.ask(c.params)
			if err == nil {
				t.Fatal("accepted")
			}
			if got := strings.Join(violationsOf(t, err), ", "); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// violationsOf are reason and attribute of everything that was wrong.
func violationsOf(t testing.TB, err error) []string {
	t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) {
		t.Fatalf("not a public error: %v", err)
	}
	out := make([]string, len(f.Violations))
	for i, v := range f.Violations {
		out[i] = v.Reason + " " + v.Metadata["attribute"]
		if v.Metadata["accepted"] == "" && v.Metadata["limit"] == "" {
			t.Errorf("%s does not say what is accepted", out[i])
		}
	}
	return out
}
