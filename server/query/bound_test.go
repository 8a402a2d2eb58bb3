package query

import (
	"testing"
	"time"
)

func noon() time.Time { return time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC) }

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
		if again, err := ParseBound(b.String()); err != nil || again != b {
			t.Errorf("%s is spelled %s, which is %+v: %v", s, b, again, err)
		}
	}
	for _, s := range []string{"-", "-1", "-h", "-1y", "-1.5h", "--1h", "-1h30m", "1h", "+1h", "NOW", "2026-11-30", "2026-11-30T12:00Z", "-99999999999999999999s", "-36600w"} {
		if b, err := ParseBound(s); err == nil {
			t.Errorf("%s was read as %+v", s, b)
		}
	}
}

func TestWindowsBeginADayAgoAndAreNeverEmpty(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ from, until, want string }{
		"nothing given":      {"", "", "2026-11-29T12:00:00.000000Z open"},
		"an end alone":       {"", "-1h", "2026-11-29T12:00:00.000000Z 2026-11-30T11:00:00.000000Z"},
		"both":               {"-2h", "now", "2026-11-30T10:00:00.000000Z 2026-11-30T12:00:00.000000Z"},
		"an end before":      {"now", "-1h", ""},
		"no time at all":     {"-1h", "-60m", ""},
		"before the default": {"", "-2d", ""},
	} {
		var bounds [2]Bound
		for i, s := range []string{c.from, c.until} {
			if s == "" {
				continue
			}
			b, err := ParseBound(s)
			if err != nil {
				t.Fatal(err)
			}
			bounds[i] = b
		}
		w, err := ResolveWindow(bounds[0], bounds[1], noon())
		got := ""
		if err == nil {
			if got = w.From.String() + " open"; w.Until.Given {
				got = w.From.String() + " " + w.Until.String()
			}
		}
		if got != c.want {
			t.Errorf("%s: %q (%v), not %q", name, got, err, c.want)
		}
	}
}
