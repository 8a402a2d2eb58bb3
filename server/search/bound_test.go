package search

import (
	"testing"
	"time"
)

func TestBoundsAreReadAndFloored(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"now":                               "2026-11-30T12:00:00.000000Z",
		"-15m":                              "2026-11-30T11:45:00.000000Z",
		"-0s":                               "2026-11-30T12:00:00.000000Z",
		"-1h":                               "2026-11-30T11:00:00.000000Z",
		"-7d":                               "2026-11-23T12:00:00.000000Z",
		"-2w":                               "2026-11-16T12:00:00.000000Z",
		"2026-11-30T13:13:13.999999600Z":    "2026-11-30T13:13:13.999999Z",
		"2026-11-30T13:13:13.1234567891Z":   "2026-11-30T13:13:13.123456Z",
		"2026-11-30T13:13:13.9999999+01:30": "2026-11-30T11:43:13.999999Z",
		"0000-01-01T00:00:00Z":              "0000-01-01T00:00:00.000000Z",
	} {
		b, err := ParseBound(s)
		if err != nil {
			t.Errorf("%s: %v", s, err)
			continue
		}
		if got := b.Resolve(noon()).String(); got != want {
			t.Errorf("%s is %s, want %s", s, got, want)
		}
	}
	for _, s := range []string{"-", "-1", "-h", "-1y", "-1.5h", "--1h", "-1h30m", "1h", "+1h", "NOW", "2026-11-30", "2026-11-30T12:00Z", "-99999999999999999999s", "-36600w"} {
		if b, err := ParseBound(s); err == nil {
			t.Errorf("%s was read as %+v", s, b)
		}
	}
}

func TestAnEventLiesInsideItsWindowByItsTrueTime(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	stamp := func(s string) time.Time {
		at, err := time.Parse(time.RFC3339Nano, s)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	st.add(
		sample{id: "before", at: stamp("2026-11-30T11:13:13.678668399Z")},
		sample{id: "edge", at: stamp("2026-11-30T11:13:13.999999600Z"), timeText: "2026-11-30T11:13:13.999999600Z"},
		sample{id: "after", at: stamp("2026-11-30T11:13:14Z")},
	)
	st.expect("edge before", "from", "2026-11-30T11:13:13Z", "until", "2026-11-30T11:13:14Z")
	st.expect("after", "from", "2026-11-30T11:13:14Z", "until", "2026-11-30T11:13:15Z")
	// Two windows that meet share no event and lose none, wherever within the microsecond they meet.
	st.expect("before", "from", "2026-11-30T11:13:13Z", "until", "2026-11-30T11:13:13.9999995Z")
	st.expect("after edge", "from", "2026-11-30T11:13:13.9999995Z", "until", "2026-11-30T11:13:15Z")
	if e := st.list("until", "2026-11-30T11:13:14Z").Events[0]; e.TimeText != "2026-11-30T11:13:13.999999600Z" || formatTime(e.OccurredAt) != "2026-11-30T11:13:13.999999Z" {
		t.Errorf("shown as %q at %s", e.TimeText, e.OccurredAt)
	}
}

func TestAnEmptyWindowIsRefused(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	for _, params := range [][]string{{"from", "now", "until", "-1h"}, {"from", "-1h", "until", "-1h"}, {"until", "-2d"}} {
		_, err := st.svc.List(t.Context(), values(params...))
		if err == nil {
			t.Fatalf("%v was accepted", params)
		}
		if got := violationsOf(t, err); len(got) != 1 || got[0] != "INVALID_PARAMETER until" {
			t.Errorf("%v: %v", params, got)
		}
	}
}
