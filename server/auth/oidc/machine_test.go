package oidc

import (
	"crypto/ecdsa"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"hash"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"oriel/server/auth"
	"oriel/server/fault"
)

func machineClaims(i *issuer) map[string]any {
	return map[string]any{
		"iss": i.URL, "aud": testAudience, "sub": "billing", "azp": "billing-client",
		"exp": now().Unix() + 300, "iat": now().Unix(), "scope": "events:write",
	}
}

func TestAMachineIsWhatItsJWTSays(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	p := newProvider(t, i.config())
	for name, c := range map[string]struct {
		changes []any
		header  map[string]any
		id      string
		called  string
		scopes  []string
	}{
		"as it is":                    {id: "#billing", called: "billing-client", scopes: []string{"events:write"}},
		"audiences":                   {changes: []any{"aud", []string{"other", testAudience}}, id: "#billing", called: "billing-client", scopes: []string{"events:write"}},
		"of an access token's type":   {header: map[string]any{"typ": "at+jwt"}, id: "#billing", called: "billing-client", scopes: []string{"events:write"}},
		"of its whole media type":     {header: map[string]any{"typ": "application/AT+JWT"}, id: "#billing", called: "billing-client", scopes: []string{"events:write"}},
		"of no type":                  {header: map[string]any{"typ": nil}, id: "#billing", called: "billing-client", scopes: []string{"events:write"}},
		"without a key id":            {header: map[string]any{"kid": nil}, id: "#billing", called: "billing-client", scopes: []string{"events:write"}},
		"with an address for its key": {header: map[string]any{"jku": "https://evil.example/keys", "x5u": "https://evil.example/chain"}, id: "#billing", called: "billing-client", scopes: []string{"events:write"}},
		"a client without sub":        {changes: []any{"sub", nil, "azp", nil, "client_id", "c"}, id: "#c", called: "c", scopes: []string{"events:write"}},
		"without a client":            {changes: []any{"azp", nil}, id: "#billing", called: "billing", scopes: []string{"events:write"}},
		"with a client of two lines":  {changes: []any{"azp", "a\nb"}, id: "#billing", called: "billing", scopes: []string{"events:write"}},
		"only our scopes, in our order, once": {
			changes: []any{"scope", "openid admin:write events:read  events:read EVENTS:WRITE"},
			id:      "#billing", called: "billing-client", scopes: []string{"events:read", "admin:write"},
		},
		"scopes as an array": {changes: []any{"scope", []string{"operate", "events:write"}}, id: "#billing", called: "billing-client", scopes: []string{"events:write", "operate"}},
		"scopes as scp":      {changes: []any{"scope", nil, "scp", []string{"operate"}}, id: "#billing", called: "billing-client", scopes: []string{"operate"}},
		"scope before scp":   {changes: []any{"scope", "", "scp", "operate"}, id: "#billing", called: "billing-client"},
		"no scopes":          {changes: []any{"scope", nil}, id: "#billing", called: "billing-client"},
		"no role from it":    {changes: []any{"scope", nil, "roles", []string{"admin"}}, id: "#billing", called: "billing-client"},
		"a date with part of a second": {
			changes: []any{"exp", float64(now().Unix()) + 0.5}, id: "#billing", called: "billing-client", scopes: []string{"events:write"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			who, err := p.Verify(t.Context(), i.key.token(with(machineClaims(i), c.changes...), c.header))
			if err != nil {
				t.Fatal(err)
			}
			if who.Kind != auth.KindWorkload || who.ID != i.URL+c.id || who.Name != c.called || !slices.Equal(who.Scopes, c.scopes) || who.Roles != nil || who.SourcePrefixes != nil || who.Session != nil {
				t.Errorf("got %+v", who)
			}
		})
	}
}

func TestAForgedJWTIsRefused(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	rsaKey := newSigner(t, "rsa", "RS256")
	weak := signer{"weak", "RS256", mustRSA(t, 1024)}
	p384 := newSigner(t, "p384", "ES384")
	encrypts := newSigner(t, "encrypts", "ES256")
	encryptsJWK := encrypts.jwk()
	encryptsJWK["use"] = "enc"
	wraps := newSigner(t, "wraps", "ES256")
	wrapsJWK := wraps.jwk()
	delete(wrapsJWK, "use")
	wrapsJWK["key_ops"] = []string{"wrapKey"}
	i.jwks["keys"] = []any{i.key.jwk(), rsaKey.jwk(), weak.jwk(), p384.jwk(), encryptsJWK, wrapsJWK}
	mallory := newSigner(t, i.key.id, "ES256")
	p := newProvider(t, i.config())
	good := machineClaims(i)
	payload := mustJSON(good)
	goodHead := `{"alg":"ES256","kid":"first","typ":"JWT"}`
	token := i.key.raw(goodHead, payload)
	if _, err := p.Verify(t.Context(), token); err != nil {
		t.Fatalf("the good one: %v", err)
	}
	parts := strings.Split(token, ".")
	claim := func(changes ...any) string { return i.key.token(with(good, changes...), nil) }
	head := func(header string) string { return i.key.raw(header, payload) }
	rawClaims := func(claims string) string { return i.key.raw(goodHead, claims) }

	type attack struct{ token, result string }
	attacks := map[string]attack{
		"empty":                           {"", resultMalformed},
		"one part":                        {"x", resultMalformed},
		"two parts":                       {parts[0] + "." + parts[1], resultMalformed},
		"four parts":                      {token + ".x", resultMalformed},
		"five parts, encrypted":           {token + ".x.y", resultMalformed},
		"without signature":               {parts[0] + "." + parts[1] + ".", resultMalformed},
		"JSON in place of the compact":    {`{"payload":"` + parts[1] + `","protected":"` + parts[0] + `","signature":"` + parts[2] + `"}`, resultMalformed},
		"trailing garbage":                {token + "AAAA", resultSignature},
		"a trailing space":                {token + " ", resultMalformed},
		"a leading space":                 {" " + token, resultMalformed},
		"a line end inside":               {parts[0] + "\n." + parts[1] + "." + parts[2], resultMalformed},
		"a return inside the signature":   {parts[0] + "." + parts[1] + "." + parts[2][:5] + "\r" + parts[2][5:], resultMalformed},
		"a tab inside":                    {parts[0] + "." + parts[1][:3] + "\t" + parts[1][3:] + "." + parts[2], resultMalformed},
		"padding":                         {parts[0] + "." + parts[1] + "." + parts[2] + "==", resultMalformed},
		"the other base64":                {parts[0] + "." + parts[1] + "." + strings.NewReplacer("-", "+", "_", "/").Replace(parts[2]) + "+", resultMalformed},
		"bits after the signature":        {token[:len(token)-1] + string(nextChar(token[len(token)-1])), resultMalformed},
		"another payload":                 {parts[0] + "." + b64(mustJSON(with(good, "scope", "admin:write"))) + "." + parts[2], resultSignature},
		"another's signature":             {mallory.raw(goodHead, payload), resultSignature},
		"a signature of zeroes":           {parts[0] + "." + parts[1] + "." + b64(string(make([]byte, 64))), resultSignature},
		"a DER signature":                 {parts[0] + "." + parts[1] + "." + b64(derSignature(t, i.key, parts[0]+"."+parts[1])), resultSignature},
		"above 16 KiB":                    {claim("filler", strings.Repeat("x", 16<<10)), resultMalformed},
		"a mebibyte of dots":              {strings.Repeat(".", 1<<20), resultMalformed},
		"crit":                            {head(`{"alg":"ES256","kid":"first","crit":["exp"],"exp":1}`), resultHeader},
		"an empty crit":                   {head(`{"alg":"ES256","kid":"first","crit":[]}`), resultHeader},
		"b64 false":                       {head(`{"alg":"ES256","kid":"first","b64":false,"crit":["b64"]}`), resultHeader},
		"b64 without crit":                {head(`{"alg":"ES256","kid":"first","b64":false}`), resultHeader},
		"alg twice":                       {head(`{"alg":"none","alg":"ES256","kid":"first"}`), resultMalformed},
		"kid twice":                       {head(`{"alg":"ES256","kid":"first","kid":"first"}`), resultMalformed},
		"alg twice, once escaped":         {head(`{"alg":"none","\u0061lg":"ES256","kid":"first"}`), resultMalformed},
		"alg in capitals as a second":     {head(`{"ALG":"ES256","kid":"first"}`), resultHeader},
		"no alg":                          {head(`{"kid":"first"}`), resultHeader},
		"alg as an array":                 {head(`{"alg":["ES256"],"kid":"first"}`), resultHeader},
		"a header that is null":           {head(`null`), resultMalformed},
		"a header that is an array":       {head(`["ES256"]`), resultMalformed},
		"a header with more behind it":    {head(goodHead + `{}`), resultMalformed},
		"a header in bad UTF-8":           {head("{\"alg\":\"ES256\",\"kid\":\"first\",\"x\":\"\xff\"}"), resultMalformed},
		"an ID token's other type":        {head(`{"alg":"ES256","kid":"first","typ":"logout+jwt"}`), resultHeader},
		"a DPoP proof":                    {head(`{"alg":"ES256","kid":"first","typ":"dpop+jwt"}`), resultHeader},
		"typ as a number":                 {head(`{"alg":"ES256","kid":"first","typ":1}`), resultHeader},
		"an unknown kid":                  {head(`{"alg":"ES256","kid":"second"}`), resultKey},
		"a kid with a path":               {head(`{"alg":"ES256","kid":"../../first"}`), resultKey},
		"an empty kid":                    {head(`{"alg":"ES256","kid":""}`), resultHeader},
		"kid as a number":                 {head(`{"alg":"ES256","kid":1}`), resultHeader},
		"a kid of 300 bytes":              {head(`{"alg":"ES256","kid":"` + strings.Repeat("x", 300) + `"}`), resultHeader},
		"an RSA key's id":                 {head(`{"alg":"ES256","kid":"rsa"}`), resultKey},
		"a key of another curve":          {head(`{"alg":"ES256","kid":"p384"}`), resultKey},
		"an algorithm its key is not for": {signer{"rsa", "RS512", rsaKey.private}.token(good, nil), resultKey},
		"PSS by a key for PKCS #1":        {signer{"rsa", "PS256", rsaKey.private}.token(good, nil), resultKey},
		"RSA of 1024 bits":                {weak.token(good, nil), resultKey},
		"a key that is for encryption":    {encrypts.token(good, nil), resultKey},
		"a key that is for wrapping":      {wraps.token(good, nil), resultKey},
		"a key for encryption, unnamed":   {encrypts.token(good, map[string]any{"kid": nil}), resultKey},
		"its own key in the header":       {mallory.token(good, map[string]any{"jwk": mallory.jwk()}), resultSignature},
		"its own key, unnamed":            {mallory.token(good, map[string]any{"jwk": mallory.jwk(), "kid": nil}), resultKey},
		"its own key by another name":     {mallory.token(good, map[string]any{"jwk": mallory.jwk(), "kid": "mallory"}), resultKey},
		"claims that are an array":        {rawClaims(`[]`), resultMalformed},
		"claims that are null":            {rawClaims(`null`), resultMalformed},
		"claims that are not JSON":        {rawClaims(`x`), resultMalformed},
		"claims with more behind them":    {rawClaims(payload + `{}`), resultMalformed},
		"a claim twice":                   {rawClaims(payload[:len(payload)-1] + `,"aud":"` + testAudience + `"}`), resultMalformed},
		"a nested claim twice":            {rawClaims(payload[:len(payload)-1] + `,"x":{"a":1,"a":2}}`), resultMalformed},
		"another issuer":                  {claim("iss", "https://evil.example"), resultIssuer},
		"the issuer with a slash":         {claim("iss", i.URL+"/"), resultIssuer},
		"no issuer":                       {claim("iss", nil), resultIssuer},
		"issuers":                         {claim("iss", []string{i.URL}), resultClaims},
		"another audience":                {claim("aud", "other"), resultAudience},
		"our audience's beginning":        {claim("aud", testAudience[:10]), resultAudience},
		"audiences without ours":          {claim("aud", []string{"a", "b"}), resultAudience},
		"no audiences":                    {claim("aud", []string{}), resultAudience},
		"no aud":                          {claim("aud", nil), resultAudience},
		"aud as an object":                {claim("aud", map[string]any{testAudience: 1}), resultClaims},
		"aud with a number":               {claim("aud", []any{testAudience, 1}), resultClaims},
		"no exp":                          {claim("exp", nil), resultClaims},
		"exp null":                        {rawClaims(replaceExp(payload, "null")), resultClaims},
		"exp as a text":                   {claim("exp", fmt.Sprint(now().Unix()+300)), resultClaims},
		"exp below 0":                     {claim("exp", -1), resultClaims},
		"exp as 1e400":                    {rawClaims(replaceExp(payload, "1e400")), resultMalformed},
		"exp as 1e300":                    {rawClaims(replaceExp(payload, "1e300")), resultClaims},
		"exp in the year 10000":           {claim("exp", int64(253402300800)), resultClaims},
		"exp above 64 bits":               {rawClaims(replaceExp(payload, "18446744073709551616")), resultClaims},
		"exp true":                        {claim("exp", true), resultClaims},
		"exp part of a second ago":        {claim("exp", float64(now().Unix())-30.5), resultExpired},
		"expired long ago":                {claim("exp", 1), resultExpired},
		"not before tomorrow":             {claim("nbf", now().Unix()+86400), resultEarly},
		"nbf as a text":                   {claim("nbf", "1"), resultClaims},
		"issued tomorrow":                 {claim("iat", now().Unix()+86400), resultEarly},
		"iat as a text":                   {claim("iat", "1"), resultClaims},
		"nobody":                          {claim("sub", nil, "azp", nil), resultClaims},
		"sub as a number":                 {claim("sub", 1), resultClaims},
		"an empty sub":                    {claim("sub", ""), resultClaims},
		"a sub with a line end":           {claim("sub", "a\r\nb"), resultClaims},
		"scope as a number":               {claim("scope", 1), resultClaims},
		"scope as an object":              {claim("scope", map[string]any{"admin:write": true}), resultClaims},
		"an ID token of ours": {
			i.key.token(map[string]any{"iss": i.URL, "aud": testClient, "sub": "ada-1", "exp": now().Unix() + 300, "iat": now().Unix(), "nonce": "n"}, nil), resultAudience,
		},
		"an ID token with our audience": {claim("at_hash", "x"), resultClaims},
		"Keycloak's ID token":           {claim("typ", "ID"), resultClaims},
		"Keycloak's refresh token":      {claim("typ", "Refresh"), resultClaims},
	}
	for _, none := range []string{"none", "None", "NONE", "nOnE", "", " none", "none ", "es256", "ES256 ", "ES256K", "HS256", "HS384", "HS512", "RSA1_5", "dir", "none\x00"} {
		header := mustJSON(map[string]any{"alg": none, "kid": "first"})
		attacks[fmt.Sprintf("alg %q without signature", none)] = attack{b64(header) + "." + parts[1] + ".", resultMalformed}
		attacks[fmt.Sprintf("alg %q with a good signature", none)] = attack{head(header), resultHeader}
	}
	for name, key := range publicKeyBytes(t, i.key) {
		for algorithm, h := range map[string]func() hash.Hash{"HS256": sha256.New, "HS384": sha512.New384, "HS512": sha512.New} {
			input := b64(mustJSON(map[string]any{"alg": algorithm, "kid": "first"})) + "." + parts[1]
			mac := hmac.New(h, key)
			mac.Write([]byte(input))
			attacks[algorithm+" with the public key as "+name] = attack{input + "." + b64(string(mac.Sum(nil))), resultHeader}
		}
	}
	for name, a := range attacks {
		t.Run(name, func(t *testing.T) {
			own := newProvider(t, i.config()) // so that results are counted apart
			who, err := own.Verify(t.Context(), a.token)
			if who != nil {
				t.Fatalf("accepted as %+v", who)
			}
			wantFault(t, err, fault.Unauthenticated, fault.ReasonTokenInvalid)
			if got := testutil.ToFloat64(own.metrics.verifies.WithLabelValues(a.result)); got != 1 {
				t.Errorf("not counted as %s: %v", a.result, err)
			}
			if text := fault.Of(err).Message; strings.ContainsAny(text, "\r\n\x00") || len(text) > 300 {
				t.Errorf("answered %q", text)
			}
		})
	}
}

func TestTimesHaveThirtySecondsOfLeewayBothWays(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	for name, c := range map[string]struct {
		claim string
		by    time.Duration // of the claim from now
		ok    bool
	}{
		"exp, 1 ms within":  {"exp", -30*time.Second + time.Millisecond, true},
		"exp, at the edge":  {"exp", -30 * time.Second, false},
		"exp, 1 ms beyond":  {"exp", -30*time.Second - time.Millisecond, false},
		"nbf, 1 ms within":  {"nbf", 30*time.Second - time.Millisecond, true},
		"nbf, at the edge":  {"nbf", 30 * time.Second, true},
		"nbf, 1 ms beyond":  {"nbf", 30*time.Second + time.Millisecond, false},
		"iat, at the edge":  {"iat", 30 * time.Second, true},
		"iat, 1 ms beyond":  {"iat", 30*time.Second + time.Millisecond, false},
		"iat, years before": {"iat", -10 * 365 * 24 * time.Hour, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := i.config()
			// The claim is a whole second, so that no fraction is lost on the way: the clock is moved.
			cfg.Now = func() time.Time { return now().Add(-c.by) }
			_, err := newProvider(t, cfg).Verify(t.Context(), i.key.token(with(machineClaims(i), "iat", nil, "exp", now().Unix()+1<<30, c.claim, now().Unix()), nil))
			if (err == nil) != c.ok {
				t.Fatalf("got %v, want accepted %t", err, c.ok)
			}
		})
	}
}

func TestNoJWTIsAcceptedWithoutAnAudience(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	cfg := i.config()
	cfg.Audience = ""
	for _, audience := range []any{"", []string{""}, []string{}, nil, testClient} {
		_, err := newProvider(t, cfg).Verify(t.Context(), i.key.token(with(machineClaims(i), "aud", audience), nil))
		wantFault(t, err, fault.Unauthenticated, fault.ReasonTokenInvalid)
	}
	if i.count(pathKeys) != 0 {
		t.Error("keys were fetched for nothing")
	}
}

func mustJSON(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

func mustRSA(t *testing.T, bits int) *rsa.PrivateKey {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// nextChar is a character of base64url whose lowest bit alone is another.
func nextChar(c byte) byte {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	return alphabet[strings.IndexByte(alphabet, c)^1]
}

func derSignature(t *testing.T, s signer, input string) string {
	t.Helper()
	sum := sha256.Sum256([]byte(input))
	raw, err := ecdsa.SignASN1(rand.Reader, s.private.(*ecdsa.PrivateKey), sum[:])
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func replaceExp(payload, value string) string {
	return strings.Replace(payload, fmt.Sprintf(`"exp":%d`, now().Unix()+300), `"exp":`+value, 1)
}

// publicKeyBytes are the ways in which a verifier might hold the public key, each once mistaken for a secret.
func publicKeyBytes(t *testing.T, s signer) map[string][]byte {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(s.private.Public())
	if err != nil {
		t.Fatal(err)
	}
	point, err := s.private.Public().(*ecdsa.PublicKey).Bytes()
	if err != nil {
		t.Fatal(err)
	}
	block := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	return map[string][]byte{
		"DER": der, "PEM": block, "PEM without its line end": block[:len(block)-1],
		"JWK": []byte(mustJSON(s.jwk())), "a point": point,
		"x": point[1:33], "nothing": nil,
	}
}
