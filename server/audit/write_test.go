package audit

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.uber.org/goleak"

	"oriel/server/dbtest"
	"oriel/server/fault"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, dbtest.IgnoreServers()...)
}

func open(t testing.TB) *Log {
	t.Helper()
	return New(dbtest.New(t), prometheus.NewRegistry())
}

func someone() Actor {
	return Actor{Kind: "person", ID: "https://id.example.com#42", Name: "Ada", Roles: []string{"analyst", "operator", "admin"}}
}

func creation() Entry {
	return Entry{
		Action: ActionTokenCreate, Actor: someone(), Target: "tokens", Reason: "a new gate",
		RequestID: "req_1", Address: "192.0.2.7", After: map[string]any{"name": "gate"},
	}
}

func begin(t *testing.T, l *Log, e Entry) *Operation {
	t.Helper()
	op, err := l.Begin(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	return op
}

// only is the one entry that there is.
func only(t *testing.T, l *Log) Entry {
	t.Helper()
	page, err := l.List(t.Context(), Filter{}, 0, "")
	if err != nil {
		t.Fatal(err)
	}
	if len(page.Entries) != 1 {
		t.Fatalf("%d entries", len(page.Entries))
	}
	return page.Entries[0]
}

// effect runs f in a transaction that ends as told.
func effect(t *testing.T, pool *pgxpool.Pool, commit bool, f func(pgx.Tx)) {
	t.Helper()
	tx, err := pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	f(tx)
	end := tx.Rollback
	if commit {
		end = tx.Commit
	}
	if err := end(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestAnOperationIsOnTheRecordBeforeItHappensAndUnknownUntilItsEnd(t *testing.T) {
	t.Parallel()
	l := open(t)
	op := begin(t, l, creation())
	got := only(t, l)
	if got.Outcome != Unknown || got.End != nil || got.Operation != op.ID() || got.Target != "tokens" || got.Reason != "a new gate" ||
		got.Actor.Name != "Ada" || got.Actor.ID != someone().ID || len(got.Actor.Roles) != 3 || got.RequestID != "req_1" ||
		got.Address != "192.0.2.7" || got.After["name"] != "gate" || time.Since(got.Intent).Abs() > time.Minute {
		t.Errorf("got %+v", got)
	}
}

func TestTheOutcomeCommitsWithTheEffect(t *testing.T) {
	t.Parallel()
	l := open(t)
	op := begin(t, l, creation())
	done := func(tx pgx.Tx) {
		if err := op.Done(t.Context(), tx, "tokens/7", nil, map[string]any{"scopes": []string{"events:write"}}); err != nil {
			t.Fatal(err)
		}
	}
	effect(t, l.pool, false, done)
	if got := only(t, l); got.Outcome != Unknown || got.Target != "tokens" {
		t.Errorf("after a rollback: %+v", got)
	}
	effect(t, l.pool, true, done)
	got := only(t, l)
	if got.Outcome != Done || got.Target != "tokens/7" || got.End == nil || got.End.Before(got.Intent) || got.Before != nil ||
		fmt.Sprint(got.After["scopes"]) != "[events:write]" || got.Reason != "a new gate" {
		t.Errorf("after a commit: %+v", got)
	}
}

func TestAnErrorEndsAnOperation(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err             error
		outcome, detail string
	}{
		"what the caller may not is refused": {
			fault.New(fault.PermissionDenied, fault.ReasonRoleMissing, "The role admin is needed."), Refused, "ROLE_MISSING: The role admin is needed.",
		},
		"what does not exist is refused": {
			fmt.Errorf("revoke: %w", fault.New(fault.NotFound, fault.ReasonNotFound, "There is no such token.")), Refused, "NOT_FOUND: There is no such token.",
		},
		"what our side could not do has failed": {
			fault.New(fault.Unavailable, fault.ReasonDatabaseUnavailable, "The database does not answer."), Failed, "DATABASE_UNAVAILABLE: The database does not answer.",
		},
		"a cause is not shown": {
			errors.New("password=secret"), Failed, "INTERNAL: Something failed on our side. The request id finds it in the log.",
		},
		"a caller who left": {fmt.Errorf("store: %w", context.Canceled), Failed, "The caller left before the end."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := open(t)
			op := begin(t, l, creation())
			gone, cancel := context.WithCancel(t.Context())
			cancel()
			if err := op.End(gone, c.err); err != nil {
				t.Fatal(err)
			}
			got := only(t, l)
			if got.Outcome != c.outcome || got.Detail != c.detail || got.End == nil || got.After["name"] != "gate" {
				t.Errorf("got %+v", got)
			}
			if n := testutil.ToFloat64(l.metrics.entries.WithLabelValues(ActionTokenCreate, c.outcome)); n != 1 {
				t.Errorf("counted %v", n)
			}
			if err := op.End(gone, nil); err == nil {
				t.Error("an end without an error is taken")
			}
			if err := op.EndAs(gone, Done, ""); err == nil {
				t.Error("what was done is taken without its effect")
			}
		})
	}
}

func TestAnEndNeverContradictsAnEffectThatCommitted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		commit bool
		want   string
	}{
		"the answer to the commit was lost":        {true, Done},
		"the transaction did not commit after all": {false, Failed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := open(t)
			op := begin(t, l, creation())
			ended := make(chan error, 1)
			effect(t, l.pool, c.commit, func(tx pgx.Tx) {
				if err := op.Done(t.Context(), tx, "tokens/7", nil, nil); err != nil {
					t.Fatal(err)
				}
				go func() { ended <- op.End(context.Background(), errors.New("the connection broke")) }()
				await(t, "the end waits for the transaction", func() (waits bool) {
					const sql = `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')`
					if err := l.pool.QueryRow(t.Context(), sql).Scan(&waits); err != nil {
						t.Fatal(err)
					}
					return waits
				})
			})
			if err := <-ended; err != nil {
				t.Fatal(err)
			}
			if got := only(t, l); got.Outcome != c.want {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestAnOperationThatHasEndedTakesNoEffect(t *testing.T) {
	t.Parallel()
	l := open(t)
	op := begin(t, l, creation())
	if err := op.End(t.Context(), errors.New("given up")); err != nil {
		t.Fatal(err)
	}
	tx, err := l.pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }()
	if err := op.Done(t.Context(), tx, "tokens/7", nil, nil); err == nil {
		t.Error("done after its end")
	}
	if _, err := tx.Exec(t.Context(), "SELECT 1"); err == nil {
		t.Error("the transaction goes on")
	}
	if got := only(t, l); got.Outcome != Failed {
		t.Errorf("got %+v", got)
	}
}

func TestOneOperationBeginsOnce(t *testing.T) {
	t.Parallel()
	l := open(t)
	e := creation()
	e.Operation = "6ba7b810-9dad-41d1-80b4-00c04fd430c8"
	if got := begin(t, l, e).ID(); got != e.Operation {
		t.Errorf("it is called %s", got)
	}
	if _, err := l.Begin(t.Context(), e); err == nil {
		t.Error("it begins twice")
	}
	if got := only(t, l); got.Operation != e.Operation {
		t.Errorf("got %+v", got)
	}
}

func TestAnEntryOfItsOwnCommitsWithItsEffect(t *testing.T) {
	t.Parallel()
	l := open(t)
	e := Entry{Action: ActionRolesChanged, Actor: Actor{Kind: "system", ID: "system", Name: "identity provider"}, Target: "Ada", Outcome: Done, Before: map[string]any{"roles": []string{}}}
	record := func(tx pgx.Tx) {
		if err := l.Record(t.Context(), tx, e); err != nil {
			t.Fatal(err)
		}
	}
	effect(t, l.pool, false, record)
	effect(t, l.pool, true, record)
	got := only(t, l)
	if got.Outcome != Done || got.End == nil || !got.End.Equal(got.Intent) || got.Before == nil || got.After != nil {
		t.Errorf("got %+v", got)
	}
}

func TestAnEntryOfItsOwnIsWrittenForACallerWhoLeft(t *testing.T) {
	t.Parallel()
	l := open(t)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	refused := fault.New(fault.PermissionDenied, fault.ReasonScopeMissing, "The scope admin:write is needed.")
	if err := l.Record(gone, nil, Refusal(creation(), refused)); err != nil {
		t.Fatal(err)
	}
	if got := only(t, l); got.Outcome != Refused || got.Detail != "SCOPE_MISSING: The scope admin:write is needed." {
		t.Errorf("got %+v", got)
	}
}

func TestMistakesOfTheProgramAreToldApart(t *testing.T) {
	t.Parallel()
	l := open(t)
	for name, change := range map[string]func(*Entry){
		"an action that is not listed":      func(e *Entry) { e.Action = "token.steal" },
		"an outcome that is not written":    func(e *Entry) { e.Outcome = Unknown },
		"no outcome":                        func(e *Entry) { e.Outcome = "" },
		"an operation that is no UUID":      func(e *Entry) { e.Operation = "7" },
		"an operation that is a long UUID":  func(e *Entry) { e.Operation = strings.Repeat("00", 18) },
		"an object that JSON does not know": func(e *Entry) { e.After = map[string]any{"f": func() {}} },
	} {
		e := creation()
		e.Outcome = Done
		change(&e)
		if err := l.Record(t.Context(), nil, e); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
	page, err := l.List(t.Context(), Filter{}, 0, "")
	if err != nil || len(page.Entries) != 0 {
		t.Errorf("got %+v, %v", page, err)
	}
}

func TestWithoutARecordNothingMayHappen(t *testing.T) {
	t.Parallel()
	l := open(t)
	op := begin(t, l, creation())
	l.pool.Close()
	_, err := l.Begin(t.Context(), creation())
	public := fault.Of(err)
	if public.Kind != fault.Unavailable || public.Violations[0].Reason != fault.ReasonDatabaseUnavailable || public.RetryAfter == 0 {
		t.Errorf("got %v", err)
	}
	if err := op.End(t.Context(), errors.New("x")); err == nil {
		t.Error("an outcome is written without a database")
	}
	e := creation()
	e.Outcome = Done
	if err := l.Record(t.Context(), nil, e); fault.Of(err).Kind != fault.Unavailable {
		t.Errorf("got %v", err)
	}
	for _, phase := range []string{phaseIntent, phaseOutcome, phaseEvent} {
		if n := testutil.ToFloat64(l.metrics.failures.WithLabelValues(phase)); n != 1 {
			t.Errorf("%s: %v failures counted", phase, n)
		}
	}
}

func TestWhateverATextHoldsItIsWrittenAndShown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ in, want string }{
		"HTML":                       {"<script>alert(1)</script>&amp;", "<script>alert(1)</script>&amp;"},
		"NUL":                        {"a\x00b", "a␀b"},
		"a terminal's escape":        {"\x1b[31mred\x07", "␛[31mred␇"},
		"a backspace and a delete":   {"a\bb\x7f", "a␈b␡"},
		"a carriage return":          {"one\r\ntwo\tthree", "one␍\ntwo\tthree"},
		"C1 controls":                {"a\u0085b\u009b", "a\ufffdb\ufffd"},
		"no UTF-8":                   {"a\xff\xfeb", "a\ufffd\ufffdb"},
		"half a character":           {"a\xe2\x82", "a\ufffd\ufffd"},
		"right to left":              {"שלום \u202etxt.exe\u202c", "שלום [U+202E]txt.exe[U+202C]"},
		"isolates and marks":         {"\u2066a\u2069\u200eb\u200f", "[U+2066]a[U+2069][U+200E]b[U+200F]"},
		"what nobody sees":           {"a\u200bb\ufeffc\u00add\u2060\u3164\U000e0041", "a[U+200B]b[U+FEFF]c[U+00AD]d[U+2060][U+3164][U+E0041]"},
		"a joiner in a word":         {"می\u200cخواهم", "می\u200cخواهم"},
		"an emoji of four":           {"👩‍👩‍👧‍👦", "👩‍👩‍👧‍👦"},
		"a quote and a backslash":    {`'; DROP TABLE audit; -- \`, `'; DROP TABLE audit; -- \`},
		"the end of a folded field":  {"a\x1fb", "a␟b"},
		"a lone surrogate's three":   {"\xed\xa0\x80", "\ufffd\ufffd\ufffd"},
		"a line separator":           {"a\u2028b", "a[U+2028]b"},
		"two letters of JSON's kind": {`a\u0000b`, `a\u0000b`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := open(t)
			e := Entry{
				Action: ActionTokenRevoke, Target: c.in, Reason: c.in, RequestID: c.in, Address: c.in, Detail: c.in, Outcome: Failed,
				Actor:  Actor{Kind: "person", ID: c.in, Name: c.in, Roles: []string{c.in}},
				Before: map[string]any{c.in: []any{c.in, map[string]any{"x": c.in}}}, After: map[string]any{"n": 9007199254740993},
			}
			if err := l.Record(t.Context(), nil, e); err != nil {
				t.Fatal(err)
			}
			got := only(t, l)
			for what, text := range map[string]string{
				"target": got.Target, "reason": got.Reason, "request id": got.RequestID, "address": got.Address, "detail": got.Detail,
				"actor": got.Actor.Name, "actor's id": got.Actor.ID, "role": got.Actor.Roles[0],
			} {
				if text != c.want {
					t.Errorf("%s: %q", what, text)
				}
			}
			if inner, ok := got.Before[c.want].([]any); !ok || inner[0] != c.want || inner[1].(map[string]any)["x"] != c.want {
				t.Errorf("before: %q", got.Before)
			}
			if fmt.Sprint(got.After["n"]) != "9007199254740993" {
				t.Errorf("after: %v", got.After)
			}
			for _, f := range []Filter{{Actors: []string{c.in}}, {Targets: []string{c.in}}, {Targets: []string{c.in + "*"}}, {Text: c.in}} {
				if page, err := l.List(t.Context(), f, 0, ""); err != nil || len(page.Entries) != 1 {
					t.Errorf("%+v finds %+v, %v", f, page, err)
				}
			}
		})
	}
}

func TestLongTextsAreCutAndStillWritten(t *testing.T) {
	t.Parallel()
	l := open(t)
	for _, letter := range []string{"x", "ü", "🦊"} {
		long := strings.Repeat(letter, 5000)
		op := begin(t, l, Entry{
			Action: ActionTokenRevoke, Target: long, Reason: long, RequestID: long, Address: long,
			Actor: Actor{Kind: "person", ID: long, Name: long, Roles: make([]string, 100)}, Before: map[string]any{"long": long + long + long + long + long + long + long},
		})
		if err := op.End(t.Context(), fault.New(fault.NotFound, fault.ReasonNotFound, long)); err != nil {
			t.Fatal(err)
		}
		page, err := l.List(t.Context(), Filter{Targets: []string{long}, Actors: []string{long}}, 0, "")
		if err != nil || len(page.Entries) != 1 {
			t.Fatalf("%s: found by what was cut: %+v, %v", letter, page, err)
		}
		got := page.Entries[0]
		if len(got.Target) > maxTarget || len(got.Target) < maxTarget-8 || len(got.Actor.Name) > maxActor || len(got.Actor.Roles) != maxRoles ||
			utf8.RuneCountInString(got.Reason) != maxReason || utf8.RuneCountInString(got.Detail) != maxDetail ||
			utf8.RuneCountInString(got.Actor.ID) != maxName || utf8.RuneCountInString(got.RequestID) != maxShort || utf8.RuneCountInString(got.Address) != maxShort {
			t.Errorf("%s: target %d, actor %d, roles %d, reason %d, detail %d", letter, len(got.Target), len(got.Actor.Name), len(got.Actor.Roles), len(got.Reason), len(got.Detail))
		}
		for _, text := range []string{got.Target, got.Reason, got.Detail, got.Actor.Name} {
			if !strings.HasSuffix(text, letter+"…") {
				t.Errorf("%s: a text that was cut ends in %q", letter, text[len(text)-8:])
			}
		}
		if _, omitted := got.Before["omitted"]; omitted != (letter == "🦊") {
			t.Errorf("%s: before is %.80v", letter, got.Before)
		}
	}
}

func await(t *testing.T, what string, f func() bool) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for !f() {
		if time.Now().After(deadline) {
			t.Fatal("waited in vain: " + what)
		}
		<-time.After(5 * time.Millisecond)
	}
}
