package httpapi

import (
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
	}
}

// mayTry refuses a credential that was not seen valid before it is looked up, where too many from the same
// address were wrong.
func (l *limits) mayTry(from netip.Addr, credential string) error {
	if credential == "" || l.good.Contains(maphash.String(l.seed, credential)) {
		return nil
	}
	return l.refused.left(household(from))
}

// tried remembers how a credential fared; where nobody could tell, it is neither.
func (l *limits) tried(from netip.Addr, credential string, valid, refused bool) {
	key := maphash.String(l.seed, credential)
	switch {
	case valid:
		l.good.Add(key, struct{}{})
	case refused:
		l.good.Remove(key)
		l.refused.count(household(from))
	}
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

// left refuses where nothing is left, and counts nothing.
func (l *limit[K]) left(key K) error {
	if l == nil {
		return nil
	}
	if client, ok := l.clients.Get(key); ok && client.Tokens() < 1 {
		return l.exceeded(client)
	}
	return nil
}

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
