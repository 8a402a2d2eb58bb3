package auth

import (
	"github.com/prometheus/client_golang/prometheus"

	"oriel/server/fault"
)

// Why sessions end.
const (
	endedSignedOut   = "signed_out"
	endedEverywhere  = "signed_out_everywhere"
	endedReplaced    = "replaced" // by a new sign-in of the same browser
	endedExpired     = "expired"
	endedRefused     = "refused" // by the identity provider
	endedOtherPerson = "other_person"
	endedUnreadable  = "unreadable"
)

// What came of asking the provider for the roles.
const (
	refreshSame        = "same"
	refreshChanged     = "changed"
	refreshRefused     = "refused"
	refreshUnavailable = "unavailable"
	refreshOtherPerson = "other_person"
	refreshUnreadable  = "unreadable"
	refreshLost        = "lost" // the session ended meanwhile, or another replica asked
	refreshNotStored   = "not_stored"
)

// What becomes of sign-ins.
const (
	signInBegun    = "begun"
	signInFinished = "finished"
	signInRefused  = "refused"
	signInDropped  = "dropped"
)

type sessionMetrics struct {
	started                           prometheus.Counter
	ended, refreshes, checks, signIns *prometheus.CounterVec
}

func newSessionMetrics(reg prometheus.Registerer) *sessionMetrics {
	vec := func(name, help, label string, values ...string) *prometheus.CounterVec {
		v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, []string{label})
		for _, value := range values {
			v.WithLabelValues(value)
		}
		reg.MustRegister(v)
		return v
	}
	m := &sessionMetrics{
		started: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "oriel_auth_sessions_started_total", Help: "Sessions of people that began.",
		}),
		ended: vec("oriel_auth_sessions_ended_total", "Sessions of people that ended, by reason; those that expired count when they are swept.", "reason",
			endedSignedOut, endedEverywhere, endedReplaced, endedExpired, endedRefused, endedOtherPerson, endedUnreadable),
		refreshes: vec("oriel_auth_session_refreshes_total", "Questions to the identity provider for a person's roles, by result.", "result",
			refreshSame, refreshChanged, refreshRefused, refreshUnavailable, refreshOtherPerson, refreshUnreadable, refreshLost, refreshNotStored),
		checks: vec("oriel_auth_session_checks_total", "Session cookies checked, by result.", "result",
			"valid", "expired", "provider_unavailable", "database_unavailable", "failed"),
		signIns: vec("oriel_auth_sign_ins_total", "Sign-ins at the identity provider, by what became of them; dropped are the oldest when too many were open.", "result",
			signInBegun, signInFinished, signInRefused, signInDropped),
	}
	reg.MustRegister(m.started)
	registerLimits(reg, map[string]float64{
		"open_sign_ins": maxOpenSignIns, "sign_in_seconds": signInLasts.Seconds(), "return_path_bytes": maxReturnBytes,
		"session_without_refresh_seconds": withoutRefresh.Seconds(), "roles_believed_seconds": believed.Seconds(),
	})
	return m
}

// check counts the outcome of a Verify.
func (m *sessionMetrics) check(err error) {
	result := "valid"
	if err != nil {
		switch fault.Of(err).Violations[0].Reason {
		case fault.ReasonSessionExpired:
			result = "expired"
		case fault.ReasonProviderUnavailable:
			result = "provider_unavailable"
		case fault.ReasonDatabaseUnavailable:
			result = "database_unavailable"
		default:
			result = "failed"
		}
	}
	m.checks.WithLabelValues(result).Inc()
}

// registerLimits makes every limit a series of its own; tokens and sessions have theirs under one name.
func registerLimits(reg prometheus.Registerer, limits map[string]float64) {
	for limit, value := range limits {
		g := prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "oriel_auth_limit", Help: "Limits of tokens, sessions and sign-ins.",
			ConstLabels: prometheus.Labels{"limit": limit},
		})
		g.Set(value)
		reg.MustRegister(g)
	}
}
