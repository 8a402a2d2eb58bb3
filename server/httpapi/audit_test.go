package httpapi

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"oriel/server/audit"
	"oriel/server/fault"
)

func TestTheRecordIsListedAsItIs(t *testing.T) {
	t.Parallel()
	o := startOffice(t)
	made := into[CreatedToken](t, o.post("/v1/tokens", o.admin, newToken))
	op, err := o.log.Begin(t.Context(), audit.Entry{Action: audit.ActionAdoptTopic, Actor: audit.Actor{Kind: "cli", ID: "cli:root", Name: "root"}})
	if err != nil {
		t.Fatal(err)
	}
	page := into[AuditPage](t, o.get("/v1/auditEntries"))
	if len(page.Entries) != 2 || page.NextPageToken != nil {
		t.Fatalf("got %+v", page)
	}
	begun, done := page.Entries[0], page.Entries[1]
	if begun.Name != "auditEntries/"+op.ID() || begun.Outcome != "unknown" || begun.OutcomeTime != nil || begun.ActorKind != "cli" || begun.ActorId != "cli:root" ||
		begun.Roles == nil || len(begun.Roles) != 0 || begun.Before != nil || begun.After != nil {
		t.Errorf("got %+v", begun)
	}
	if done.Action != "token.create" || done.Outcome != "done" || done.Actor != "boss" || done.ActorKind != "token" || done.Target != made.Token.Name ||
		done.After == nil || (*done.After)["displayName"] != "gate 7" || done.OutcomeTime == nil || *done.OutcomeTime < done.IntentTime {
		t.Errorf("got %+v", done)
	}
	for _, text := range []string{done.IntentTime, *done.OutcomeTime} {
		if at, err := time.Parse(microseconds, text); err != nil || time.Since(at).Abs() > time.Minute {
			t.Errorf("the time %q: %v", text, err)
		}
	}
}

// fill puts so many operations on the record.
func (o *office) fill(n int) {
	o.t.Helper()
	o.exec(`
WITH made AS (SELECT n, gen_random_uuid() AS operation FROM generate_series(1, $1::int) n)
INSERT INTO audit (operation, phase, action, outcome, actor_kind, actor, actor_id, roles, target, reason, request_id, address, folded)
SELECT operation, phase, 'token.revoke', CASE phase WHEN 'outcome' THEN 'done' END, 'person', 'Ada ' || n % 3, 'ada', '{admin}', 'tokens/' || n,
       'a reason of usual length', 'req_' || md5(n::text), '192.0.2.7', ''
  FROM made CROSS JOIN (VALUES ('intent'), ('outcome')) p (phase) ORDER BY n, phase`, n)
}

func TestTheRecordIsFilteredByItsParameters(t *testing.T) {
	t.Parallel()
	o := startOffice(t)
	o.fill(9)
	into[CreatedToken](t, o.post("/v1/tokens", o.admin, newToken))
	for query, want := range map[string]int{
		"":                                  10,
		"actor=Ada+1":                       3,
		"actor=Ada+1&actor=Ada+2":           6,
		"actor=Ada*":                        9,
		"actor=":                            10,
		"action=token.create":               1,
		"action=session.*":                  0,
		"target=tokens/7":                   1,
		"outcome=unknown":                   0,
		"outcome=done&outcome=failed":       10,
		"q=NEW%3C/b%3E+GATE":                1,
		"q=%25":                             0,
		"from=-1h":                          10,
		"until=-1h":                         0,
		"from=-1h&until=now":                10,
		"from=2020-01-01T00:00:00%2B02:00":  10,
		"until=2020-01-01T00:00:00Z":        0,
		"from=&until=":                      10,
		"actor=Ada*&outcome=done&from=-15m": 9,
	} {
		if got := into[AuditPage](t, o.get("/v1/auditEntries?"+query)); len(got.Entries) != want {
			t.Errorf("%s finds %d, want %d", query, len(got.Entries), want)
		}
	}
}

func TestWhatIsWrongWithAFilterIsToldTogether(t *testing.T) {
	t.Parallel()
	o := startOffice(t)
	for query, want := range map[string][]string{
		"colour=red&from=noon&until=soon&outcome=maybe&pageSize=501&q=" + strings.Repeat("x", 201): {
			"INVALID_PARAMETER from", "INVALID_PARAMETER outcome[0]", "INVALID_PARAMETER pageSize", "INVALID_PARAMETER q", "INVALID_PARAMETER until", "UNKNOWN_PARAMETER colour",
		},
		"from=-1h&until=-2h&Actor=x":     {"INVALID_PARAMETER until", "UNKNOWN_PARAMETER Actor"},
		"from=2026-11-30T10:00:00+01:00": {"INVALID_PARAMETER from"},
		"from=-1h&from=-2h":              {"INVALID_PARAMETER from"},
		"q=a%00b":                        {"INVALID_PARAMETER q"},
		"actor=%FF":                      {"INVALID_PARAMETER actor"},
		"actor=" + strings.Repeat("x&actor=", 20) + "x": {"INVALID_PARAMETER actor"},
		"pageToken=x": {"INVALID_PAGE_TOKEN pageToken"},
	} {
		for _, path := range []string{"/v1/auditEntries", "/v1/auditEntries:export"} {
			if strings.HasSuffix(path, ":export") && strings.Contains(query, "page") {
				continue
			}
			r := o.get(path + "?" + query)
			var e ErrorResponse
			if err := json.Unmarshal(r.body, &e); err != nil || r.StatusCode != http.StatusBadRequest {
				t.Errorf("%s?%s: %d %s", path, query, r.StatusCode, r.body)
			}
			var got []string
			for _, d := range e.Error.Details {
				got = append(got, d.Reason+" "+d.Metadata["attribute"])
			}
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("%s?%s: found %q, want %q", path, query, got, want)
			}
		}
	}
	f := o.get("/v1/auditEntries?from=noon").failure(t, 400, fault.ReasonInvalidParameter)
	if d := f.Details[0]; !strings.Contains(d.Metadata["accepted"], "-15m") || d.Metadata["value"] != "noon" {
		t.Errorf("got %+v", d)
	}
	if n := len(o.entries(audit.Filter{})); n != 0 {
		t.Errorf("%d entries of exports that cannot be", n)
	}
}

func TestPagesOfTheRecordKeepARelativeTime(t *testing.T) {
	t.Parallel()
	o := startOffice(t)
	o.fill(25)
	all := into[AuditPage](t, o.get("/v1/auditEntries"))
	var got []string
	token := ""
	for range 4 {
		page := into[AuditPage](t, o.get("/v1/auditEntries?from=-1h&until=now&pageSize=10"+token))
		for _, e := range page.Entries {
			got = append(got, e.Name)
		}
		if page.NextPageToken == nil {
			break
		}
		token = "&pageToken=" + url.QueryEscape(*page.NextPageToken)
		o.get("/v1/auditEntries?from=-2h&until=now&pageSize=10"+token).failure(t, 400, fault.ReasonInvalidPageToken)
	}
	if len(got) != 25 {
		t.Fatalf("%d entries", len(got))
	}
	for i, e := range all.Entries {
		if got[i] != e.Name {
			t.Fatalf("entry %d differs", i)
		}
	}
}

func TestARecordOutOfReachIsToldAsSuch(t *testing.T) {
	t.Parallel()
	o := startOffice(t)
	o.exec("ALTER TABLE audit RENAME TO hidden")
	o.get("/v1/auditEntries").failure(t, 500, fault.ReasonInternal)
	o.get("/v1/auditEntries:export").failure(t, 503, fault.ReasonDatabaseUnavailable)
	o.post("/v1/tokens", o.admin, newToken).failure(t, 503, fault.ReasonDatabaseUnavailable)
}
