package app_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"oriel/server/apptest"
	"oriel/server/dbtest"
)

// Whoever installs the program, configures facets and sends events finds nothing wrong with what is derived from
// them, before and after it is made again, with and without a server at work.
func TestWhatIsDerivedIsCheckedAndMadeAgainWithConfiguredFacets(t *testing.T) {
	t.Parallel()
	in := apptest.Install(t, dbtest.NewKfake(t, 2))
	in.Env = append(slices.Clone(in.Env), "ORIEL_FACETS=line=data.place.line,region=ext.region,person=", "ORIEL_FACETS_COUNTED=line", "ORIEL_SEVERITY_PATH=data.log.level")
	for _, command := range [][]string{{"check", "rollups"}, {"check", "blocks"}, {"reindex"}, {"reindex", "--rollups"}} { // of nothing
		apptest.Run(t, in.Env, command...)
	}
	listen := apptest.FreeAddr(t)
	server := in.Serve(t, listen)
	a := &asker{t, "http://" + listen, in, ""}
	const sent = 60
	var events []map[string]any
	for i := range sent {
		e := event(fmt.Sprint("e-", i), time.Now().UTC().Add(-time.Duration(i)*20*time.Minute).Format(time.RFC3339), map[string]any{
			"roomId": "hall", "personId": "ada", "tags": []string{"a", "b"}, "place": map[string]any{"line": fmt.Sprint("line ", i%3)}, "log": map[string]any{"level": "error"},
		})
		e["region"] = "north"
		events = append(events, e)
	}
	if status, answer := a.batch(events...); status != http.StatusOK {
		t.Fatalf("%d %s", status, answer)
	}
	a.until(sent)
	checked := func(when string) {
		t.Helper()
		if out := apptest.Run(t, in.Env, "check", "rollups"); !strings.Contains(out, ": 0 differ") || strings.Contains(out, "compared 0 rows") {
			t.Errorf("%s: check rollups said %q", when, out)
		}
		if out := apptest.Run(t, in.Env, "check", "blocks"); !strings.Contains(out, fmt.Sprint(sent, " events in")) || strings.Contains(out, "no blocks yet") {
			t.Errorf("%s: check blocks said %q", when, out)
		}
	}
	again := func(when string) {
		t.Helper()
		if out := apptest.Run(t, in.Env, "reindex", "--rollups"); !strings.Contains(out, "corrected 0 rows") {
			t.Errorf("%s: reindex --rollups said %q", when, out)
		}
		if out := apptest.Run(t, in.Env, "reindex"); !strings.Contains(out, "reindexed 0 events") {
			t.Errorf("%s: reindex said %q", when, out)
		}
		if out := apptest.Run(t, in.Env, "reindex", "--rebuild"); !strings.Contains(out, fmt.Sprint("reindexed ", sent, " events")) {
			t.Errorf("%s: reindex --rebuild said %q", when, out)
		}
	}
	checked("beside a server")
	again("beside a server")
	checked("made again beside a server")
	server.Stop(20 * time.Second)
	checked("alone")
	again("alone")
	checked("made again alone")
}
