package auth

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"oriel/server/dbtest"
	"oriel/server/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m, dbtest.IgnoreServers()...) }

func stored(t *testing.T) *Tokens {
	t.Helper()
	tokens := NewTokens(dbtest.New(t), slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	t.Cleanup(tokens.Close)
	return tokens
}

func TestATokenIsShownOnceAndStoredAsAHash(t *testing.T) {
	t.Parallel()
	pool := dbtest.New(t)
	tokens := NewTokens(pool, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	t.Cleanup(tokens.Close)
	made, secret, err := tokens.Create(t.Context(), NewToken{
		Name: "producer", Scopes: []string{ScopeOperate, ScopeEventsWrite, ScopeOperate}, SourcePrefixes: []string{"urn:home:", "urn:home:"}, By: "Adam",
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`^orl_[A-Za-z0-9_-]{43}$`).MatchString(secret) {
		t.Errorf("the secret is %q", secret)
	}
	var found int
	if err := pool.QueryRow(t.Context(), "SELECT count(*) FROM api_token t WHERE t::text LIKE '%' || $1 || '%'", secret[12:]).Scan(&found); err != nil || found != 0 {
		t.Errorf("the secret is in %d rows, %v", found, err)
	}
	want := Token{
		ID: made.ID, Prefix: secret[4:12], Name: "producer", Scopes: []string{ScopeEventsWrite, ScopeOperate}, SourcePrefixes: []string{"urn:home:"},
		State: TokenActive, Created: made.Created, CreatedBy: "Adam",
	}
	if !reflect.DeepEqual(*made, want) || made.Created.IsZero() {
		t.Errorf("made as %+v", made)
	}
	all, err := tokens.List(t.Context())
	if err != nil || len(all) != 1 || !reflect.DeepEqual(all[0], want) {
		t.Fatalf("listed as %+v, %v", all, err)
	}
	if got, err := tokens.Get(t.Context(), made.ID); err != nil || !reflect.DeepEqual(*got, want) {
		t.Errorf("got as %+v, %v", got, err)
	}
	_, err = tokens.Get(t.Context(), made.ID+1)
	wantKind(t, err, fault.NotFound, fault.ReasonNotFound)
	p, err := tokens.Verify(t.Context(), secret)
	if err != nil || p.Kind != KindToken || p.ID != TokenName(made.ID) || p.Name != "producer" || !p.Has(ScopeEventsWrite) || p.Session != nil || !slices.Equal(p.SourcePrefixes, []string{"urn:home:"}) {
		t.Errorf("verified as %+v, %v", p, err)
	}
	tokens.Close() // waits for the use being recorded
	if all, err = tokens.List(t.Context()); err != nil || all[0].LastUsed == nil {
		t.Errorf("last used %v, %v", all[0].LastUsed, err)
	}
}

func TestRevokingATokenSaysOnceThatItDid(t *testing.T) {
	t.Parallel()
	tokens := stored(t)
	made, secret, err := tokens.Create(t.Context(), NewToken{Name: "reader", Scopes: []string{ScopeEventsRead}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tokens.Verify(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	ended, err := tokens.Revoke(t.Context(), made.ID, "Adam", nil)
	if err != nil || ended.State != TokenRevoked || ended.Revoked == nil || ended.RevokedBy != "Adam" || ended.Name != "reader" {
		t.Fatalf("got %+v, %v", ended, err)
	}
	_, err = tokens.Verify(t.Context(), secret) // at once, although it was confirmed a moment ago
	wantKind(t, err, fault.Unauthenticated, fault.ReasonTokenInvalid)

	_, err = tokens.Revoke(t.Context(), made.ID, "Eve", nil)
	wantKind(t, err, fault.Aborted, fault.ReasonAlreadyRevoked)
	if text := fault.Of(err).Message; !strings.Contains(text, "by Adam") || !strings.Contains(text, ended.Revoked.UTC().Format(time.RFC3339)) {
		t.Errorf("said %q", text)
	}
	if got, err := tokens.Get(t.Context(), made.ID); err != nil || got.RevokedBy != "Adam" || !got.Revoked.Equal(*ended.Revoked) {
		t.Errorf("afterwards %+v, %v", got, err)
	}
	_, err = tokens.Revoke(t.Context(), made.ID+1, "Adam", nil)
	wantKind(t, err, fault.NotFound, fault.ReasonNotFound)
}

func TestAnExpiredTokenIsRefused(t *testing.T) {
	t.Parallel()
	tokens := stored(t)
	soon := time.Now().Add(time.Hour)
	made, secret, err := tokens.Create(t.Context(), NewToken{Name: "past", Scopes: []string{ScopeEventsRead}, Expires: &soon}, nil)
	if err != nil || made.Expires.Sub(soon).Abs() > time.Microsecond {
		t.Fatalf("%+v, %v", made, err)
	}
	if _, err := tokens.pool.Exec(t.Context(), "UPDATE api_token SET expires_at = now() - interval '1 second'"); err != nil {
		t.Fatal(err)
	}
	_, err = tokens.Verify(t.Context(), secret)
	wantKind(t, err, fault.Unauthenticated, fault.ReasonTokenInvalid)
	if got, err := tokens.Get(t.Context(), made.ID); err != nil || got.State != TokenExpired {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestWorkOfTheCallerCommitsWithATokenOrNotAtAll(t *testing.T) {
	t.Parallel()
	tokens := stored(t)
	note := func(word string) WithToken {
		return func(ctx context.Context, tx pgx.Tx, made *Token) error {
			_, err := tx.Exec(ctx, "INSERT INTO audit (operation, phase, action, outcome, actor_kind, actor, actor_id, roles, target, detail) VALUES (gen_random_uuid(), 'event', 'token.test', 'done', 'system', 'a', 'a', '{}', $1, $2)",
				TokenName(made.ID), word+" "+made.State+" "+made.Name)
			return err
		}
	}
	mine := errors.New("the record is full")
	n := NewToken{Name: "reader", Scopes: []string{ScopeEventsRead}}
	for name, with := range map[string]WithToken{
		"fails at once": func(context.Context, pgx.Tx, *Token) error { return mine },
		"fails after its work": func(ctx context.Context, tx pgx.Tx, made *Token) error {
			return errors.Join(note("lost")(ctx, tx, made), mine)
		},
	} {
		if made, secret, err := tokens.Create(t.Context(), n, with); !errors.Is(err, mine) || fault.Of(err).Kind != fault.Internal || made != nil || secret != "" {
			t.Errorf("%s: %+v, %v", name, made, err)
		}
	}
	if all, err := tokens.List(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("%d are stored, %v", len(all), err)
	}
	made, secret, err := tokens.Create(t.Context(), n, note("made"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tokens.Revoke(t.Context(), made.ID, "Adam", func(context.Context, pgx.Tx, *Token) error { return mine }); !errors.Is(err, mine) {
		t.Error(err)
	}
	if _, err := tokens.Verify(t.Context(), secret); err != nil {
		t.Errorf("after a revocation that was undone: %v", err)
	}
	if _, err := tokens.Revoke(t.Context(), made.ID, "Adam", note("ended")); err != nil {
		t.Fatal(err)
	}
	rows, err := tokens.pool.Query(t.Context(), "SELECT target || ' ' || detail FROM audit ORDER BY id")
	if err != nil {
		t.Fatal(err)
	}
	got, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if want := []string{TokenName(made.ID) + " made active reader", TokenName(made.ID) + " ended revoked reader"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("noted %q, %v", got, err)
	}
}

func TestTokensThatAreNotMade(t *testing.T) {
	t.Parallel()
	tokens := stored(t)
	past := time.Now().Add(-time.Second)
	beyond := time.Date(9999, 12, 31, 23, 59, 59, 0, time.FixedZone("", -12*60*60))
	write := []string{ScopeEventsWrite}
	read := []string{ScopeEventsRead}
	for name, c := range map[string]struct {
		token  NewToken
		fields []string
	}{
		"without a name":             {NewToken{Name: " ", Scopes: read}, []string{"displayName"}},
		"of too long a name":         {NewToken{Name: strings.Repeat("ü", 101), Scopes: read}, []string{"displayName"}},
		"with a line break in it":    {NewToken{Name: "a\nb", Scopes: read}, []string{"displayName"}},
		"with a NUL in it":           {NewToken{Name: "a\x00b", Scopes: read}, []string{"displayName"}},
		"with a C1 control in it":    {NewToken{Name: "a\u0085b", Scopes: read}, []string{"displayName"}},
		"not in UTF-8":               {NewToken{Name: "a\xffb", Scopes: read}, []string{"displayName"}},
		"without a scope":            {NewToken{Name: "a"}, []string{"scopes"}},
		"of no such scopes":          {NewToken{Name: "a", Scopes: []string{"events:wirte", "root"}}, []string{"scopes", "scopes"}},
		"of any source by mistake":   {NewToken{Name: "a", Scopes: write, SourcePrefixes: []string{"urn:a", ""}}, []string{"sourcePrefixes"}},
		"of too long a prefix":       {NewToken{Name: "a", Scopes: write, SourcePrefixes: []string{strings.Repeat("a", 1025)}}, []string{"sourcePrefixes"}},
		"of a prefix with a control": {NewToken{Name: "a", Scopes: write, SourcePrefixes: []string{"a\x00"}}, []string{"sourcePrefixes"}},
		"of too many prefixes":       {NewToken{Name: "a", Scopes: write, SourcePrefixes: make([]string, 51)}, []string{"sourcePrefixes"}},
		"that have expired":          {NewToken{Name: "a", Scopes: read, Expires: &past}, []string{"expireTime"}},
		"wrong in every way":         {NewToken{SourcePrefixes: []string{""}, Expires: &past}, []string{"displayName", "scopes", "sourcePrefixes", "sourcePrefixes", "expireTime"}},
		"of a blank prefix":          {NewToken{Name: "a", Scopes: write, SourcePrefixes: []string{" ", "\u00a0"}}, []string{"sourcePrefixes", "sourcePrefixes"}},
		"of prefixes for nothing":    {NewToken{Name: "a", Scopes: []string{ScopeEventsRead, ScopeOperate}, SourcePrefixes: []string{"urn:a"}}, []string{"sourcePrefixes"}},
		"of a blank one for nothing": {NewToken{Name: "a", Scopes: read, SourcePrefixes: []string{" "}}, []string{"sourcePrefixes", "sourcePrefixes"}},
		"that outlive the calendar":  {NewToken{Name: "a", Scopes: read, Expires: &beyond}, []string{"expireTime"}},
	} {
		t.Run(name, func(t *testing.T) {
			made, secret, err := tokens.Create(t.Context(), c.token, nil)
			if made != nil || secret != "" {
				t.Errorf("made %+v", made)
			}
			wantKind(t, err, fault.InvalidArgument, fault.ReasonInvalidField)
			var fields []string
			for _, v := range fault.Of(err).Violations {
				fields = append(fields, v.Metadata["attribute"])
			}
			if !slices.Equal(fields, c.fields) {
				t.Errorf("wrong are %q", fields)
			}
		})
	}
	if all, err := tokens.List(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("%d are stored, %v", len(all), err)
	}
	last := time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC)
	widest := NewToken{Name: strings.Repeat("👩💻ü", 33), Scopes: Scopes(), SourcePrefixes: make([]string, 50), Expires: &last}
	for i := range widest.SourcePrefixes {
		widest.SourcePrefixes[i] = fmt.Sprintf("%s%02d", strings.Repeat("p", 1022), i)
	}
	if made, _, err := tokens.Create(t.Context(), widest, nil); err != nil || len(made.SourcePrefixes) != 50 || made.Name != widest.Name || made.Expires.UTC().Year() != 9999 {
		t.Errorf("the widest that is allowed: %+v, %v", made, err)
	}
}

func TestANameHasNothingThatNobodySees(t *testing.T) {
	t.Parallel()
	for _, r := range "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c\u200b\u200c\u200d\u2060\ufeff\u00ad\u2028\u2029\u3164\U000e0041" {
		wantKind(t, CheckNew(NewToken{Name: "a" + string(r) + "b", Scopes: Scopes()}), fault.InvalidArgument, fault.ReasonInvalidField)
	}
	for _, name := range []string{"Tür 7", "門", "שער", "گیت", "gate ❤️", "a-b_c.d/e"} {
		if err := CheckNew(NewToken{Name: name, Scopes: Scopes()}); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
}
