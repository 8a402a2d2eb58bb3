package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"oriel/server/audit"
	"oriel/server/auth"
	"oriel/server/dbtest"
	"oriel/server/fault"
)

// office is an edge with real tokens and a real record behind it.
type office struct {
	*edge
	pool   *pgxpool.Pool
	tokens *auth.Tokens
	log    *audit.Log
	admin  string // secrets: of a token with admin:read and admin:write,
	clerk  string // and of one with neither
}

func startOffice(t *testing.T, change ...func(*Deps)) *office {
	t.Helper()
	return officeWith(t, func(*office, *Deps) {}, change...)
}

// officeWith has more on its database.
func officeWith(t *testing.T, with func(*office, *Deps), change ...func(*Deps)) *office {
	t.Helper()
	o := &office{pool: dbtest.New(t)}
	o.edge = start(t, append([]func(*Deps){func(d *Deps) {
		o.tokens = auth.NewTokens(o.pool, slog.New(slog.DiscardHandler), d.Registry)
		o.log = audit.New(o.pool, d.Registry)
		d.Tokens, d.TokenAdmin, d.Audit = o.tokens, o.tokens, o.log
		d.Saved = savedIn(o, d)
		with(o, d)
	}}, change...)...)
	t.Cleanup(o.tokens.Close)
	o.admin = o.mint("boss", auth.ScopeAdminRead, auth.ScopeAdminWrite)
	o.clerk = o.mint("clerk", auth.ScopeEventsRead)
	return o
}

func (o *office) mint(name string, scopes ...string) string {
	o.t.Helper()
	_, secret, err := o.tokens.Create(o.t.Context(), auth.NewToken{Name: name, Scopes: scopes}, nil)
	if err != nil {
		o.t.Fatal(err)
	}
	return secret
}

func (o *office) post(path, token, body string) reply {
	o.t.Helper()
	req := o.request("POST", path, token, "Content-Type", "application/json")
	req.Body, req.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
	return o.do(req)
}

func (o *office) get(path string) reply {
	o.t.Helper()
	return o.do(o.request("GET", path, o.admin))
}

func into[T any](t *testing.T, r reply) (out T) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(r.body))
	d.DisallowUnknownFields()
	if err := d.Decode(&out); err != nil || r.StatusCode != http.StatusOK {
		t.Fatalf("%d %s: %v", r.StatusCode, r.body, err)
	}
	return out
}

// entries are all of the record, newest first.
func (o *office) entries(f audit.Filter) []audit.Entry {
	o.t.Helper()
	page, err := o.log.List(o.t.Context(), f, 500, "")
	if err != nil {
		o.t.Fatal(err)
	}
	return page.Entries
}

func (o *office) exec(sql string, args ...any) {
	o.t.Helper()
	if _, err := o.pool.Exec(o.t.Context(), sql, args...); err != nil {
		o.t.Fatalf("%s: %v", sql, err)
	}
}

func (o *office) count(sql string) (n int) {
	o.t.Helper()
	if err := o.pool.QueryRow(o.t.Context(), sql).Scan(&n); err != nil {
		o.t.Fatalf("%s: %v", sql, err)
	}
	return n
}

// refusing makes the database refuse rows of a table.
func (o *office) refusing(table, when string) {
	o.t.Helper()
	o.exec(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no row today'; END $$`)
	o.exec(fmt.Sprintf(`CREATE TRIGGER refuse BEFORE INSERT ON %s FOR EACH ROW WHEN (%s) EXECUTE FUNCTION refuse()`, table, when))
}

const newToken = `{"displayName":"gate 7","scopes":["events:write","events:read"],"sourcePrefixes":["urn:gate:"],"expireTime":"2099-01-01T00:00:00Z","reason":"a <b>new</b> gate \u202e\u2066x"}`

func TestATokenIsMadeAndItsMakingIsOnTheRecordWithoutItsSecret(t *testing.T) {
	t.Parallel()
	o := startOffice(t)
	r := o.post("/v1/tokens", o.admin, newToken)
	made := into[CreatedToken](t, r)
	got := made.Token
	if got.DisplayName != "gate 7" || got.State != "active" || !slices.Equal(got.Scopes, []Scope{"events:write", "events:read"}) ||
		got.CreatedBy == nil || *got.CreatedBy != "boss" || *got.ExpireTime != "2099-01-01T00:00:00.000000Z" ||
		(*got.SourcePrefixes)[0] != "urn:gate:" || !strings.HasPrefix(made.Secret, "orl_"+got.Prefix) || got.LastUseTime != nil || got.RevokeTime != nil {
		t.Errorf("got %s", r.body)
	}
	if p, err := o.tokens.Verify(t.Context(), made.Secret); err != nil || "tokens/"+strings.TrimPrefix(p.ID, "tokens/") != got.Name {
		t.Errorf("got %+v, %v", p, err)
	}
	all := o.entries(audit.Filter{})
	if len(all) != 1 {
		t.Fatalf("%d entries", len(all))
	}
	e := all[0]
	if e.Action != audit.ActionTokenCreate || e.Outcome != audit.Done || e.Target != got.Name || e.Reason != "a <b>new</b> gate [U+202E][U+2066]x" ||
		e.Actor.Kind != "token" || e.Actor.Name != "boss" || !slices.Equal(e.Actor.Roles, []string{"admin:read", "admin:write"}) ||
		e.RequestID != r.Header.Get("X-Request-Id") || e.Address != "127.0.0.1" || e.Before != nil || e.After["prefix"] != got.Prefix ||
		e.After["displayName"] != "gate 7" || fmt.Sprint(e.After["scopes"]) != "[events:write events:read]" ||
		fmt.Sprint(e.After["sourcePrefixes"]) != "[urn:gate:]" || e.After["expireTime"] != "2099-01-01T00:00:00.000000Z" {
		t.Errorf("got %+v", e)
	}
	if n := o.count(`SELECT count(*) FROM audit a WHERE a::text LIKE '%` + made.Secret[12:] + `%'`); n != 0 {
		t.Error("the secret is on the record")
	}
	if strings.Contains(o.edge.log.String(), made.Secret[12:]) {
		t.Error("the secret is in the log")
	}
}

func TestATokenThatCannotBeIsToldWhyAndNotRecorded(t *testing.T) {
	t.Parallel()
	o := startOffice(t)
	for name, c := range map[string]struct {
		body   string
		fields []string
	}{
		"everything is wrong":          {`{"displayName":" ","scopes":["root"],"reason":"","sourcePrefixes":[""],"expireTime":"soon","colour":1}`, []string{"colour", "displayName", "expireTime", "reason", "scopes[0]", "sourcePrefixes[0]"}},
		"nothing is there":             {`{}`, []string{"displayName", "reason", "scopes"}},
		"an expiry in the past":        {`{"displayName":"x","scopes":["operate"],"reason":"y","expireTime":"2020-01-01T00:00:00Z"}`, []string{"expireTime"}},
		"a NUL in the reason":          {`{"displayName":"x","scopes":["operate"],"reason":"a\u0000b"}`, []string{"reason"}},
		"a reason of 501 characters":   {`{"displayName":"x","scopes":["operate"],"reason":"` + strings.Repeat("ü", 501) + `"}`, []string{"reason"}},
		"a control in a prefix":        {`{"displayName":"x","scopes":["events:write"],"reason":"y","sourcePrefixes":["a\u001bb"]}`, []string{"sourcePrefixes[0]"}},
		"a prefix of too many bytes":   {`{"displayName":"x","scopes":["events:write"],"reason":"y","sourcePrefixes":["` + strings.Repeat("ü", 600) + `"]}`, []string{"sourcePrefixes"}},
		"a NUL in the name":            {`{"displayName":"x\u0000y","scopes":["operate"],"reason":"y"}`, []string{"displayName"}},
		"an expiry in the year 10000":  {`{"displayName":"x","scopes":["operate"],"reason":"y","expireTime":"9999-12-31T23:59:59-12:00"}`, []string{"expireTime"}},
		"prefixes of a reader":         {`{"displayName":"x","scopes":["operate"],"reason":"y","sourcePrefixes":["urn:a"]}`, []string{"sourcePrefixes"}},
		"a blank prefix":               {`{"displayName":"x","scopes":["events:write"],"reason":"y","sourcePrefixes":[" "]}`, []string{"sourcePrefixes"}},
		"a name that is turned round":  {`{"displayName":"x\u202ey","scopes":["operate"],"reason":"y"}`, []string{"displayName"}},
		"a line feed in the name":      {`{"displayName":"x\ny","scopes":["operate"],"reason":"y"}`, []string{"displayName"}},
		"the same scope a second time": {`{"displayName":"x","scopes":["operate","operate"],"reason":"y"}`, []string{"scopes[1]"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := o.post("/v1/tokens", o.admin, c.body).failure(t, 400, fault.ReasonInvalidField)
			var fields []string
			for _, d := range f.Details {
				fields = append(fields, d.Metadata["attribute"])
				if strings.Contains(d.Message, "may be in it") {
					t.Errorf("%s allows what is refused", d.Message)
				}
			}
			slices.Sort(fields)
			if !slices.Equal(fields, c.fields) {
				t.Errorf("found %q", fields)
			}
		})
	}
	if n := len(o.entries(audit.Filter{})); n != 0 {
		t.Errorf("%d entries", n)
	}
	if n := o.count("SELECT count(*) FROM api_token"); n != 2 {
		t.Errorf("%d tokens", n)
	}
}

func TestNoTokenIsMadeWithoutItsEntry(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		table, when string
		code        int
		reason      string
		outcomes    []string
	}{
		"the intent cannot be written":  {"audit", "NEW.phase = 'intent'", 503, fault.ReasonDatabaseUnavailable, nil},
		"the outcome cannot be written": {"audit", "NEW.outcome = 'done'", 503, fault.ReasonDatabaseUnavailable, []string{audit.Failed}},
		"no outcome can be written":     {"audit", "NEW.phase = 'outcome'", 503, fault.ReasonDatabaseUnavailable, []string{audit.Unknown}},
		"the token cannot be written":   {"api_token", "true", 500, fault.ReasonInternal, []string{audit.Failed}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := startOffice(t)
			o.refusing(c.table, c.when)
			o.post("/v1/tokens", o.admin, newToken).failure(t, c.code, c.reason)
			if n := o.count("SELECT count(*) FROM api_token"); n != 2 {
				t.Errorf("%d tokens", n)
			}
			var outcomes []string
			for _, e := range o.entries(audit.Filter{}) {
				outcomes = append(outcomes, e.Outcome)
			}
			if !slices.Equal(outcomes, c.outcomes) {
				t.Errorf("outcomes %q", outcomes)
			}
		})
	}
}

func TestATokenIsRevokedOnceAndEveryTryIsOnTheRecord(t *testing.T) {
	t.Parallel()
	o := startOffice(t)
	made := into[CreatedToken](t, o.post("/v1/tokens", o.admin, newToken))
	path := "/v1/" + made.Token.Name + ":revoke"
	got := into[Token](t, o.post(path, o.admin, `{"reason":"leaked"}`))
	if got.State != "revoked" || got.RevokedBy == nil || *got.RevokedBy != "boss" || got.RevokeTime == nil {
		t.Errorf("got %+v", got)
	}
	if _, err := o.tokens.Verify(t.Context(), made.Secret); fault.Of(err).Kind != fault.Unauthenticated {
		t.Errorf("the token still works: %v", err)
	}
	twice := o.post(path, o.admin, `{"reason":"again"}`).failure(t, 409, fault.ReasonAlreadyRevoked)
	if !strings.Contains(twice.Message, "boss") || !strings.Contains(twice.Message, time.Now().UTC().Format("2006-01-")) {
		t.Errorf("it does not say who and when: %s", twice.Message)
	}
	o.post("/v1/tokens/4711:revoke", o.admin, `{"reason":"unknown"}`).failure(t, 404, fault.ReasonNotFound)
	o.post("/v1/tokens/9999999999999999999:revoke", o.admin, `{"reason":"beyond"}`).failure(t, 404, fault.ReasonNotFound)
	for _, odd := range []string{"07", "0x1"} {
		f := o.post("/v1/tokens/"+odd+":revoke", o.admin, `{"reason":"no number"}`).failure(t, 400, fault.ReasonInvalidParameter)
		if accepted := f.Details[0].Metadata["accepted"]; accepted == "" || !strings.Contains(f.Message, accepted) {
			t.Errorf("%+v does not say what is accepted", f)
		}
	}

	all := o.entries(audit.Filter{Actions: []string{audit.ActionTokenRevoke}})
	if len(all) != 3 {
		t.Fatalf("%d entries: %+v", len(all), all)
	}
	unknown, again, first := all[0], all[1], all[2]
	if unknown.Outcome != audit.Refused || unknown.Target != "tokens/4711" || !strings.HasPrefix(unknown.Detail, "NOT_FOUND: ") {
		t.Errorf("got %+v", unknown)
	}
	if again.Outcome != audit.Refused || again.Target != made.Token.Name || !strings.Contains(again.Detail, "boss") || again.Reason != "again" {
		t.Errorf("got %+v", again)
	}
	if first.Outcome != audit.Done || first.Reason != "leaked" || first.Before["displayName"] != "gate 7" || first.Before["revokedBy"] != nil ||
		first.After["revokedBy"] != "boss" || first.After["prefix"] != made.Token.Prefix {
		t.Errorf("got %+v", first)
	}
}

func TestAnAttemptWithoutAccessIsOnTheRecord(t *testing.T) {
	t.Parallel()
	o := startOffice(t)
	before := o.count("SELECT count(*) FROM api_token")
	for _, c := range []struct{ method, path, action, target string }{
		{"POST", "/v1/tokens", audit.ActionTokenCreate, "tokens"},
		{"POST", "/v1/tokens/7:revoke", audit.ActionTokenRevoke, "tokens/7"},
		{"GET", "/v1/auditEntries:export", audit.ActionAuditExport, "auditEntries:export"},
	} {
		r := o.do(o.request(c.method, c.path, o.clerk))
		r.failure(t, 403, fault.ReasonScopeMissing)
		e := o.entries(audit.Filter{})[0]
		if e.Action != c.action || e.Target != c.target || e.Outcome != audit.Refused || e.Actor.Name != "clerk" || e.End == nil ||
			!strings.HasPrefix(e.Detail, "SCOPE_MISSING: ") || e.RequestID != r.Header.Get("X-Request-Id") || e.Address != "127.0.0.1" {
			t.Errorf("got %+v", e)
		}
	}
	o.do(o.request("GET", "/v1/tokens", o.clerk)).failure(t, 403, fault.ReasonScopeMissing)
	o.do(o.request("POST", "/v1/tokens", "", "Host", "events.example.com", "Origin", "https://events.example.com")).failure(t, 401, fault.ReasonTokenMissing)
	o.do(o.request("POST", "/v1/tokens", "orl_unknown")).failure(t, 401, fault.ReasonTokenInvalid)
	if n := len(o.entries(audit.Filter{})); n != 3 {
		t.Errorf("%d entries", n)
	}
	if n := o.count("SELECT count(*) FROM api_token"); n != before {
		t.Errorf("%d tokens", n)
	}
}

func TestAttemptsWithoutAccessDoNotFillTheRecord(t *testing.T) {
	t.Parallel()
	o := startOffice(t)
	const tries = 30
	for range tries {
		o.do(o.request("POST", "/v1/tokens", o.clerk)).failure(t, 403, fault.ReasonScopeMissing)
	}
	kept := len(o.entries(audit.Filter{}))
	if kept < refusalsKept || kept > refusalsKept+tries/5 {
		t.Errorf("%d entries", kept)
	}
	if n := o.metric("oriel_audit_refusals_left_out_total", nil); int(n) != tries-kept {
		t.Errorf("%v left out", n)
	}
	other := o.mint("other clerk", auth.ScopeOperate)
	o.do(o.request("POST", "/v1/tokens", other)).failure(t, 403, fault.ReasonScopeMissing)
	if e := o.entries(audit.Filter{})[0]; e.Actor.Name != "other clerk" {
		t.Errorf("another's attempt is left out: %+v", e)
	}
}

func TestARefusalStandsWhereItsEntryCannotBeWritten(t *testing.T) {
	t.Parallel()
	o := startOffice(t)
	o.refusing("audit", "true")
	o.do(o.request("POST", "/v1/tokens", o.clerk)).failure(t, 403, fault.ReasonScopeMissing)
	if !strings.Contains(o.edge.log.String(), "an outcome is not on the record") {
		t.Errorf("nothing is said: %s", o.edge.log)
	}
}

func TestTokensAreListedInPagesByTextAndState(t *testing.T) {
	t.Parallel()
	o := startOffice(t)
	for _, name := range []string{"Gate north", "gate south", "press"} {
		o.mint(name, auth.ScopeEventsWrite)
	}
	o.post("/v1/tokens/4:revoke", o.admin, `{"reason":"gone"}`)
	names := func(query string) (names []string) {
		token := ""
		for {
			page := into[TokenPage](t, o.get("/v1/tokens?pageSize=1"+query+token))
			for _, tk := range page.Tokens {
				names = append(names, tk.DisplayName)
			}
			if page.NextPageToken == nil {
				if int(page.Total) != len(names) {
					t.Errorf("%s: total %d of %d", query, page.Total, len(names))
				}
				return names
			}
			token = "&pageToken=" + *page.NextPageToken
		}
	}
	for query, want := range map[string][]string{
		"":                             {"press", "gate south", "Gate north", "clerk", "boss"},
		"&q=GATE":                      {"gate south", "Gate north"},
		"&state=revoked":               {"gate south"},
		"&state=active&q=gate":         {"Gate north"},
		"&state=revoked&state=expired": {"gate south"},
		"&state=expired":               nil,
	} {
		if got := names(query); !slices.Equal(got, want) {
			t.Errorf("%s lists %q", query, got)
		}
	}
	if r := o.get("/v1/tokens"); strings.Contains(string(r.body), "hash") || strings.Contains(string(r.body), o.admin[12:]) {
		t.Errorf("the list tells %s", r.body)
	}
	next := into[TokenPage](t, o.get("/v1/tokens?pageSize=1")).NextPageToken
	o.get("/v1/tokens?pageSize=1&q=gate&pageToken="+*next).failure(t, 400, fault.ReasonInvalidPageToken)
	f := o.get("/v1/tokens?colour=red&state=new&pageSize=0").failure(t, 400, fault.ReasonUnknownParameter)
	if len(f.Details) != 3 {
		t.Errorf("found %+v", f.Details)
	}
}
