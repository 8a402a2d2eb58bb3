package search

import (
	"testing"
	"time"
)

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return loc
}

func intervalOf(t testing.TB, name string) interval {
	t.Helper()
	for _, iv := range ladder() {
		if iv.name == name {
			return iv
		}
	}
	t.Fatalf("no interval %q", name)
	return interval{}
}

func TestBucketsFollowTheWallClock(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		zone, interval, from, until string
		want                        []string // starts, and the end of the last
	}{
		"days around the spring change": {
			"Europe/Berlin", "1d", "2026-03-28T10:00:00+01:00", "2026-03-30T10:00:00+02:00",
			[]string{"2026-03-28T00:00:00+01:00", "2026-03-29T00:00:00+01:00", "2026-03-30T00:00:00+02:00", "2026-03-31T00:00:00+02:00"},
		},
		"days around the autumn change": {
			"Europe/Berlin", "1d", "2026-10-24T00:00:00+02:00", "2026-10-27T00:00:00+01:00",
			[]string{"2026-10-24T00:00:00+02:00", "2026-10-25T00:00:00+02:00", "2026-10-26T00:00:00+01:00", "2026-10-27T00:00:00+01:00"},
		},
		"a repeated hour is two": {
			"Europe/Berlin", "1h", "2026-10-25T01:10:00+02:00", "2026-10-25T03:10:00+01:00",
			[]string{"2026-10-25T01:00:00+02:00", "2026-10-25T02:00:00+02:00", "2026-10-25T02:00:00+01:00", "2026-10-25T03:00:00+01:00", "2026-10-25T04:00:00+01:00"},
		},
		"a skipped hour is none": {
			"Europe/Berlin", "1h", "2026-03-29T01:10:00+01:00", "2026-03-29T03:10:00+02:00",
			[]string{"2026-03-29T01:00:00+01:00", "2026-03-29T03:00:00+02:00", "2026-03-29T04:00:00+02:00"},
		},
		"three hours of four": {
			"Europe/Berlin", "3h", "2026-10-25T00:00:00+02:00", "2026-10-25T06:00:00+01:00",
			[]string{"2026-10-25T00:00:00+02:00", "2026-10-25T03:00:00+01:00", "2026-10-25T06:00:00+01:00"},
		},
		"three hours of two": {
			"Europe/Berlin", "3h", "2026-03-29T01:00:00+01:00", "2026-03-29T07:00:00+02:00",
			[]string{"2026-03-29T00:00:00+01:00", "2026-03-29T03:00:00+02:00", "2026-03-29T06:00:00+02:00", "2026-03-29T09:00:00+02:00"},
		},
		"half an hour repeated": {
			"Australia/Lord_Howe", "1h", "2026-04-05T01:00:00+11:00", "2026-04-05T03:00:00+10:30",
			[]string{"2026-04-05T01:00:00+11:00", "2026-04-05T01:30:00+10:30", "2026-04-05T02:00:00+10:30", "2026-04-05T03:00:00+10:30"},
		},
		"half an hour skipped": {
			"Australia/Lord_Howe", "1h", "2026-10-04T01:00:00+10:30", "2026-10-04T04:00:00+11:00",
			[]string{"2026-10-04T01:00:00+10:30", "2026-10-04T02:30:00+11:00", "2026-10-04T03:00:00+11:00", "2026-10-04T04:00:00+11:00"},
		},
		"a day of 24 and a half hours": {
			"Australia/Lord_Howe", "1d", "2026-04-05T12:00:00+10:30", "2026-04-05T13:00:00+10:30",
			[]string{"2026-04-05T00:00:00+11:00", "2026-04-06T00:00:00+10:30"},
		},
		"days of a half-hour zone": {
			"Asia/Kolkata", "1d", "2026-11-28T20:00:00Z", "2026-11-29T20:00:00Z",
			[]string{"2026-11-29T00:00:00+05:30", "2026-11-30T00:00:00+05:30", "2026-12-01T00:00:00+05:30"},
		},
		"hours of a quarter-hour zone": {
			"Asia/Kathmandu", "1h", "2026-11-28T20:00:00Z", "2026-11-28T20:30:00Z",
			[]string{"2026-11-29T01:00:00+05:45", "2026-11-29T02:00:00+05:45", "2026-11-29T03:00:00+05:45"},
		},
		"months": {
			"Europe/Berlin", "1M", "2026-01-31T00:00:00Z", "2026-04-15T00:00:00Z",
			[]string{"2026-01-01T00:00:00+01:00", "2026-02-01T00:00:00+01:00", "2026-03-01T00:00:00+01:00", "2026-04-01T00:00:00+02:00", "2026-05-01T00:00:00+02:00"},
		},
		"weeks begin on Monday": {
			"UTC", "7d", "2026-11-29T23:00:00Z", "2026-11-30T01:00:00Z",
			[]string{"2026-11-23T00:00:00Z", "2026-11-30T00:00:00Z", "2026-12-07T00:00:00Z"},
		},
		"a midnight that is skipped": {
			"Africa/Cairo", "1d", "2026-04-23T12:00:00+02:00", "2026-04-24T12:00:00+03:00",
			[]string{"2026-04-23T00:00:00+02:00", "2026-04-24T01:00:00+03:00", "2026-04-25T00:00:00+03:00"},
		},
		"a midnight that comes twice": {
			"America/Havana", "1d", "2026-10-31T12:00:00-04:00", "2026-11-01T00:30:00-05:00",
			[]string{"2026-10-31T00:00:00-04:00", "2026-11-01T00:00:00-04:00", "2026-11-02T00:00:00-05:00"},
		},
		"a midnight that is undone": {
			"America/St_Johns", "1d", "2010-11-06T12:00:00-02:30", "2010-11-07T12:00:00-03:30",
			[]string{"2010-11-06T00:00:00-02:30", "2010-11-07T00:00:00-02:30", "2010-11-08T00:00:00-03:30"},
		},
		"a day that there was not": {
			"Pacific/Apia", "1d", "2011-12-29T12:00:00-10:00", "2011-12-31T12:00:00+14:00",
			[]string{"2011-12-29T00:00:00-10:00", "2011-12-31T00:00:00+14:00", "2012-01-01T00:00:00+14:00"},
		},
		"seconds": {
			"Asia/Kolkata", "30s", "2026-11-30T12:00:29.9Z", "2026-11-30T12:00:30.000001Z",
			[]string{"2026-11-30T17:30:00+05:30", "2026-11-30T17:30:30+05:30", "2026-11-30T17:31:00+05:30"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			loc := zone(t, c.zone)
			got, ok := intervalOf(t, c.interval).edges(loc, instant(t, c.from), instant(t, c.until), 120)
			if !ok || len(got) != len(c.want) {
				t.Fatalf("%v, want %v", got, c.want)
			}
			for i, at := range got {
				if s := at.Format(time.RFC3339); s != c.want[i] {
					t.Errorf("edge %d is %s, want %s", i, s, c.want[i])
				}
			}
		})
	}
}

func instant(t testing.TB, s string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func TestEveryInstantLiesInItsBucket(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"UTC", "Europe/Berlin", "Australia/Lord_Howe", "America/Havana", "America/St_Johns", "Africa/Cairo", "Pacific/Apia", "Asia/Kathmandu", "America/Sao_Paulo"} {
		loc := zone(t, name)
		for _, iv := range ladder() {
			at := time.Date(2009, 1, 1, 0, 0, 0, 0, time.UTC)
			instants := []time.Time{at}
			for ; at.Year() < 2013; at = at.Add(23*time.Minute + 7*time.Hour + 17*time.Microsecond) {
				instants = append(instants, at)
			}
			for change := instants[0].In(loc); change.Year() < 2013; { // and around every change of the clock
				if _, change = change.ZoneBounds(); change.IsZero() {
					break
				}
				for minutes := -90; minutes <= 90; minutes += 5 {
					instants = append(instants, change.Add(time.Duration(minutes)*time.Minute), change.Add(time.Duration(minutes)*time.Minute-time.Microsecond))
				}
			}
			for _, at := range instants {
				floor := iv.floor(loc, at)
				next := iv.next(loc, floor)
				if floor.After(at) || !next.After(at) {
					t.Fatalf("%s %s: %s lies in [%s, %s)", name, iv.name, at, floor, next)
				}
				if again := iv.floor(loc, next.Add(-time.Microsecond)); !again.Equal(floor) {
					t.Fatalf("%s %s: the end of [%s, %s) lies in the bucket of %s", name, iv.name, floor, next, again)
				}
				if again := iv.floor(loc, next); !again.Equal(next) {
					t.Fatalf("%s %s: %s begins a bucket, and lies in that of %s", name, iv.name, next, again)
				}
			}
		}
	}
}
