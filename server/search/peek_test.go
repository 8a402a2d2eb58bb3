package search

import (
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestThePageIndexIsReadOnWhereItPromisesToBeEnough(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ rows, hits, wanted, want int }{
		"no hit promises nothing":                               {rows: 500, hits: 0, wanted: 51, want: 0},
		"one hit may be bad luck, so twice as much is read":     {rows: 500, hits: 1, wanted: 51, want: 1000},
		"one hit in twice as much is as few as it looks":        {rows: 1000, hits: 1, wanted: 51, want: 0},
		"few hits that would do may be luck":                    {rows: 500, hits: 3, wanted: 51, want: 1000},
		"hits that will do lead to where the last one is":       {rows: 1000, hits: 9, wanted: 51, want: 5666},
		"nearly all hits go on by at least a row":               {rows: 6000, hits: 51, wanted: 51, want: 6001},
		"hits that are too far apart for a set":                 {rows: 500, hits: 100, wanted: 10_001, want: 0},
		"twice as much is never more than what is to be read":   {rows: 6000, hits: 30, wanted: 51, want: 10_000},
		"where all that is to be read was read nothing is left": {rows: 10_000, hits: 50, wanted: 51, want: 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := promising(c.rows, c.hits, c.wanted, 10_000); got != c.want {
				t.Errorf("%d hits of %d wanted in %d rows: read %d, want %d", c.hits, c.wanted, c.rows, got, c.want)
			}
		})
	}
}

func TestWordsThatLieNearAndThenNoMoreAreFoundToTheLast(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	l := &st.svc.limits
	l.glance, l.peek, l.probe, l.dayProbe, l.walk = 4, 8, 2, 10_000, 12
	var all []sample
	var want []string
	for i := range 60 {
		s := sample{id: "e" + strconv.Itoa(i), at: noon().Add(-time.Duration(i) * time.Second), data: []byte(`{"text":"tea"}`)}
		if i < 4 || i > 55 {
			s.data = []byte(`{"text":"coffee"}`)
			want = append(want, s.id)
		}
		all = append(all, s)
	}
	st.add(all...)
	st.expect(strings.Join(want, " "), "q", "coffee")
}
