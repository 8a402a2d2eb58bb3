package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"oriel/bench/goal"
	"oriel/bench/stored"
	"oriel/server/query"
	"oriel/server/search"
)

// The goals, in milliseconds.
const (
	goalPage       = 10
	goalWord       = 50
	goalIdentifier = 50
	goalOfADay     = 10
	goalRollup     = 50
	goalPayload    = 300
	goalAnything   = 1000
)

// question is one thing that an analyst asks, with other values each time. answer says in a few words what came.
type question struct {
	name string
	goal float64
	ask  func(ctx context.Context, a *analyst) (answer string, err error)
}

// analyst asks. One goroutine at a time.
type analyst struct {
	svc   *search.Service
	rng   *rand.Rand
	f     *filling
	known []known
	hooks []known
}

// known is what of some stored event can be asked for.
type known struct {
	at                        time.Time
	source, id, kind, subject string
	correlation, order        string
}

// parameters are name, value, …
func parameters(pairs ...string) url.Values {
	v := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		v.Add(pairs[i], pairs[i+1])
	}
	return v
}

// month bounds a search by all that is stored; day by one random day of it.
func (a *analyst) month(pairs ...string) url.Values {
	return parameters(append(pairs, "from", query.FormatTime(a.f.from), "until", query.FormatTime(a.f.until))...)
}

func (a *analyst) day(at time.Time, pairs ...string) url.Values {
	from := at.Add(-12 * time.Hour)
	return parameters(append(pairs, "from", query.FormatTime(from), "until", query.FormatTime(from.Add(24*time.Hour)))...)
}

func (a *analyst) one() known  { return a.known[a.rng.IntN(len(a.known))] }
func (a *analyst) hook() known { return a.hooks[a.rng.IntN(len(a.hooks))] }

func (a *analyst) list(ctx context.Context, params url.Values) (string, error) {
	if params.Get("pageSize") == "" {
		params.Set("pageSize", "50")
	}
	p, err := a.svc.List(ctx, params)
	if err != nil {
		return "", err
	}
	more := ""
	if p.NextToken != "" {
		more = " and more"
	}
	return fmt.Sprintf("%d events%s", len(p.Events), more), nil
}

func (a *analyst) count(ctx context.Context, params url.Values) (string, error) {
	c, err := a.svc.Count(ctx, params)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d %s", c.Value, c.Relation), nil
}

func (a *analyst) facets(ctx context.Context, params url.Values) (string, error) {
	f, err := a.svc.Facets(ctx, params)
	if err != nil {
		return "", err
	}
	relations := map[search.Relation]int{}
	for _, c := range f.Facets {
		relations[c.Relation]++
	}
	return fmt.Sprintf("%d fields, %v", len(f.Facets), relations), nil
}

func (a *analyst) histogram(ctx context.Context, params url.Values) (string, error) {
	h, err := a.svc.Histogram(ctx, params)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d buckets of %s, %d %s", len(h.Buckets), h.Interval, h.Total.Value, h.Total.Relation), nil
}

// ask puts every question and prints how long the answers took.
func ask(ctx context.Context, o options, s *stage, f *filling, out io.Writer, goals *goal.Sheet) error {
	a := &analyst{
		svc: search.New(s.pool, search.Config{Retention: stored.Retention}, s.log, prometheus.NewRegistry()),
		rng: rand.New(rand.NewPCG(3, 3)), f: f,
	}
	var err error
	if a.known, err = s.sample(ctx, f, a.rng, `source LIKE '/site/%'`); err != nil {
		return err
	}
	if a.hooks, err = s.sample(ctx, f, a.rng, `source LIKE 'https://%'`); err != nil {
		return err
	}
	for _, q := range questions() {
		if !strings.Contains(q.name, o.only) {
			continue
		}
		if err := a.measure(ctx, o, q, out, goals); err != nil {
			return fmt.Errorf("%s: %w", q.name, err)
		}
	}
	return nil
}

func (a *analyst) measure(ctx context.Context, o options, q question, out io.Writer, goals *goal.Sheet) error {
	once := func() (string, float64, error) {
		began := time.Now()
		answer, err := q.ask(ctx, a)
		return answer, float64(time.Since(began).Microseconds()) / 1000, err
	}
	_, cold, err := once()
	if err != nil {
		return err
	}
	if _, _, err := once(); err != nil { // a statement is prepared, a plan made
		return err
	}
	var took []float64
	var answer string
	for range max(1, o.rounds) {
		var ms float64
		if answer, ms, err = once(); err != nil {
			return err
		}
		took = append(took, ms)
	}
	slices.Sort(took)
	p50, p95 := took[len(took)/2], took[len(took)*95/100]
	fmt.Fprintf(out, "%-58s cold %7.1f ms, p50 %7.1f ms, p95 %7.1f ms: %s\n", q.name, cold, p50, p95, answer)
	goals.AtMost(q.name+", p95", p95, q.goal, " ms")
	return nil
}

// sample is some stored events, over all of the time.
func (s *stage) sample(ctx context.Context, f *filling, rng *rand.Rand, which string) (out []known, err error) {
	for range 60 {
		at := f.from.Add(time.Duration(rng.Int64N(int64(span - time.Hour))))
		rows, err := s.pool.Query(ctx, `SELECT occurred_at, source, id, type, coalesce(subject, ''), data FROM event
			WHERE occurred_at >= $1 AND occurred_at < $1 + interval '6 hours' AND `+which+` ORDER BY occurred_at LIMIT 1`, at)
		if err != nil {
			return nil, err
		}
		for rows.Next() {
			var k known
			var data []byte
			if err := rows.Scan(&k.at, &k.source, &k.id, &k.kind, &k.subject, &data); err != nil {
				return nil, err
			}
			var d struct{ CorrelationID, OrderNumber string }
			if json.Unmarshal(data, &d) == nil {
				k.correlation, k.order = d.CorrelationID, d.OrderNumber
			}
			out = append(out, k)
		}
		if err := rows.Err(); err != nil {
			return nil, err
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no event is stored where %s", which)
	}
	return out, nil
}
