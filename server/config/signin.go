package config

import (
	"encoding/base64"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"
)

// secretKeyBytes is the size of a key of ORIEL_SECRET_KEY.
const secretKeyBytes = 32

// people are the roles of a person, lowest first. Package auth's constants say the same.
func people() []string { return []string{"analyst", "operator", "admin"} }

// Keys decodes ORIEL_SECRET_KEY: the first seals, all open, so that a key can be replaced.
func (s SignIn) Keys() ([][]byte, bool) {
	if s.SecretKey == "" {
		return nil, true
	}
	var keys [][]byte
	for text := range strings.SplitSeq(s.SecretKey, ",") {
		key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
		if err != nil || len(key) != secretKeyBytes {
			return nil, false
		}
		keys = append(keys, key)
	}
	return keys, true
}

func (s SignIn) validate(h HTTP, bad func(string, ...any)) {
	if _, ok := s.Keys(); !ok {
		bad("ORIEL_SECRET_KEY: is not 32 bytes in base64 (several with commas between them), such as the output of: openssl rand -base64 32")
	}
	if s.Idle < time.Minute || s.Idle > s.Longest {
		bad("ORIEL_SESSION_IDLE: %s is outside 1m to ORIEL_SESSION_LONGEST, %s", s.Idle, s.Longest)
	}
	if s.Longest > 30*24*time.Hour {
		bad("ORIEL_SESSION_LONGEST: %s is above 30 days", s.Longest)
	}
	if s.RoleCheck < time.Second || s.RoleCheck > time.Hour {
		bad("ORIEL_SESSION_ROLE_CHECK: %s is outside 1s to 1h", s.RoleCheck)
	}
	if s.DefaultRole != "" && !slices.Contains(people(), s.DefaultRole) {
		bad("ORIEL_OIDC_DEFAULT_ROLE: %q is none of %s", s.DefaultRole, strings.Join(people(), ", "))
	}
	if s.RoleClaim == "" || strings.ContainsAny(s.RoleClaim, " \t\r\n") {
		bad("ORIEL_OIDC_ROLE_CLAIM: %q is no claim, such as roles or realm_access.roles", s.RoleClaim)
	}
	if s.CAFile != "" {
		if _, err := os.Stat(s.CAFile); err != nil {
			bad("ORIEL_OIDC_CA_FILE: %v", err)
		}
	}
	if s.Issuer == "" {
		if s.ClientID != "" || s.Audience != "" {
			bad("ORIEL_OIDC_ISSUER: required with ORIEL_OIDC_CLIENT_ID or ORIEL_OIDC_AUDIENCE")
		}
		return
	}
	u, err := url.Parse(s.Issuer)
	switch {
	case err != nil || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil:
		bad("ORIEL_OIDC_ISSUER: %q is no issuer, such as https://login.example.com/realms/staff", s.Issuer)
	case u.Scheme != "https" && (u.Scheme != "http" || !loopbackHost(u.Hostname())):
		bad("ORIEL_OIDC_ISSUER: %s must be https, or on this machine", s.Issuer)
	}
	if h.Has(RoleWeb) && s.ClientID == "" {
		bad("ORIEL_OIDC_CLIENT_ID: required with ORIEL_OIDC_ISSUER")
	}
	if h.Has(RoleWeb) && s.SecretKey == "" {
		bad("ORIEL_SECRET_KEY: required with ORIEL_OIDC_ISSUER, 32 bytes in base64, such as the output of: openssl rand -base64 32")
	}
	if !slices.Contains(s.Scopes, "openid") {
		bad("ORIEL_OIDC_SCOPES: openid is missing")
	}
}

func (l Limits) validate(bad func(string, ...any)) {
	for _, limit := range []struct {
		name  string
		value int
	}{
		{"ORIEL_LIMIT_INGEST_CREDENTIAL", l.IngestCredential},
		{"ORIEL_LIMIT_INGEST_ADDRESS", l.IngestAddress},
		{"ORIEL_LIMIT_SIGN_IN_ADDRESS", l.SignInAddress},
		{"ORIEL_LIMIT_REFUSED_ADDRESS", l.RefusedAddress},
	} {
		if limit.value < 0 || limit.value > 1_000_000 {
			bad("%s: %d is outside 0 (no limit) to 1000000", limit.name, limit.value)
		}
	}
}

// loopbackHost tells whether a host is this machine.
func loopbackHost(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
