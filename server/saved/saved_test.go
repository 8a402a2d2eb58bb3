package saved

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"oriel/server/dbtest"
	"oriel/server/fault"
	"oriel/server/query"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m, dbtest.IgnoreServers()...) }

var (
	ada   = Caller{ID: "issuer#ada", Name: "Ada"}
	ben   = Caller{ID: "issuer#ben", Name: "Ben"}
	chief = Caller{ID: "issuer#chief", Name: "Chief", Admin: true}
	robot = Caller{}
)

func open(t *testing.T) (*Store, *pgxpool.Pool) {
	t.Helper()
	pool := dbtest.New(t)
	return New(pool, query.Schema{Facets: []string{"device", "room", "person", "tag"}}, prometheus.NewRegistry()), pool
}

func (s *Store) mustSave(t *testing.T, c Caller, name, params string, shared bool) *Search {
	t.Helper()
	made, err := s.Create(t.Context(), c, Search{Name: name, Params: params, Shared: shared, View: `{"columns":["type"]}`}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func wants(t *testing.T, err error, kind fault.Kind, reason string) fault.Violation {
	t.Helper()
	public := fault.Of(err)
	if err == nil || public.Kind != kind || public.Violations[0].Reason != reason {
		t.Fatalf("got %v, want %s", err, reason)
	}
	return public.Violations[0]
}

func names(p *Page) (out []string) {
	for _, s := range p.Searches {
		out = append(out, s.Name)
	}
	return out
}

func TestEverybodySeesTheirOwnAndWhatIsShared(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	mine := s.mustSave(t, ada, "mine", "type=a", false)
	shared := s.mustSave(t, ada, "ours", "type=b", true)
	s.mustSave(t, ben, "his", "type=c", false)
	s.mustSave(t, ben, "also ours", "type=d", true)
	for who, want := range map[Caller][]string{
		ada: {"also ours", "mine", "ours"}, ben: {"also ours", "his", "ours"}, chief: {"also ours", "ours"}, robot: {"also ours", "ours"},
	} {
		page, err := s.List(t.Context(), who, 10, "")
		if err != nil || !slices.Equal(names(page), want) || page.Next != "" {
			t.Errorf("%s sees %q, %v, want %q", who.Name, names(page), err, want)
		}
	}
	if got, err := s.Get(t.Context(), robot, shared.ID); err != nil || got.Params != "type=b" || got.View != `{"columns":["type"]}` || got.OwnerName != "Ada" || got.Version != 1 {
		t.Errorf("got %+v, %v", got, err)
	}
	for _, who := range []Caller{ben, chief, robot} {
		_, err := s.Get(t.Context(), who, mine.ID)
		wants(t, err, fault.NotFound, fault.ReasonNotFound)
	}
	_, err := s.Get(t.Context(), ada, 1<<40)
	wants(t, err, fault.NotFound, fault.ReasonNotFound)
}

func TestPagesGoThroughAllByName(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	var want []string
	for i := range 7 {
		name := fmt.Sprintf("n%d", i/2) // two persons may have the same name
		owner := []Caller{ada, ben}[i%2]
		s.mustSave(t, owner, name, "", true)
		want = append(want, name)
	}
	var got []string
	token := ""
	for range 5 {
		page, err := s.List(t.Context(), ada, 2, token)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, names(page)...)
		if token = page.Next; token == "" {
			break
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, bad := range []string{"!", "MTA", "eCB4", strings.Repeat("A", 9)} {
		_, err := s.List(t.Context(), ada, 2, bad)
		wants(t, err, fault.InvalidArgument, fault.ReasonInvalidPageToken)
	}
}

func TestParametersAreKeptInOneSpelling(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	for given, want := range map[string]string{
		"":                                    "",
		"?type=b&type=a&subject=":             "type=a&type=b",
		"until=now&from=-24h&source=%2Fx&v=1": "from=-24h&source=%2Fx&until=now",
		"data.x=1&ext.floor=2&room=k&room!=b": "data.x=1&ext.floor=2&room=k&room%21=b",
		"q=a+b&tag=x":                         "q=a+b&tag=x",
		"arrivedFrom=2026-11-30T10:00:00%2B01:00": "arrivedFrom=2026-11-30T09%3A00%3A00.000000Z",
	} {
		made, err := s.Create(t.Context(), ada, Search{Name: "n " + given, Params: given}, nil)
		if err != nil {
			t.Fatalf("%q: %v", given, err)
		}
		got, _ := url.ParseQuery(made.Params)
		expected, _ := url.ParseQuery(want)
		got.Del("v")
		if got.Encode() != expected.Encode() {
			t.Errorf("%q is kept as %q, want %q", given, made.Params, want)
		}
	}
}

func TestEverythingThatIsWrongIsToldTogether(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	for what, c := range map[string]struct {
		n    Search
		want []string
	}{
		"parameters that no filter has":  {Search{Name: "n", Params: "colour=red&pageSize=5&from=noon"}, []string{"INVALID_PARAMETER from", "UNKNOWN_PARAMETER colour", "UNKNOWN_PARAMETER pageSize"}},
		"a name that nobody can read":    {Search{Name: "a\u202eb", Params: "q=%zz", View: "\x00"}, []string{"INVALID_FIELD displayName", "INVALID_FIELD params", "INVALID_FIELD view"}},
		"no name":                        {Search{Name: " "}, []string{"INVALID_FIELD displayName"}},
		"a name and a view without end":  {Search{Name: strings.Repeat("ü", MaxName+1), View: strings.Repeat("x", MaxView+1)}, []string{"INVALID_FIELD displayName", "INVALID_FIELD view"}},
		"a line feed and a bad encoding": {Search{Name: "a\nb", View: "\xff"}, []string{"INVALID_FIELD displayName", "INVALID_FIELD view"}},
	} {
		_, err := s.Create(t.Context(), ada, c.n, nil)
		var got []string
		for _, v := range fault.Of(err).Violations {
			got = append(got, v.Reason+" "+v.Metadata["attribute"])
		}
		slices.Sort(got)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: found %q, want %q", what, got, c.want)
		}
	}
	var long []string
	for i := range 30 {
		long = append(long, fmt.Sprint("type=", i, strings.Repeat("ü", 500)))
	}
	_, err := s.Create(t.Context(), ada, Search{Name: "n", Params: strings.Join(long, "&")}, nil)
	if e := wants(t, err, fault.InvalidArgument, fault.ReasonInvalidField); e.Metadata["limit"] != "24576" || !strings.Contains(e.Message, "24576") {
		t.Errorf("got %+v", e)
	}
	if page, err := s.List(t.Context(), ada, 10, ""); err != nil || len(page.Searches) != 0 {
		t.Errorf("%q was kept, %v", names(page), err)
	}
	made, err := s.Create(t.Context(), ada, Search{Name: "family 👨\u200d👩\u200d👧 ✈\ufe0f"}, nil)
	if err != nil || made.Name != "family 👨\u200d👩\u200d👧 ✈\ufe0f" {
		t.Errorf("an emoji is refused: %v", err)
	}
}

func TestAFilterThatNoSearchTakesIsNotKept(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	some := func(n int) (values []string) {
		for i := range n {
			values = append(values, fmt.Sprint("v", i))
		}
		return values
	}
	for params, want := range map[string]string{
		"from=-1h&until=-2h": "INVALID_PARAMETER until",
		"from=2026-11-30T12:00:00Z&until=2026-11-30T12:00:00Z": "INVALID_PARAMETER until",
		"until=-25h":                                            "INVALID_PARAMETER until",
		"until=2020-01-01T00:00:00Z":                            "INVALID_PARAMETER until",
		"arrivedFrom=-1h&arrivedUntil=-1d":                      "INVALID_PARAMETER arrivedUntil",
		"from=2126-11-30T12:00:00Z&until=-1h":                   "", // in a hundred years it is one
		"from=-1h&until=now&arrivedUntil=-30d":                  "",
		url.Values{"type": some(60), "room": some(40)}.Encode(): "",
		url.Values{"type": some(60), "room": some(41)}.Encode(): "INVALID_PARAMETER filter",
		url.Values{"type": some(60), "q": {"room:(" + strings.Join(some(41), " OR ") + ")"}}.Encode(): "INVALID_PARAMETER filter",
		url.Values{"type": some(100), "q": {"tea"}, "from": {"-1h"}}.Encode():                         "",
	} {
		_, err := s.Link(t.Context(), ada, params)
		got := ""
		if err != nil {
			for _, v := range fault.Of(err).Violations {
				got += v.Reason + " " + v.Metadata["attribute"]
			}
		}
		if got != want {
			t.Errorf("%.60s: %q, want %q: %v", params, got, want, err)
		}
	}
}

func TestAnUnknownParameterIsToldWithTheNearest(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	for name, near := range map[string]string{"tyep": "type", "Type": "type", "rom": "room", "arrivedfrom": "arrivedFrom", "from!": "from", "colour": ""} {
		_, err := s.Link(t.Context(), ada, url.Values{name: {"x"}}.Encode())
		e := wants(t, err, fault.InvalidArgument, fault.ReasonUnknownParameter)
		if e.Metadata["suggestions"] != near || near != "" && !strings.Contains(e.Message, "did you mean "+near+"?") {
			t.Errorf("%s: suggested is %q in %q", name, e.Metadata["suggestions"], e.Message)
		}
		for _, known := range []string{"type", "room", "severity", "ext.<name>", "data.<path>", "q", "until", "arrivedUntil", "v"} {
			if !slices.Contains(strings.FieldsFunc(e.Metadata["accepted"], func(r rune) bool { return r == ',' || r == ' ' }), known) {
				t.Errorf("%s: accepted is %q, without %s", name, e.Metadata["accepted"], known)
			}
		}
	}
}

func TestOnlyTheOwnerOrAnAdminChangesWhatIsShared(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	name := "renamed"
	for who, c := range map[Caller]struct {
		shared bool
		kind   fault.Kind
		reason string
	}{
		ada: {true, 0, ""}, chief: {true, 0, ""}, ben: {true, fault.PermissionDenied, fault.ReasonNotOwner},
	} {
		made := s.mustSave(t, ada, "of all "+who.Name, "type=a", true)
		_, err := s.Update(t.Context(), who, made.ID, 1, Change{Name: &name}, nil)
		gone := s.Delete(t.Context(), who, made.ID, 0, nil)
		if c.reason == "" {
			if err != nil || gone != nil {
				t.Errorf("%s: %v, %v", who.Name, err, gone)
			}
			continue
		}
		wants(t, err, c.kind, c.reason)
		if e := wants(t, gone, c.kind, c.reason); !strings.Contains(e.Message, "Ada") {
			t.Errorf("it does not say whose it is: %s", e.Message)
		}
	}
	private := s.mustSave(t, ada, "private", "", false)
	for _, who := range []Caller{ben, chief, robot} {
		_, err := s.Update(t.Context(), who, private.ID, 1, Change{Name: &name}, nil)
		wants(t, err, fault.NotFound, fault.ReasonNotFound)
		wants(t, s.Delete(t.Context(), who, private.ID, 0, nil), fault.NotFound, fault.ReasonNotFound)
	}
}

func TestAChangeOfWhatOthersChangedMeanwhileIsRefused(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	made := s.mustSave(t, ada, "n", "type=a", true)
	var wg sync.WaitGroup
	outcomes := make([]error, 8)
	for i := range outcomes {
		wg.Go(func() {
			view := fmt.Sprint(i)
			_, outcomes[i] = s.Update(t.Context(), ada, made.ID, 1, Change{View: &view}, nil)
		})
	}
	wg.Wait()
	done := 0
	for _, err := range outcomes {
		if err == nil {
			done++
			continue
		}
		if e := wants(t, err, fault.Aborted, fault.ReasonVersionConflict); e.Metadata["accepted"] != "2" {
			t.Errorf("got %+v", e)
		}
	}
	now, err := s.Get(t.Context(), ada, made.ID)
	if done != 1 || err != nil || now.Version != 2 || now.Name != "n" || now.Params != "type=a" || !now.Shared || !now.Updated.After(now.Created) {
		t.Errorf("%d changes, %+v, %v", done, now, err)
	}
	wants(t, s.Delete(t.Context(), ada, made.ID, 1, nil), fault.Aborted, fault.ReasonVersionConflict)
	if err := s.Delete(t.Context(), ada, made.ID, 2, nil); err != nil {
		t.Error(err)
	}
	wants(t, s.Delete(t.Context(), ada, made.ID, 2, nil), fault.NotFound, fault.ReasonNotFound)
}

func TestANameIsOnesOwnOnce(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	s.mustSave(t, ada, "n", "", true)
	other := s.mustSave(t, ada, "m", "", true)
	s.mustSave(t, ben, "n", "", true)
	_, err := s.Create(t.Context(), ada, Search{Name: "n"}, nil)
	wants(t, err, fault.Aborted, fault.ReasonNameTaken)
	n := "n"
	_, err = s.Update(t.Context(), ada, other.ID, 1, Change{Name: &n}, nil)
	wants(t, err, fault.Aborted, fault.ReasonNameTaken)
}

func TestWhatIsNotOnTheRecordDoesNotHappen(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	refuse := func(context.Context, pgx.Tx, *Search, *Search) error { return errors.New("no record today") }
	if _, err := s.Create(t.Context(), ada, Search{Name: "n", Shared: true}, refuse); err == nil {
		t.Error("made without it")
	}
	kept := s.mustSave(t, ada, "kept", "", true)
	shared := false
	if _, err := s.Update(t.Context(), ada, kept.ID, 1, Change{Shared: &shared}, refuse); err == nil {
		t.Error("changed without it")
	}
	if err := s.Delete(t.Context(), ada, kept.ID, 0, refuse); err == nil {
		t.Error("deleted without it")
	}
	page, err := s.List(t.Context(), ben, 10, "")
	if err != nil || !slices.Equal(names(page), []string{"kept"}) || page.Searches[0].Version != 1 {
		t.Errorf("left is %+v, %v", page, err)
	}
}

func TestNobodyKeepsMoreThanTheLimit(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	if _, err := pool.Exec(t.Context(), `INSERT INTO saved_search (owner, owner_name, name, params) SELECT $1, 'Ada', 'n' || i, '' FROM generate_series(1, $2) i`,
		ada.ID, MaxSearches-1); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	outcomes := make([]error, 6)
	for i := range outcomes {
		wg.Go(func() { _, outcomes[i] = s.Create(t.Context(), ada, Search{Name: fmt.Sprint("at once ", i)}, nil) })
	}
	wg.Wait()
	done := 0
	for _, err := range outcomes {
		if err == nil {
			done++
		} else if e := wants(t, err, fault.Exhausted, fault.ReasonLimitReached); e.Metadata["limit"] != "500" {
			t.Errorf("got %+v", e)
		}
	}
	if done != 1 {
		t.Errorf("%d of 6 went through where one place was left", done)
	}
	s.mustSave(t, ben, "another's", "", false)
}

func TestALinkIsTheSameForTheSameFilter(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	one, err := s.Link(t.Context(), ada, "type=b&type=a&q=tea")
	if err != nil {
		t.Fatal(err)
	}
	again, err := s.Link(t.Context(), ben, "?q=tea&type=a&subject=&type=b&v=1")
	if err != nil || *again != *one || len(one.Slug) != slugLength {
		t.Errorf("got %+v and %+v, %v", one, again, err)
	}
	other, err := s.Link(t.Context(), ada, "type=a&q=tea")
	if err != nil || other.Slug == one.Slug {
		t.Errorf("got %+v, %v", other, err)
	}
	followed, err := s.Follow(t.Context(), one.Slug)
	if err != nil || *followed != *one {
		t.Errorf("leads to %+v, %v", followed, err)
	}
	_, err = s.Follow(t.Context(), strings.Repeat("a", slugLength))
	wants(t, err, fault.NotFound, fault.ReasonNotFound)
	_, err = s.Link(t.Context(), ada, "from=noon")
	wants(t, err, fault.InvalidArgument, fault.ReasonInvalidParameter)

	if _, err := pool.Exec(t.Context(), "UPDATE share_link SET params = 'type=other' WHERE slug = $1", one.Slug); err != nil {
		t.Fatal(err)
	}
	if l, err := s.Link(t.Context(), ada, "type=b&type=a&q=tea"); err == nil {
		t.Errorf("%+v leads to another filter", l)
	}
}

func TestManyWhoShareAFilterAtOnceShareOneLink(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			if _, err := s.Link(t.Context(), Caller{ID: fmt.Sprint(i)}, "q=tea"); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	var n int
	if err := pool.QueryRow(t.Context(), "SELECT count(*) FROM share_link").Scan(&n); err != nil || n != 1 {
		t.Errorf("%d links, %v", n, err)
	}
}

func TestALinkCountsAsUsedOnceADay(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	l, err := s.Link(t.Context(), ada, "q=tea")
	if err != nil {
		t.Fatal(err)
	}
	for age, moves := range map[string]bool{"23 hours": false, "25 hours": true} {
		if _, err := pool.Exec(t.Context(), "UPDATE share_link SET used_at = now() - $1::text::interval", age); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Follow(t.Context(), l.Slug); err != nil {
			t.Fatal(err)
		}
		var fresh bool
		if err := pool.QueryRow(t.Context(), "SELECT used_at > now() - interval '1 hour' FROM share_link").Scan(&fresh); err != nil || fresh != moves {
			t.Errorf("after %s it moves: %v, %v", age, fresh, err)
		}
	}
}

func TestNobodyMakesMoreLinksThanTheLimit(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	old, err := s.Link(t.Context(), ada, "q=tea")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pool.Exec(t.Context(), `INSERT INTO share_link (slug, params, created_by) SELECT 's' || i, '', $1 FROM generate_series(2, $2) i`, ada.ID, MaxLinks); err != nil {
		t.Fatal(err)
	}
	_, err = s.Link(t.Context(), ada, "q=milk")
	wants(t, err, fault.Exhausted, fault.ReasonLimitReached)
	if again, err := s.Link(t.Context(), ada, "q=tea"); err != nil || again.Slug != old.Slug {
		t.Errorf("an old one is %+v, %v", again, err)
	}
}

func TestADatabaseOutOfReachIsToldAsSuch(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	pool.Close()
	_, err := s.List(t.Context(), ada, 10, "")
	wants(t, err, fault.Unavailable, fault.ReasonDatabaseUnavailable)
	_, err = s.Create(t.Context(), ada, Search{Name: "n"}, nil)
	wants(t, err, fault.Unavailable, fault.ReasonDatabaseUnavailable)
	_, err = s.Follow(t.Context(), "x")
	wants(t, err, fault.Unavailable, fault.ReasonDatabaseUnavailable)
}
