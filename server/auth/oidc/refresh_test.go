package oidc

import (
	"context"
	"net/http"
	"net/url"
	"testing"

	"oriel/server/auth"
	"oriel/server/fault"
)

func TestARefreshBringsWhatTheProviderSaysNow(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before func(*issuer)
		role   string
		kind   fault.Kind
		reason string
	}{
		"no roles any more": {before: func(i *issuer) { i.idClaims["roles"] = []string{} }},
		"no ID token, the role at userinfo": {before: func(i *issuer) {
			i.noIDToken, i.userinfo["roles"] = true, "operator"
		}, role: auth.RoleOperator},
		"no ID token, the role nowhere, which is not no role": {
			before: func(i *issuer) { i.noIDToken = true },
			kind:   fault.Unauthenticated, reason: fault.ReasonSessionExpired,
		},
		"no ID token, the role at userinfo of nobody": {
			before: func(i *issuer) { i.noIDToken, i.userinfo = true, map[string]any{"roles": "admin"} },
			kind:   fault.Unauthenticated, reason: fault.ReasonSessionExpired,
		},
		"an ID token of another client": {
			before: func(i *issuer) { i.idClaims["aud"] = "other" },
			kind:   fault.Unauthenticated, reason: fault.ReasonSessionExpired,
		},
		"the grant is over": {
			before: func(i *issuer) { i.refresh = "" },
			kind:   fault.Unauthenticated, reason: fault.ReasonSessionExpired,
		},
		"our secret is wrong, which is not the person's end": {
			before: func(i *issuer) { i.accept = func(*http.Request, url.Values) string { return "invalid_client" } },
			kind:   fault.Unavailable, reason: fault.ReasonProviderUnavailable,
		},
		"the provider is ill": {
			before: func(i *issuer) {
				i.answers[pathToken] = func(w http.ResponseWriter, _ *http.Request) {
					writeJSON(w, 503, map[string]string{"error": "invalid_grant"})
				}
			},
			kind: fault.Unavailable, reason: fault.ReasonProviderUnavailable,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := newIssuer(t)
			c.before(i)
			who, err := newProvider(t, i.config()).Refresh(t.Context(), "refresh-1")
			if c.reason != "" {
				wantFault(t, err, c.kind, c.reason)
				return
			}
			if err != nil || who.Role != c.role || who.Subject != "ada-1" || who.RefreshToken != "refresh-1+" {
				t.Fatalf("got %+v, %v", who, err)
			}
		})
	}
}

func TestANewRefreshTokenIsNotLostWithWhatFollows(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	i.answers[pathUserinfo] = status(500)
	who, err := newProvider(t, i.config()).Refresh(t.Context(), "refresh-1")
	wantFault(t, err, fault.Unavailable, fault.ReasonProviderUnavailable)
	if who == nil || who.RefreshToken != "refresh-1+" {
		t.Errorf("got %+v", who)
	}
}

func TestACallerThatLeavesDoesNotCutARefresh(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	i.idClaims["roles"] = "analyst"
	ctx, leave := context.WithCancel(t.Context())
	i.answers[pathToken] = func(w http.ResponseWriter, r *http.Request) {
		leave()
		i.mu.Lock()
		defer i.mu.Unlock()
		i.serveToken(w, r)
	}
	who, err := newProvider(t, i.config()).Refresh(ctx, "refresh-1")
	if err != nil || who.RefreshToken != "refresh-1+" {
		t.Fatalf("got %+v, %v", who, err)
	}
}
