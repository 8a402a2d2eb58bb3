package cloudevents_test

import (
	"strings"
	"testing"
	"time"

	"oriel/server/cloudevents"
)

func TestTimeIsReadAndFloored(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"2026-11-30T12:34:56Z":                   "2026-11-30T12:34:56Z",
		"2026-11-30t12:34:56z":                   "2026-11-30T12:34:56Z",
		"2026-11-30T12:34:56.1Z":                 "2026-11-30T12:34:56.1Z",
		"2026-11-30T12:34:56.123456789Z":         "2026-11-30T12:34:56.123456Z",
		"2026-11-30T13:13:13.999999600Z":         "2026-11-30T13:13:13.999999Z",
		"2026-11-30T13:13:13.9999999999999999Z":  "2026-11-30T13:13:13.999999Z",
		"1969-12-31T23:59:59.9999999Z":           "1969-12-31T23:59:59.999999Z",
		"2026-11-30T12:34:56+05:45":              "2026-11-30T06:49:56Z",
		"2026-11-30T00:00:00.5-11:30":            "2026-11-30T11:30:00.5Z",
		"2026-11-30T00:00:00-00:00":              "2026-11-30T00:00:00Z",
		"2026-11-30T00:00:00+23:59":              "2026-11-29T00:01:00Z",
		"2024-02-29T00:00:00Z":                   "2024-02-29T00:00:00Z",
		"2000-02-29T00:00:00Z":                   "2000-02-29T00:00:00Z",
		"0000-01-01T00:00:00Z":                   "0000-01-01T00:00:00Z",
		"9999-12-31T23:59:59.999999999Z":         "9999-12-31T23:59:59.999999Z",
		"2016-12-31T23:59:60Z":                   "2016-12-31T23:59:59.999999Z",
		"2016-12-31T23:59:60.25Z":                "2016-12-31T23:59:59.999999Z",
		"2017-01-01T00:59:60+01:00":              "2016-12-31T23:59:59.999999Z",
		"2026-11-30T12:34:56.0000000000000000Z":  "2026-11-30T12:34:56Z",
		"2026-11-30T12:34:56.12345600000+00:00":  "2026-11-30T12:34:56.123456Z",
		"2026-11-30T12:34:56.000000999999+00:00": "2026-11-30T12:34:56Z",
		"2026-11-30T12:34:56.00000100000000Z":    "2026-11-30T12:34:56.000001Z",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			got, err := cloudevents.ParseTime(text)
			if err != nil || got.Format(time.RFC3339Nano) != want || got.Location() != time.UTC {
				t.Fatalf("got %v, %v, want %s", got, err, want)
			}
			e := mustStructured(t, strings.Replace(structured(""), "2026-11-30T12:00:00Z", text, 1))
			if e.TimeText != text || !e.Time.Equal(got) {
				t.Errorf("the event has %q and %v", e.TimeText, e.Time)
			}
		})
	}
}

func TestWhatIsNoTimeIsRefusedWithTheForm(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"yesterday", "2026-11-30", "2026-11-30T12:00:00", "2026-11-30 12:00:00Z", "2026-11-30T12:00Z",
		"2026-11-30T12:00:00,5Z", "2026-11-30T12:00:00.Z", "2026-11-30T12:00:00.5", "2026-11-30T12:00:00+0100",
		"2026-11-30T12:00:00+24:00", "2026-11-30T12:00:00+01:60", "2026-11-30T12:00:00 Z", "2026-11-30T12:00:00ZZ",
		"2026-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z",
		"2026-01-00T00:00:00Z", "2026-01-32T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z",
		"2026-01-01T00:00:61Z", "2026-01-01T12:00:60Z", "2016-12-31T23:59:60+01:00", "10000-01-01T00:00:00Z",
		"-001-01-01T00:00:00Z", "0000-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01", "2026-1-30T12:00:00.0Z",
		"1764504000", "1764504000000000000000", "20261130T120000Z00000", "2026/11/30T12:00:00Z", "２026-11-30T12:00:00Z",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			_, err := cloudevents.DecodeStructured("", []byte(strings.Replace(structured(""), "2026-11-30T12:00:00Z", text, 1)))
			refusal{"INVALID_ATTRIBUTE", "time", "2026-11-30T12:00:00Z", "RFC 3339"}.check(t, violations(t, err))
		})
	}
	_, err := cloudevents.DecodeStructured("", []byte(strings.Replace(structured(""), ":00Z", ":00."+strings.Repeat("1", 60)+"Z", 1)))
	refusal{"ATTRIBUTE_TOO_LONG", "time", "64", ""}.check(t, violations(t, err))
}

func TestTimeAgreesWithTheStandardLibrary(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("", -3*3600-1800)
	for day := range 3000 {
		at := time.Date(1896, 1, 1, 5, 6, 7, 123456789, time.UTC).AddDate(0, 0, 31*day)
		for _, text := range []string{at.Format(time.RFC3339Nano), at.In(zone).Format(time.RFC3339Nano)} {
			got, err := cloudevents.ParseTime(text)
			if err != nil || !got.Equal(at.Truncate(time.Microsecond)) {
				t.Fatalf("%s gives %v, %v", text, got, err)
			}
		}
	}
}
