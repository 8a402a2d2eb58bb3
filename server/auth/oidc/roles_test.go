package oidc

import (
	"encoding/json"
	"testing"

	"oriel/server/auth"
	"oriel/server/fault"
)

func TestTheRoleIsFoundByItsPath(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ path, claims, role string }{
		"a text":                                {"roles", `{"roles":"operator"}`, auth.RoleOperator},
		"an array, of which the highest":        {"roles", `{"roles":["analyst","admin","operator"]}`, auth.RoleAdmin},
		"another value of the same role":        {"roles", `{"roles":["root"]}`, auth.RoleAdmin},
		"nested":                                {"realm_access.roles", `{"realm_access":{"roles":["analyst"]}}`, auth.RoleAnalyst},
		"nested twice":                          {"resource_access.oriel.roles", `{"resource_access":{"oriel":{"roles":["admin"]}}}`, auth.RoleAdmin},
		"under a name with dots":                {"resource_access.my.app.roles", `{"resource_access":{"my.app":{"roles":["admin"]}}}`, auth.RoleAdmin},
		"by an address":                         {"https://oriel.example/roles", `{"https://oriel.example/roles":["operator"]}`, auth.RoleOperator},
		"nested in an address":                  {"https://oriel.example/x.roles", `{"https://oriel.example/x":{"roles":"operator"}}`, auth.RoleOperator},
		"as a whole before nested":              {"a.roles", `{"a":{"roles":"admin"},"a.roles":"analyst"}`, auth.RoleAnalyst},
		"a group with slashes, as it is":        {"groups", `{"groups":["/staff/readers"]}`, auth.RoleAnalyst},
		"a group without its slash is another":  {"groups", `{"groups":["staff/readers"]}`, ""},
		"in other letters it is another":        {"roles", `{"roles":["Admin"," admin","admin "]}`, ""},
		"part of a value is none":               {"roles", `{"roles":"admin operator"}`, ""},
		"a number is none":                      {"roles", `{"roles":7}`, ""},
		"numbers beside texts":                  {"roles", `{"roles":[7,null,{"admin":true},["admin"],"analyst"]}`, auth.RoleAnalyst},
		"an object is none":                     {"roles", `{"roles":{"admin":true}}`, ""},
		"true is none":                          {"roles", `{"roles":true}`, ""},
		"an empty text is none":                 {"roles", `{"roles":""}`, ""},
		"a path into a text":                    {"roles.x", `{"roles":"admin"}`, ""},
		"a path into an array":                  {"roles.0", `{"roles":["admin"]}`, ""},
		"a path that ends in a dot":             {"roles.", `{"roles":{"":"admin"}}`, auth.RoleAdmin},
		"a path that begins with a dot is none": {".roles", `{"":{"roles":"admin"}}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := newIssuer(t)
			if err := json.Unmarshal([]byte(c.claims), &i.idClaims); err != nil {
				t.Fatal(err)
			}
			cfg := i.config()
			cfg.RoleClaim = c.path
			who, err := signIn(t, i, newProvider(t, cfg), nil)
			if err != nil || who.Role != c.role {
				t.Fatalf("got %+v, %v, want %q", who, err, c.role)
			}
		})
	}
}

func TestAClaimThatIsNullIsNone(t *testing.T) {
	t.Parallel()
	nested := map[string]any{"a.roles": nil, "a": map[string]any{"roles": "admin"}}
	if value, there := find(nested, "a.roles"); !there || value != "admin" {
		t.Errorf("found %v, %t", value, there)
	}
	if value, there := find(map[string]any{"a": map[string]any{"roles": nil}}, "a.roles"); there {
		t.Errorf("found %v", value)
	}
}

// accessJWT makes the access token a JWT as Keycloak's default client gets it: without aud.
func (i *issuer) accessJWT(changes ...any) {
	i.access = i.key.token(with(map[string]any{
		"iss": i.URL, "sub": "ada-1", "azp": testClient, "exp": now().Unix() + 300, "iat": now().Unix(),
		"roles": []string{"operator"},
	}, changes...), nil)
}

func TestTheRoleIsLookedUpInIDTokenUserinfoAndAccessToken(t *testing.T) {
	t.Parallel()
	other := newSigner(t, "first", "ES256")
	for name, c := range map[string]struct {
		before func(*issuer)
		byDef  string
		role   string
		reason string
		kind   fault.Kind
	}{
		"in the ID token first": {before: func(i *issuer) {
			i.idClaims["roles"], i.userinfo["roles"] = "analyst", "admin"
			i.accessJWT()
		}, role: auth.RoleAnalyst},
		"in the ID token, empty, which is said": {before: func(i *issuer) {
			i.idClaims["roles"], i.userinfo["roles"] = []string{}, "admin"
		}},
		"then at userinfo": {before: func(i *issuer) {
			i.userinfo["roles"] = "admin"
			i.accessJWT()
		}, role: auth.RoleAdmin},
		"then in the access token":                     {before: func(i *issuer) { i.accessJWT() }, role: auth.RoleOperator},
		"in one with client_id for azp":                {before: func(i *issuer) { i.accessJWT("azp", nil, "client_id", testClient) }, role: auth.RoleOperator},
		"in one without sub":                           {before: func(i *issuer) { i.accessJWT("sub", nil) }, role: auth.RoleOperator},
		"without userinfo at all":                      {before: func(i *issuer) { delete(i.metadata, "userinfo_endpoint"); i.accessJWT() }, role: auth.RoleOperator},
		"not in another client's access token":         {before: func(i *issuer) { i.accessJWT("azp", "other") }},
		"not where azp and client_id differ":           {before: func(i *issuer) { i.accessJWT("azp", "other", "client_id", testClient) }},
		"not in one that says no client":               {before: func(i *issuer) { i.accessJWT("azp", nil) }},
		"not in another person's":                      {before: func(i *issuer) { i.accessJWT("sub", "eve") }},
		"not in another issuer's":                      {before: func(i *issuer) { i.accessJWT("iss", "https://evil.example") }},
		"not in an expired one":                        {before: func(i *issuer) { i.accessJWT("exp", now().Unix()-60) }},
		"not in one signed by another":                 {before: func(i *issuer) { i.accessJWT(); own := i.key; i.key = other; i.accessJWT(); i.key = own }},
		"nowhere":                                      {before: func(*issuer) {}},
		"nowhere, with a default":                      {before: func(*issuer) {}, byDef: auth.RoleAnalyst, role: auth.RoleAnalyst},
		"values of others only, with a default":        {before: func(i *issuer) { i.idClaims["roles"] = []string{"offline_access"} }, byDef: auth.RoleAnalyst, role: auth.RoleAnalyst},
		"a higher one than the default":                {before: func(i *issuer) { i.idClaims["roles"] = "admin" }, byDef: auth.RoleAnalyst, role: auth.RoleAdmin},
		"at userinfo of another person":                {before: func(i *issuer) { i.userinfo["roles"], i.userinfo["sub"] = "admin", "eve" }, kind: fault.Unauthenticated, reason: fault.ReasonSignInRejected},
		"at userinfo of nobody":                        {before: func(i *issuer) { i.userinfo["roles"] = "admin"; delete(i.userinfo, "sub") }, kind: fault.Unauthenticated, reason: fault.ReasonSignInRejected},
		"at userinfo that fails, which is not no role": {before: func(i *issuer) { i.answers[pathUserinfo] = status(500) }, byDef: auth.RoleAnalyst, kind: fault.Unavailable, reason: fault.ReasonProviderUnavailable},
		"at userinfo that is forbidden":                {before: func(i *issuer) { i.answers[pathUserinfo] = status(403) }, kind: fault.Unavailable, reason: fault.ReasonProviderUnavailable},
		"at userinfo that is garbage":                  {before: func(i *issuer) { i.answers[pathUserinfo] = body("application/json", "<html>") }, kind: fault.Unavailable, reason: fault.ReasonProviderUnavailable},
		"in the ID token, though userinfo for a name fails": {before: func(i *issuer) {
			i.idClaims["roles"], i.idClaims["name"], i.idClaims["email"] = "admin", nil, nil
			i.answers[pathUserinfo] = status(500)
		}, role: auth.RoleAdmin},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := newIssuer(t)
			c.before(i)
			cfg := i.config()
			cfg.DefaultRole = c.byDef
			who, err := signIn(t, i, newProvider(t, cfg), nil)
			if c.reason != "" {
				wantFault(t, err, c.kind, c.reason)
				return
			}
			if err != nil || who.Role != c.role {
				t.Fatalf("got %+v, %v, want %q", who, err, c.role)
			}
		})
	}
}

func TestSignedUserinfoIsCheckedAsAnIDTokenIs(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	other := newSigner(t, "first", "ES256")
	usual := map[string]any{"iss": i.URL, "aud": testClient, "sub": "ada-1", "roles": "admin", "name": "Ada"}
	for name, c := range map[string]struct {
		jwt string
		ok  bool
	}{
		"signed by the provider":  {i.key.token(usual, nil), true},
		"without iss and aud":     {i.key.token(with(usual, "iss", nil, "aud", nil), nil), true},
		"signed by another":       {other.token(usual, nil), false},
		"not signed":              {b64(`{"alg":"none"}`) + "." + b64(`{"sub":"ada-1","roles":"admin"}`) + ".", false},
		"for another client":      {i.key.token(with(usual, "aud", "other"), nil), false},
		"of another issuer":       {i.key.token(with(usual, "iss", "https://evil.example"), nil), false},
		"of another person":       {i.key.token(with(usual, "sub", "eve"), nil), false},
		"expired":                 {i.key.token(with(usual, "exp", now().Unix()-60), nil), false},
		"encrypted":               {"eyJhbGciOiJSU0EtT0FFUCJ9.a.b.c.d", false},
		"a logout token's type":   {i.key.token(usual, map[string]any{"typ": "logout+jwt"}), false},
		"plain JSON, said signed": {`{"sub":"ada-1","roles":"admin"}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			own := newIssuer(t)
			own.answers[pathUserinfo] = body("application/jwt; charset=utf-8", c.jwt)
			// The JWTs were made for the first issuer's address, which serves its own keys.
			p := newProvider(t, i.config())
			m, err := p.discovery.metadata(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			moved := *m
			moved.userinfo = own.URL + pathUserinfo
			p.discovery.known.Store(&moved)
			who, err := signIn(t, i, p, nil)
			if c.ok {
				if err != nil || who.Role != auth.RoleAdmin {
					t.Fatalf("got %+v, %v", who, err)
				}
				return
			}
			wantFault(t, err, fault.Unauthenticated, fault.ReasonSignInRejected)
		})
	}
}
