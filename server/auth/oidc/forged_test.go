package oidc

import (
	"crypto/ecdsa"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"hash"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"oriel/server/fault"
)

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
