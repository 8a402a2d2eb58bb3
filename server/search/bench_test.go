package search

import (
	"context"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"oriel/server/cloudevents"
)

// BenchmarkSearch is the time of whole searches over 30 days of representative events of about 650 bytes;
// ORIEL_BENCH_ROWS of them, 50,000 by default.
func BenchmarkSearch(b *testing.B) {
	rows := 50_000
	if s := os.Getenv("ORIEL_BENCH_ROWS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			b.Fatalf("ORIEL_BENCH_ROWS: %v", err)
		}
		rows = n
	}
	st := newStore(b)
	st.svc.limits = defaultLimits(4)
	st.bulk(rows, 30, 384)
	deep := pageToken{cut: cutBelow(noon().AddDate(0, 0, -15).UnixMicro()), filter: fingerprint(nil), view: st.view("from", "-30d")}.String()
	for _, c := range []struct {
		name   string
		params []string
	}{
		{"newest page", nil},
		{"newest page of 30 days", []string{"from", "-30d"}},
		{"a page 15 days deep", []string{"pageToken", deep}},
		{"a common type", []string{"from", "-30d", "type", "type.0"}},
		{"a rare type", []string{"from", "-30d", "type", "type.39"}},
		{"a subject", []string{"from", "-30d", "subject", "subject-1500"}},
		{"errors", []string{"from", "-30d", "severity", "error"}},
		{"three filters", []string{"from", "-30d", "type", "type.3", "source", "/source/9", "severity", "warning"}},
		{"three filters that exclude each other", []string{"from", "-30d", "type", "type.0", "source", "/source/0", "subject!", "subject-0", "severity", "emergency"}},
		{"a word in three of four rows", []string{"from", "-30d", "q", "common"}},
		{"a word in one of a hundred rows", []string{"from", "-30d", "q", "seldom"}},
		{"a word in one of a thousand rows", []string{"from", "-30d", "q", "rare"}},
		{"an absent word", []string{"from", "-30d", "q", "absentee"}},
		{"a common word of a rare source", []string{"from", "-30d", "q", "common", "source", "/source/199"}},
		{"a word to leave out", []string{"from", "-30d", "q!", "common"}},
		{"an identifier, to its budget", []string{"from", "-30d", "q", "0123456789abcdef0123456789abcdef"}},
	} {
		b.Run(c.name, func(b *testing.B) {
			var times []time.Duration
			for b.Loop() {
				start := time.Now()
				if _, err := st.svc.List(context.Background(), values(c.params...)); err != nil {
					b.Fatal(err)
				}
				times = append(times, time.Since(start))
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[0].Microseconds())/1000, "min-ms")
			b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "p50-ms")
		})
	}
	b.Run("an identity with its time", func(b *testing.B) {
		var source string
		var when time.Time
		if err := st.pool.QueryRow(context.Background(), `SELECT source, occurred_at FROM event WHERE "offset" = $1`, rows/2).Scan(&source, &when); err != nil {
			b.Fatal(err)
		}
		name := cloudevents.EscapeName(source, "id-"+strconv.Itoa(rows/2))
		for b.Loop() {
			if _, err := st.svc.Get(context.Background(), name, values("time", when.Format(time.RFC3339Nano))); err != nil {
				b.Fatal(err)
			}
		}
	})
}
