package httpapi

import (
	"context"
	"errors"
	"hash/maphash"
	"net/netip"
	"strconv"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/time/rate"

	"oriel/server/fault"
)

// Limits bound how often one credential or address may ask this replica; 0 is no limit.
type Limits struct {
	IngestCredential int // requests a second
	IngestAddress    int // requests a second
	SignInAddress    int // a minute
	RefusedAddress   int // credentials refused a minute
}

const (
	reportsAddress = 60 // reports of browsers a minute
	// remembered is how many clients a limit keeps count of, and how many credentials are known as good:
	// the ones asking last. A client that is forgotten begins anew, so memory is bounded and nobody is
	// refused for what another did.
	remembered = 16384

	gateWidth = 2               // lookups at a time
	gateWait  = 2 * time.Second // for one of them
)

// limits are the rate limits of this replica. A limit allows its number at once and then refills evenly.
type limits struct {
	ingestCredential *limit[string]
	ingestAddress    *limit[netip.Addr]
	signIn           *limit[netip.Addr]
	refused          *limit[netip.Addr]
	reports          *limit[netip.Addr]

	// good are hashes of credentials that were verified a while ago. They pass the limit of refused
	// ones, which is there for guessing: one client's mistakes do not lock out another behind the same
	// address. A hash that collides is looked up and refused like any other.
	good *lru.Cache[uint64, struct{}]
	seed maphash.Seed
	// gate is where credentials wait that nobody knows and that come from where too many were wrong.
	gate chan struct{}
}

func newLimits(l Limits, reg prometheus.Registerer) *limits {
	limited := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "oriel_http_rate_limited_total", Help: "Requests answered 429, by limit.",
	}, []string{"limit"})
	configured := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "oriel_http_limit", Help: "Rate limits of this replica: a second for ingest, a minute for the others; 0 is no limit.",
	}, []string{"limit"})
	reg.MustRegister(limited, configured)
	made := func(name string, most int, per time.Duration) parameters {
		configured.WithLabelValues(name).Set(float64(most))
		return parameters{name, most, per, limited.WithLabelValues(name)}
	}
	return &limits{
		ingestCredential: newLimit[string](made("ingest_credential", l.IngestCredential, time.Second)),
		ingestAddress:    newLimit[netip.Addr](made("ingest_address", l.IngestAddress, time.Second)),
		signIn:           newLimit[netip.Addr](made("sign_in_address", l.SignInAddress, time.Minute)),
		refused:          newLimit[netip.Addr](made("refused_address", l.RefusedAddress, time.Minute)),
		reports:          newLimit[netip.Addr](made("csp_address", reportsAddress, time.Minute)),
		good:             newMemory[uint64, struct{}](),
		seed:             maphash.MakeSeed(),
		gate:             make(chan struct{}, gateWidth),
	}
}

// suspect says whether a credential was not seen valid and comes from where too many were wrong.
func (l *limits) suspect(from netip.Addr, credential string) bool {
	return credential != "" && !l.good.Contains(maphash.String(l.seed, credential)) && l.refused.reached(household(from))
}

// try verifies a credential and remembers how it fared; where nobody could tell, it is neither good nor
// wrong. A suspect one is verified too, for it may be good: a few at a time, and what is wrong, or finds no
// room, is answered with the limit.
func (l *limits) try(ctx context.Context, from netip.Addr, credential string, verify func() error) error {
	if credential == "" {
		return verify()
	}
	suspect := l.suspect(from, credential)
	if suspect {
		leave, ok := l.enter(ctx)
		if !ok {
			return l.refused.refusal(household(from))
		}
		defer leave()
	}
	err := verify()
	key, public := maphash.String(l.seed, credential), (*fault.Error)(nil)
	switch {
	case err == nil:
		l.good.Add(key, struct{}{})
	case errors.As(err, &public) && public.Kind == fault.Unauthenticated:
		l.good.Remove(key)
		if suspect {
			return l.refused.refusal(household(from))
		}
		l.refused.count(household(from))
	}
	return err
}

// enter waits for a place in the gate.
func (l *limits) enter(ctx context.Context) (leave func(), ok bool) {
	patience := time.NewTimer(gateWait)
	defer patience.Stop()
	select {
	case l.gate <- struct{}{}:
		return func() { <-l.gate }, true
	case <-patience.C:
	case <-ctx.Done():
	}
	return nil, false
}

type parameters struct {
	name    string
	most    int
	per     time.Duration
	limited prometheus.Counter
}

// limit is one limit on many clients; nil is none.
type limit[K comparable] struct {
	parameters
	clients *lru.Cache[K, *rate.Limiter]
}

func newLimit[K comparable](p parameters) *limit[K] {
	if p.most == 0 {
		return nil
	}
	return &limit[K]{p, newMemory[K, *rate.Limiter]()}
}

func newMemory[K comparable, V any]() *lru.Cache[K, V] {
	c, _ := lru.New[K, V](remembered) // fails for a size below 1 alone
	return c
}

func (l *limit[K]) of(key K) *rate.Limiter {
	if known, ok := l.clients.Get(key); ok {
		return known
	}
	made := rate.NewLimiter(rate.Limit(float64(l.most)/l.per.Seconds()), l.most)
	if known, ok, _ := l.clients.PeekOrAdd(key, made); ok {
		return known
	}
	return made
}

// take counts one and refuses it above the limit.
func (l *limit[K]) take(key K) error {
	if l == nil {
		return nil
	}
	if client := l.of(key); !client.Allow() {
		return l.exceeded(client)
	}
	return nil
}

// reached says whether nothing is left, and counts nothing.
func (l *limit[K]) reached(key K) bool {
	if l == nil {
		return false
	}
	client, ok := l.clients.Get(key)
	return ok && client.Tokens() < 1
}

// refusal is the error of who has nothing left.
func (l *limit[K]) refusal(key K) error { return l.exceeded(l.of(key)) }

// count takes one, if there is one left.
func (l *limit[K]) count(key K) {
	if l != nil {
		l.of(key).Allow()
	}
}

func (l *limit[K]) exceeded(client *rate.Limiter) error {
	l.limited.Inc()
	unit := map[time.Duration]string{time.Second: " a second", time.Minute: " a minute"}[l.per]
	most := strconv.Itoa(l.most) + unit
	e := fault.New(fault.Exhausted, fault.ReasonRateLimited, "The limit "+l.name+" of "+most+" is reached; try again later.",
		"attribute", l.name, "limit", most)
	e.RetryAfter = max(time.Millisecond, time.Duration((1-client.Tokens())*float64(l.per)/float64(l.most)))
	return e
}
