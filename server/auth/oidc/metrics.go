package oidc

import "github.com/prometheus/client_golang/prometheus"

const (
	done   = "done"
	failed = "failed"
)

// The results of checking a machine's JWT, a closed set.
const (
	resultValid       = "valid"
	resultMalformed   = "malformed"   // not three parts of strict base64url and JSON, or too large
	resultHeader      = "header"      // an algorithm, type or extension that is not accepted
	resultKey         = "key"         // of a key that the provider does not publish
	resultSignature   = "signature"   // of another key than it says
	resultIssuer      = "issuer"      //
	resultAudience    = "audience"    // meant for another
	resultExpired     = "expired"     //
	resultEarly       = "early"       // not valid yet, or issued in the future
	resultClaims      = "claims"      // a claim is missing or of the wrong shape
	resultOff         = "off"         // no audience is configured
	resultUnavailable = "unavailable" // the keys cannot be had
)

type metrics struct {
	discoveries, fetches, verifies *prometheus.CounterVec
}

func newMetrics(reg prometheus.Registerer) *metrics {
	m := &metrics{
		discoveries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "oriel_oidc_discoveries_total", Help: "Times the identity provider's metadata was asked for, by result.",
		}, []string{"result"}),
		fetches: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "oriel_oidc_key_fetches_total", Help: "Times the identity provider's keys were asked for, by result.",
		}, []string{"result"}),
		verifies: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "oriel_oidc_jwt_checks_total", Help: "JWTs of machines checked, by result.",
		}, []string{"result"}),
	}
	for _, result := range []string{done, failed} {
		m.discoveries.WithLabelValues(result)
		m.fetches.WithLabelValues(result)
	}
	for _, result := range []string{
		resultValid, resultMalformed, resultHeader, resultKey, resultSignature, resultIssuer, resultAudience,
		resultExpired, resultEarly, resultClaims, resultOff, resultUnavailable,
	} {
		m.verifies.WithLabelValues(result)
	}
	reg.MustRegister(m.discoveries, m.fetches, m.verifies)
	return m
}
