package auth

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"oriel/server/db"
	"oriel/server/fault"
)

// table is a database with a clock that tests turn.
type table struct {
	mu      sync.Mutex
	rows    map[digest]db.FindTokenRow
	down    error
	slow    time.Duration
	lookups atomic.Int64
	touches atomic.Int64
}

func (t *table) find(ctx context.Context, hash digest) (db.FindTokenRow, error) {
	t.lookups.Add(1)
	t.mu.Lock()
	row, ok := t.rows[hash]
	down, slow := t.down, t.slow
	t.mu.Unlock()
	if slow > 0 {
		select {
		case <-time.After(slow):
		case <-ctx.Done():
			return row, ctx.Err()
		}
	}
	switch {
	case down != nil:
		return row, down
	case !ok:
		return row, pgx.ErrNoRows
	}
	return row, nil
}

func (t *table) touch(context.Context, int64) error {
	t.touches.Add(1)
	return nil
}

func (t *table) set(f func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f()
}

func (t *table) add(row db.FindTokenRow) string {
	secret := newSecret()
	hash, err := digestOf(secret)
	if err != nil {
		panic(err)
	}
	t.set(func() {
		if t.rows == nil {
			t.rows = map[digest]db.FindTokenRow{}
		}
		t.rows[hash] = row
	})
	return secret
}

func (t *table) change(secret string, f func(*db.FindTokenRow)) {
	hash, _ := digestOf(secret)
	t.set(func() {
		row := t.rows[hash]
		f(&row)
		t.rows[hash] = row
	})
}

func (t *table) tokens(out *bytes.Buffer) *Tokens {
	return newTokens(t.find, t.touch, slog.New(slog.NewTextHandler(out, nil)), prometheus.NewRegistry())
}

func wantKind(t *testing.T, err error, kind fault.Kind, reason string) {
	t.Helper()
	var public *fault.Error
	if !errors.As(err, &public) || public.Kind != kind || public.Violations[0].Reason != reason {
		t.Errorf("got %v, want %s", err, reason)
	}
}

func wait(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func TestMalformedTokensCostNoLookup(t *testing.T) {
	t.Parallel()
	rows, out := &table{}, &bytes.Buffer{}
	tokens := rows.tokens(out)
	good := newSecret()
	for name, bad := range map[string]string{
		"empty": "", "another kind": "ghp_" + good[4:], "too short": good[:len(good)-1], "too long": good + "A",
		"not base64url": good[:len(good)-1] + "+", "padded": good[:len(good)-1] + "=", "a space": good[:len(good)-1] + " ",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := tokens.Verify(t.Context(), bad)
			wantKind(t, err, fault.Unauthenticated, fault.ReasonTokenInvalid)
		})
	}
	if n := rows.lookups.Load(); n != 0 {
		t.Errorf("%d lookups", n)
	}
}

func TestARevocationBitesWithinTwoSeconds(t *testing.T) {
	t.Parallel()
	for name, slow := range map[string]time.Duration{"of a quick database": 0, "of a slow one": 700 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				rows, out := &table{slow: slow}, &bytes.Buffer{}
				tokens := rows.tokens(out)
				secret := rows.add(db.FindTokenRow{ID: 1, Name: "producer", Scopes: []string{ScopeEventsWrite}, SourcePrefixes: []string{"urn:"}})
				p, err := tokens.Verify(t.Context(), secret)
				if err != nil || p.Name != "producer" || !p.Has(ScopeEventsWrite) || p.Has(ScopeEventsRead) || p.SourcePrefixes[0] != "urn:" {
					t.Fatalf("got %+v, %v", p, err)
				}
				now := time.Now()
				rows.change(secret, func(r *db.FindTokenRow) { r.RevokedAt = &now })
				for time.Since(now) < 2*time.Second {
					if _, err = tokens.Verify(t.Context(), secret); err != nil {
						break
					}
					wait(10 * time.Millisecond)
				}
				wantKind(t, err, fault.Unauthenticated, fault.ReasonTokenInvalid)
				if rows.lookups.Load() > 5 {
					t.Errorf("%d lookups in two seconds", rows.lookups.Load())
				}
				tokens.Close()
			})
		})
	}
}

func TestAnExpiryNeedsNoLookupToBite(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rows, out := &table{}, &bytes.Buffer{}
		tokens := rows.tokens(out)
		end := time.Now().Add(500 * time.Millisecond)
		secret := rows.add(db.FindTokenRow{ID: 1, Name: "short", ExpiresAt: &end})
		if _, err := tokens.Verify(t.Context(), secret); err != nil {
			t.Fatal(err)
		}
		wait(500 * time.Millisecond)
		_, err := tokens.Verify(t.Context(), secret)
		wantKind(t, err, fault.Unauthenticated, fault.ReasonTokenInvalid)
		if n := rows.lookups.Load(); n != 1 {
			t.Errorf("%d lookups", n)
		}
		wait(2 * time.Second)
		_, err = tokens.Verify(t.Context(), secret)
		wantKind(t, err, fault.Unauthenticated, fault.ReasonTokenInvalid)
		tokens.Close()
	})
}

func TestWhileTheDatabaseIsAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rows, out := &table{}, &bytes.Buffer{}
		tokens := rows.tokens(out)
		seen, unseen := rows.add(db.FindTokenRow{ID: 1, Name: "seen"}), rows.add(db.FindTokenRow{ID: 2, Name: "unseen"})
		if _, err := tokens.Verify(t.Context(), seen); err != nil {
			t.Fatal(err)
		}
		rows.set(func() { rows.down = errors.New("connection refused") })
		before := rows.lookups.Load()
		wait(time.Second)
		for range 100 {
			if p, err := tokens.Verify(t.Context(), seen); err != nil || p.Name != "seen" {
				t.Fatalf("got %+v, %v", p, err)
			}
		}
		if n := rows.lookups.Load() - before; n != 1 {
			t.Errorf("%d lookups of a database that is away", n)
		}
		if n := testutil.ToFloat64(tokens.checks.WithLabelValues("grace")); n != 100 {
			t.Errorf("grace counted %v", n)
		}
		if n := strings.Count(out.String(), "connection refused"); n != 1 {
			t.Errorf("logged %d times: %s", n, out)
		}
		_, err := tokens.Verify(t.Context(), unseen)
		wantKind(t, err, fault.Unavailable, fault.ReasonDatabaseUnavailable)
		if public := fault.Of(err); public.RetryAfter == 0 {
			t.Error("no time to retry after")
		}

		wait(10*time.Minute - 2*time.Second)
		if _, err := tokens.Verify(t.Context(), seen); err != nil {
			t.Errorf("just within ten minutes: %v", err)
		}
		wait(2 * time.Second)
		_, err = tokens.Verify(t.Context(), seen)
		wantKind(t, err, fault.Unavailable, fault.ReasonDatabaseUnavailable)

		rows.set(func() { rows.down = nil })
		wait(time.Second)
		for _, secret := range []string{seen, unseen} {
			if _, err := tokens.Verify(t.Context(), secret); err != nil {
				t.Errorf("afterwards: %v", err)
			}
		}
		tokens.Close()
	})
}

func TestAHangingDatabaseHoldsNobodyUpForLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rows, out := &table{}, &bytes.Buffer{}
		tokens := rows.tokens(out)
		secret, unseen := rows.add(db.FindTokenRow{ID: 1, Name: "seen"}), rows.add(db.FindTokenRow{ID: 2})
		if _, err := tokens.Verify(t.Context(), secret); err != nil {
			t.Fatal(err)
		}
		rows.set(func() { rows.slow = time.Hour })
		wait(time.Second)
		begun := time.Now()
		if _, err := tokens.Verify(t.Context(), secret); err != nil {
			t.Error(err)
		}
		if took := time.Since(begun); took > knownWait {
			t.Errorf("a known token waited %s", took)
		}
		wait(time.Second)
		begun = time.Now()
		_, err := tokens.Verify(t.Context(), unseen)
		wantKind(t, err, fault.Unavailable, fault.ReasonDatabaseUnavailable)
		if took := time.Since(begun); took > unknownWait {
			t.Errorf("an unknown token waited %s", took)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		wait(time.Second)
		begun = time.Now()
		_, err = tokens.Verify(ctx, unseen)
		wantKind(t, err, fault.Unavailable, fault.ReasonDatabaseUnavailable)
		if time.Since(begun) > time.Millisecond {
			t.Errorf("a caller that gave up waited %s", time.Since(begun))
		}
		wait(unknownWait)
		tokens.Close()
	})
}

func TestManyCallersOfOneTokenAskOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rows, out := &table{slow: 100 * time.Millisecond}, &bytes.Buffer{}
		tokens := rows.tokens(out)
		secret := rows.add(db.FindTokenRow{ID: 1})
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				if _, err := tokens.Verify(t.Context(), secret); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if n := rows.lookups.Load(); n != 1 {
			t.Errorf("%d lookups", n)
		}
		tokens.Close()
	})
}

func TestStrangersShareFewLookupsAndAreForgottenInBounds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rows, out := &table{slow: time.Second}, &bytes.Buffer{}
		tokens := rows.tokens(out)
		known := rows.add(db.FindTokenRow{ID: 1})
		if _, err := tokens.Verify(t.Context(), known); err != nil {
			t.Fatal(err)
		}
		before := rows.lookups.Load()
		for range 50 {
			go func() { _, _ = tokens.Verify(t.Context(), newSecret()) }()
		}
		wait(100 * time.Millisecond)
		if n := rows.lookups.Load() - before; n != strangerLookups {
			t.Errorf("%d lookups at a time", n)
		}
		wait(10 * time.Second)
		rows.set(func() { rows.slow = 0 })
		wait(time.Second)
		for range maxRefused + 10 {
			_, err := tokens.Verify(t.Context(), newSecret())
			wantKind(t, err, fault.Unauthenticated, fault.ReasonTokenInvalid)
		}
		if n := len(tokens.cache.refused); n > maxRefused {
			t.Errorf("%d are remembered", n)
		}
		tokens.Close()
	})
}

func TestARefusedTokenIsNotLookedUpAgainForAMoment(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rows, out := &table{}, &bytes.Buffer{}
		tokens := rows.tokens(out)
		secret := newSecret()
		for range 100 {
			_, err := tokens.Verify(t.Context(), secret)
			wantKind(t, err, fault.Unauthenticated, fault.ReasonTokenInvalid)
		}
		if n := rows.lookups.Load(); n != 1 {
			t.Errorf("%d lookups", n)
		}
		wait(refusedFor)
		_, _ = tokens.Verify(t.Context(), secret)
		if n := rows.lookups.Load(); n != 2 {
			t.Errorf("%d lookups later", n)
		}
	})
}

func TestTheLastUseIsRecordedOnceAMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rows, out := &table{}, &bytes.Buffer{}
		tokens := rows.tokens(out)
		secret := rows.add(db.FindTokenRow{ID: 1})
		for range 119 {
			if _, err := tokens.Verify(t.Context(), secret); err != nil {
				t.Fatal(err)
			}
			wait(time.Second)
		}
		if n := rows.touches.Load(); n != 2 {
			t.Errorf("recorded %d times in two minutes", n)
		}
		tokens.Close()
		wait(time.Minute)
		if _, err := tokens.Verify(t.Context(), secret); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if n := rows.touches.Load(); n != 2 {
			t.Errorf("recorded after Close")
		}
		tokens.Close()
	})
}
