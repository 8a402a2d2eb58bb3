package idp

import (
	"encoding/json"
	"net"
	"net/http"
	"strconv"

	"github.com/zitadel/oidc/v3/pkg/oidc"
)

// The paths that are ours; the library's own are its defaults.
const (
	signInPath     = "/sign-in"
	signedOutPath  = "/signed-out"
	endSessionPath = "/end_session"
)

// handler serves what this provider offers and nothing else of what the library could.
func (s *Server) handler(addr *net.TCPAddr) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+oidc.DiscoveryEndpoint, s.discovery)
	mux.Handle("GET /keys", s.oidc)
	mux.HandleFunc("GET /authorize", s.authorize)
	mux.Handle("POST /oauth/token", s.oidc)
	mux.Handle("GET /userinfo", s.oidc)
	mux.Handle("POST /userinfo", s.oidc)
	mux.HandleFunc("GET "+endSessionPath, s.endSession)
	mux.HandleFunc("POST "+endSessionPath, s.endSession)
	mux.HandleFunc("GET "+signInPath, s.signInPage)
	mux.Handle("POST "+signInPath, s.same.Handler(http.HandlerFunc(s.signIn)))
	mux.HandleFunc("GET "+signedOutPath, func(w http.ResponseWriter, _ *http.Request) {
		s.pages.message(w, http.StatusOK, "Signed out", "You are signed out of the demo's identity provider.")
	})
	mux.HandleFunc("GET /style.css", s.pages.style)
	mux.HandleFunc("GET /mark.svg", s.pages.mark)
	return s.guard(hosts(addr), http.MaxBytesHandler(mux, maxBody))
}

// hosts are the names that a browser on this machine may know us by. Any other name that leads here is
// somebody's DNS.
func hosts(addr *net.TCPAddr) map[string]bool {
	port := strconv.Itoa(addr.Port)
	return map[string]bool{
		addr.String(): true, net.JoinHostPort("127.0.0.1", port): true,
		net.JoinHostPort("localhost", port): true, net.JoinHostPort("::1", port): true,
	}
}

func (s *Server) guard(known map[string]bool, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("Content-Security-Policy", policy(""))
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Content-Type-Options", "nosniff")
		if !known[r.Host] {
			http.Error(w, "This is the demo's identity provider, and it does not go by that name.", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// discovery says what is offered here; the library's own document also lists what it could do.
func (s *Server) discovery(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	grants := []oidc.GrantType{oidc.GrantTypeCode, oidc.GrantTypeRefreshToken}
	methods := []oidc.AuthMethod{oidc.AuthMethodNone}
	if s.cfg.Machine.ID != "" {
		grants, methods = append(grants, oidc.GrantTypeClientCredentials), append(methods, oidc.AuthMethodBasic)
	}
	// A browser or client that went away gets nothing, which is all that can fail here.
	_ = json.NewEncoder(w).Encode(&document{NamesItself: true, DiscoveryConfiguration: oidc.DiscoveryConfiguration{
		Issuer:                            s.issuer,
		AuthorizationEndpoint:             s.oidc.AuthorizationEndpoint().Absolute(s.issuer),
		TokenEndpoint:                     s.oidc.TokenEndpoint().Absolute(s.issuer),
		UserinfoEndpoint:                  s.oidc.UserinfoEndpoint().Absolute(s.issuer),
		EndSessionEndpoint:                s.oidc.EndSessionEndpoint().Absolute(s.issuer),
		JwksURI:                           s.oidc.KeysEndpoint().Absolute(s.issuer),
		ScopesSupported:                   []string{oidc.ScopeOpenID, oidc.ScopeProfile, oidc.ScopeEmail, oidc.ScopeOfflineAccess},
		ResponseTypesSupported:            []string{string(oidc.ResponseTypeCode)},
		ResponseModesSupported:            []string{string(oidc.ResponseModeQuery)},
		GrantTypesSupported:               grants,
		SubjectTypesSupported:             []string{"public"},
		IDTokenSigningAlgValuesSupported:  []string{string(algorithm)},
		TokenEndpointAuthMethodsSupported: methods,
		ClaimsSupported: []string{
			"iss", "sub", "aud", "exp", "iat", "auth_time", "nonce", "amr", "azp", "sid",
			"name", "preferred_username", "email", "email_verified", "roles",
		},
		CodeChallengeMethodsSupported: []oidc.CodeChallengeMethod{oidc.CodeChallengeMethodS256},
	}})
}

// document is what discovery says; the library does not know RFC 9207.
type document struct {
	oidc.DiscoveryConfiguration
	// NamesItself promises an iss with every answer, so that one without it is somebody else's.
	NamesItself bool `json:"authorization_response_iss_parameter_supported"`
}
