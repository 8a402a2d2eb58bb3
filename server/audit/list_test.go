package audit

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"oriel/server/fault"
)

// fill writes operations of every kind and returns them as they read, newest first.
func fill(t *testing.T, l *Log, n int) []Entry {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	for i := range n {
		e := Entry{
			Action: pick(Actions()...), Target: pick("tokens", "tokens/7", "tokens/70", "50%_off", `back\slash`, ""), RequestID: fmt.Sprintf("req_%d", i),
			Actor:  Actor{Kind: pick("person", "token", "cli"), ID: pick("https://login.example.com#17", "https://login.example.com#18"), Name: pick("Ada", "Adam", "adam", "Ölaf", "a%b", "a_b", `a\b`, "otto")},
			Reason: pick("rotation", "ROTATION due", "was leaked on GitHub", "Straße", "ПРИВЕТ", ""),
		}
		if r.IntN(4) == 0 {
			e.Outcome, e.Detail = pick(Done, Refused, Failed), pick("", "no database")
			if err := l.Record(t.Context(), nil, e); err != nil {
				t.Fatal(err)
			}
			continue
		}
		op := begin(t, l, e)
		var err error
		switch r.IntN(3) {
		case 0:
			err = op.Done(t.Context(), nil, pick("", "tokens/8"), nil, map[string]any{"displayName": pick("valve <1>", "checkout"), "prefix": "JMiUG2oI"})
		case 1:
			err = op.End(t.Context(), fault.New(fault.NotFound, fault.ReasonNotFound, pick("gone", "Never was")))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	all, err := l.List(t.Context(), Filter{}, MaxPageSize, "")
	if err != nil {
		t.Fatal(err)
	}
	if len(all.Entries) != n || all.NextToken != "" {
		t.Fatalf("%d of %d, next %q", len(all.Entries), n, all.NextToken)
	}
	return all.Entries
}

// matches is what a filter means, written down a second time.
func matches(f *Filter, e *Entry) bool {
	one := func(values []string, have string) bool {
		return len(values) == 0 || slices.ContainsFunc(values, func(v string) bool {
			prefix, ok := strings.CutSuffix(v, "*")
			return ok && strings.HasPrefix(have, prefix) || v == have
		})
	}
	objects := make([]string, 2)
	for i, o := range []map[string]any{e.Before, e.After} {
		if o == nil {
			continue
		}
		text, err := json.Marshal(o)
		if err != nil {
			panic(err)
		}
		objects[i] = strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(string(text))
	}
	texts := []string{objects[0], objects[1], e.Actor.ID, e.Actor.Name, e.Action, e.Target, e.Reason, e.Detail, e.RequestID}
	return (one(f.Actors, e.Actor.Name) || slices.Contains(f.Actors, e.Actor.ID)) && one(f.Actions, e.Action) && one(f.Targets, e.Target) && one(f.Outcomes, e.Outcome) &&
		(f.From == nil || !e.Intent.Before(*f.From)) && (f.Until == nil || e.Intent.Before(*f.Until)) &&
		slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(strings.ToLower(s), strings.ToLower(f.Text)) })
}

func names(entries []Entry) []string {
	out := make([]string, len(entries))
	for i := range entries {
		out[i] = entries[i].Operation
	}
	return out
}

// read is every page of a filter, and of the export.
func read(t *testing.T, l *Log, f Filter, size int) (pages, export []Entry) {
	t.Helper()
	token := ""
	for {
		page, err := l.List(t.Context(), f, size, token)
		if err != nil {
			t.Fatal(err)
		}
		if len(page.Entries) > size || page.NextToken != "" && len(page.Entries) < size {
			t.Fatalf("a page of %d has %d and goes on %q", size, len(page.Entries), page.NextToken)
		}
		pages = append(pages, page.Entries...)
		if token = page.NextToken; token == "" {
			break
		}
	}
	n, err := l.Export(t.Context(), f, func(e *Entry) error { export = append(export, *e); return nil })
	if err != nil || n != len(export) {
		t.Fatalf("%d, %d: %v", n, len(export), err)
	}
	return pages, export
}

func TestAFilterFindsWhatItSaysInPagesAndInTheExport(t *testing.T) {
	t.Parallel()
	l := open(t)
	all := fill(t, l, 300)
	middle, early := all[100].Intent, all[250].Intent
	for name, f := range map[string]Filter{
		"nothing asked":                         {},
		"one actor":                             {Actors: []string{"Ada"}},
		"an actor in another case":              {Actors: []string{"ada"}},
		"two actors":                            {Actors: []string{"Ada", "Ölaf"}},
		"actors by their beginning":             {Actors: []string{"Ada*"}},
		"actors by beginnings and names":        {Actors: []string{"Ö*", "a*", "otto", "Adam"}},
		"a beginning with a wildcard of LIKE":   {Actors: []string{"a%*", "a_*"}},
		"a beginning with an escape of LIKE":    {Actors: []string{`a\*`}},
		"any actor":                             {Actors: []string{"Ada", "*"}},
		"an actor by the id":                    {Actors: []string{"https://login.example.com#17"}},
		"an id and a name":                      {Actors: []string{"https://login.example.com#17", "Ada"}},
		"a text of what came of it":             {Text: "VALVE <1>"},
		"a text in an id":                       {Text: "example.com#18"},
		"one action":                            {Actions: []string{ActionTokenRevoke}},
		"actions of a kind":                     {Actions: []string{"session.*"}},
		"one target":                            {Targets: []string{"tokens/7"}},
		"a target known at the end only":        {Targets: []string{"tokens/8"}},
		"targets that were replaced at the end": {Targets: []string{"tokens"}},
		"targets by their beginning":            {Targets: []string{"tokens/7*", "50%*"}},
		"what has no end":                       {Outcomes: []string{Unknown}},
		"what was done or refused":              {Outcomes: []string{Done, Refused}},
		"since":                                 {From: &middle},
		"before":                                {Until: &middle},
		"between":                               {From: &early, Until: &middle},
		"a text in a reason, in any case":       {Text: "rotation"},
		"a text of letters beyond ASCII":        {Text: "привет"},
		"a text with an umlaut":                 {Text: "öLAF"},
		"a text with wildcards of LIKE":         {Text: "0%_O"},
		"a text with an escape of LIKE":         {Text: `K\S`},
		"a text in a detail of the end":         {Text: "never WAS"},
		"a text in an action":                   {Text: "EN.REV"},
		"a text in a request id":                {Text: "req_29"},
		"a text across two fields":              {Text: "adatoken"},
		"a text nowhere":                        {Text: "nowhere"},
		"all together":                          {Actors: []string{"A*"}, Actions: []string{"token.*"}, Targets: []string{"tokens*"}, Outcomes: []string{Done, Failed, Refused}, Until: &middle, Text: "o"},
		"a quote":                               {Actors: []string{"'"}, Text: "'"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var want []Entry
			for i := range all {
				if matches(&f, &all[i]) {
					want = append(want, all[i])
				}
			}
			for _, size := range []int{1, 7, 500} {
				pages, export := read(t, l, f, size)
				if !slices.Equal(names(pages), names(want)) {
					t.Errorf("pages of %d have %d, want %d", size, len(pages), len(want))
				}
				if !slices.Equal(names(export), names(want)) {
					t.Errorf("the export has %d, want %d", len(export), len(want))
				}
			}
		})
	}
}

func TestPagesTogetherAreOneListWhileOthersWrite(t *testing.T) {
	t.Parallel()
	l := open(t)
	fill(t, l, 200)
	f := Filter{Actions: []string{"token.*"}}
	before, _ := read(t, l, f, MaxPageSize)
	stop := make(chan struct{})
	var writers sync.WaitGroup
	for range 4 {
		writers.Go(func() {
			for range 300 {
				select {
				case <-stop:
					return
				default:
				}
				op, err := l.Begin(t.Context(), creation())
				if err == nil {
					err = op.Done(t.Context(), nil, "tokens/9", nil, nil)
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	await(t, "the writers write", func() bool {
		page, err := l.List(t.Context(), f, 1, "")
		if err != nil {
			t.Fatal(err)
		}
		return page.Entries[0].Operation != before[0].Operation
	})
	for range 3 {
		pages, export := read(t, l, f, 40)
		for what, got := range map[string][]string{"pages": names(pages), "export": names(export)} {
			seen := map[string]bool{}
			for _, name := range got {
				if seen[name] {
					t.Fatalf("%s have %s twice", what, name)
				}
				seen[name] = true
			}
			if len(got) <= len(before) || !slices.Equal(got[len(got)-len(before):], names(before)) {
				t.Fatalf("%s lost or moved what was there", what)
			}
		}
		last := pages[0]
		for _, e := range pages[1:] {
			if e.Intent.After(last.Intent.Add(time.Second)) {
				t.Fatalf("%v after %v", e.Intent, last.Intent)
			}
			last = e
		}
	}
	close(stop)
	writers.Wait()
}

func TestAPageTokenHoldsForItsFilterAlone(t *testing.T) {
	t.Parallel()
	l := open(t)
	fill(t, l, 50)
	now := time.Now()
	ago := now.Add(-time.Hour)
	f := Filter{Actors: []string{"Ada", "Adam"}, Text: "O", From: &ago}
	page, err := l.List(t.Context(), f, 1, "")
	if err != nil || page.NextToken == "" {
		t.Fatalf("got %+v, %v", page, err)
	}
	same := Filter{Actors: []string{"Adam", "Ada", "Ada"}, Text: "o", From: &ago}
	if next, err := l.List(t.Context(), same, 1, page.NextToken); err != nil || next.Entries[0].Operation == page.Entries[0].Operation {
		t.Errorf("the same filter in other words: %+v, %v", next, err)
	}
	sooner := ago.Add(time.Second)
	for name, other := range map[string]struct {
		f     Filter
		token string
	}{
		"other actors":      {Filter{Actors: []string{"Ada"}, Text: "o", From: &ago}, page.NextToken},
		"actors as actions": {Filter{Actions: f.Actors, Text: "o", From: &ago}, page.NextToken},
		"another text":      {Filter{Actors: f.Actors, Text: "oo", From: &ago}, page.NextToken},
		"another time":      {Filter{Actors: f.Actors, Text: "o", From: &sooner}, page.NextToken},
		"another bound":     {Filter{Actors: f.Actors, Text: "o", Until: &ago}, page.NextToken},
		"a relative time":   {Filter{Actors: f.Actors, Text: "o", From: &ago, Window: "-1h"}, page.NextToken},
		"a cut token":       {f, page.NextToken[:len(page.NextToken)-1]},
		"a changed token":   {f, "A" + page.NextToken[1:]},
		"no token at all":   {f, "x"},
	} {
		_, err := l.List(t.Context(), other.f, 1, other.token)
		if public := fault.Of(err); public.Kind != fault.InvalidArgument || public.Violations[0].Reason != fault.ReasonInvalidPageToken {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPagesOfARelativeTimeKeepTheInstantOfTheFirst(t *testing.T) {
	t.Parallel()
	l := open(t)
	all := fill(t, l, 20)
	from := all[9].Intent
	page, err := l.List(t.Context(), Filter{From: &from, Window: "-1h"}, 5, "")
	if err != nil || len(page.Entries) != 5 {
		t.Fatalf("got %+v, %v", page, err)
	}
	later := all[0].Intent.Add(time.Hour)
	next, err := l.List(t.Context(), Filter{From: &later, Window: "-1h"}, 5, page.NextToken)
	if err != nil || !slices.Equal(names(next.Entries), names(all[5:10])) || next.NextToken != "" {
		t.Errorf("got %+v, %v", next, err)
	}
}

func TestPagesHaveTheirBounds(t *testing.T) {
	t.Parallel()
	l := open(t)
	if _, err := l.pool.Exec(t.Context(), many, 600); err != nil {
		t.Fatal(err)
	}
	for size, want := range map[int]int{0: DefaultPageSize, -1: DefaultPageSize, 1: 1, 10_000: MaxPageSize} {
		if page, err := l.List(t.Context(), Filter{}, size, ""); err != nil || len(page.Entries) != want || page.NextToken == "" {
			t.Errorf("a page of %d: %d, %v", size, len(page.Entries), err)
		}
	}
}

func TestAListThatTakesTooLongEndsAndSaysWhatIsFaster(t *testing.T) {
	t.Parallel()
	l := open(t)
	if _, err := l.pool.Exec(t.Context(), many, 50_000); err != nil {
		t.Fatal(err)
	}
	l.listFor = time.Millisecond
	_, err := l.List(t.Context(), Filter{Text: "nowhere"}, 0, "")
	public := fault.Of(err)
	if public.Kind != fault.Unavailable || public.Violations[0].Reason != fault.ReasonQueryTimeout || public.Violations[0].Metadata["limit"] != "1ms" {
		t.Errorf("got %v", err)
	}
	l.listFor = listFor
	if _, err := l.List(t.Context(), Filter{}, 0, ""); err != nil {
		t.Errorf("after it: %v", err)
	}
}

func TestADatabaseThatIsAwayIsToldAsSuch(t *testing.T) {
	t.Parallel()
	l := open(t)
	if _, err := l.pool.Exec(t.Context(), "SELECT 1"); err != nil {
		t.Fatal(err)
	}
	var closed int
	const others = `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`
	admin := New(l.pool, newRegistry())
	page := func() error { _, err := admin.List(t.Context(), Filter{}, 0, ""); return err }
	if err := page(); err != nil {
		t.Fatal(err)
	}
	export, err := l.OpenExport(t.Context(), Filter{})
	if err != nil {
		t.Fatal(err)
	}
	export.whole = false
	if err := l.pool.QueryRow(t.Context(), others).Scan(&closed); err != nil || closed == 0 {
		t.Fatalf("%d closed, %v", closed, err)
	}
	if _, err := export.Next(t.Context()); fault.Of(err).Violations[0].Reason != fault.ReasonDatabaseUnavailable {
		t.Errorf("got %v", err)
	}
	if err := export.Close(t.Context()); err != nil {
		t.Errorf("close: %v", err)
	}
}
