package audit

import (
	"context"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"oriel/server/fault"
)

func TestAnExportIsOneInstant(t *testing.T) {
	t.Parallel()
	l := open(t)
	if _, err := l.pool.Exec(t.Context(), many, 3*fetched); err != nil {
		t.Fatal(err)
	}
	op := begin(t, l, creation())
	n, err := l.Export(t.Context(), Filter{}, func(e *Entry) error {
		if e.Operation == op.ID() {
			if err := op.Done(t.Context(), nil, "tokens/7", nil, nil); err != nil {
				return err
			}
			_, err := l.Begin(t.Context(), creation())
			return err
		}
		if e.Outcome != Done && e.Outcome != Unknown {
			t.Errorf("got %+v", e)
		}
		return nil
	})
	if err != nil || n != 3*fetched+1 {
		t.Errorf("%d, %v", n, err)
	}
}

func TestAnExportOfWholeFetchesEnds(t *testing.T) {
	t.Parallel()
	l := open(t)
	for _, size := range []int{0, fetched, fetched} {
		if _, err := l.pool.Exec(t.Context(), many, size); err != nil {
			t.Fatal(err)
		}
		var want int
		if err := l.pool.QueryRow(t.Context(), "SELECT count(*) FROM audit WHERE phase <> 'outcome'").Scan(&want); err != nil {
			t.Fatal(err)
		}
		if n, err := l.Export(t.Context(), Filter{}, func(*Entry) error { return nil }); err != nil || n != want {
			t.Errorf("%d of %d, %v", n, want, err)
		}
	}
}

func TestAnExportThatIsLeftGivesItsConnectionBack(t *testing.T) {
	t.Parallel()
	l := open(t)
	if _, err := l.pool.Exec(t.Context(), many, 3*fetched); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	for name, each := range map[string]func(*Entry) error{
		"by an error":         func(*Entry) error { return errors.New("the client left") },
		"by the caller's end": func(*Entry) error { cancel(); return ctx.Err() },
	} {
		if n, err := l.Export(context.WithoutCancel(ctx), Filter{}, each); err == nil || n != 0 {
			t.Errorf("%s: %d, %v", name, n, err)
		}
		if n := l.pool.Stat().AcquiredConns(); n != 0 {
			t.Errorf("%s: %d connections are held", name, n)
		}
	}
	left, leave := context.WithCancel(t.Context())
	n, err := l.Export(left, Filter{}, func(*Entry) error { leave(); return nil })
	if !errors.Is(err, context.Canceled) || n != fetched {
		t.Errorf("by a context that ends: %d, %v", n, err)
	}
	await(t, "no connection is held", func() bool { return l.pool.Stat().AcquiredConns() == 0 })
	if n := testutil.ToFloat64(l.metrics.exports); n != 0 {
		t.Errorf("%v exports run", n)
	}
}

func TestFewExportsRunAtOnce(t *testing.T) {
	t.Parallel()
	l := open(t)
	var running []*Export
	for range exportsAtOnce {
		e, err := l.OpenExport(t.Context(), Filter{})
		if err != nil {
			t.Fatal(err)
		}
		running = append(running, e)
	}
	_, err := l.OpenExport(t.Context(), Filter{})
	if public := fault.Of(err); public.Kind != fault.Unavailable || public.Violations[0].Metadata["limit"] != "4" || public.RetryAfter == 0 {
		t.Errorf("got %v", err)
	}
	if n := testutil.ToFloat64(l.metrics.exports); n != exportsAtOnce {
		t.Errorf("%v exports run", n)
	}
	for _, e := range running {
		if err := errors.Join(e.Close(t.Context()), e.Close(t.Context())); err != nil {
			t.Error(err)
		}
	}
	last, err := l.OpenExport(t.Context(), Filter{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := last.Next(t.Context()); !errors.Is(err, io.EOF) {
		t.Errorf("got %v", err)
	}
	if err := last.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestAnExportThatCannotBeginHoldsNothing(t *testing.T) {
	t.Parallel()
	l := open(t)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for range 2 * exportsAtOnce {
		if _, err := l.OpenExport(gone, Filter{}); !errors.Is(err, context.Canceled) {
			t.Fatalf("got %v", err)
		}
	}
	if _, err := l.Export(t.Context(), Filter{}, func(*Entry) error { return nil }); err != nil {
		t.Error(err)
	}
}

// Not parallel: it measures the heap of the process.
func TestAnExportOfAHundredThousandHoldsFewOfThem(t *testing.T) {
	const entries, most = 100_000, 16 << 20
	l := open(t)
	if _, err := l.pool.Exec(t.Context(), many, entries); err != nil {
		t.Fatal(err)
	}
	live := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before, highest, n := live(), uint64(0), 0
	got, err := l.Export(t.Context(), Filter{}, func(*Entry) error {
		if n++; n%5000 == 0 {
			highest = max(highest, live())
		}
		return nil
	})
	if err != nil || got != entries {
		t.Fatalf("%d, %v", got, err)
	}
	if highest > before+most {
		t.Errorf("it holds %d MiB", (highest-before)>>20)
	}
	t.Logf("%d KiB above what was held before", (int64(highest)-int64(before))>>10)
}

func TestEveryLimitIsAMetric(t *testing.T) {
	t.Parallel()
	reg := newRegistry()
	New(nil, reg)
	const want = `
# HELP oriel_audit_limit What is set: exports at once, entries of a page, seconds of a statement of a list and of an export.
# TYPE oriel_audit_limit gauge
oriel_audit_limit{limit="exports"} 4
oriel_audit_limit{limit="fetch_seconds"} 30
oriel_audit_limit{limit="list_seconds"} 5
oriel_audit_limit{limit="page"} 500
`
	if err := testutil.GatherAndCompare(reg, strings.NewReader(want), "oriel_audit_limit"); err != nil {
		t.Error(err)
	}
}
