package auth

import (
	"bytes"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
)

func TestASealedTokenOpensOnlyWhereItWasSealed(t *testing.T) {
	t.Parallel()
	ring := func(keys ...byte) *keyring {
		var raw [][]byte
		for _, k := range keys {
			raw = append(raw, testKey(k))
		}
		r, err := newKeyring(raw)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	here, there := digest{1}, digest{2}
	one := ring(1)
	sealed := one.seal("secret", here, sealedRefreshToken)
	for name, r := range map[string]*keyring{"the same key": one, "among others": ring(2, 1, 3)} {
		if text, err := r.open(sealed, here, sealedRefreshToken); err != nil || text != "secret" {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
	flipped := func(i int) []byte {
		b := bytes.Clone(sealed)
		b[i] ^= 1
		return b
	}
	for name, c := range map[string]struct {
		ring   *keyring
		sealed []byte
		row    digest
		column string
	}{
		"as another session's":  {one, sealed, there, sealedRefreshToken},
		"as another column":     {one, sealed, here, sealedIDToken},
		"with another key":      {ring(2), sealed, here, sealedRefreshToken},
		"with a changed mark":   {one, flipped(0), here, sealedRefreshToken},
		"with a changed nonce":  {one, flipped(markBytes), here, sealedRefreshToken},
		"with a changed text":   {one, flipped(markBytes + 12), here, sealedRefreshToken},
		"with a changed tag":    {one, flipped(len(sealed) - 1), here, sealedRefreshToken},
		"cut in its mark":       {one, sealed[:markBytes-1], here, sealedRefreshToken},
		"cut after its mark":    {one, sealed[:markBytes], here, sealedRefreshToken},
		"cut before its end":    {one, sealed[:len(sealed)-1], here, sealedRefreshToken},
		"empty":                 {one, []byte{}, here, sealedRefreshToken},
		"of a key's own making": {one, testKey(1), here, sealedRefreshToken},
	} {
		if text, err := c.ring.open(c.sealed, c.row, c.column); err == nil || text != "" {
			t.Errorf("%s: opened as %q", name, text)
		}
	}
	if bytes.Equal(sealed, one.seal("secret", here, sealedRefreshToken)) {
		t.Error("sealed twice the same")
	}
	if one.seal("", here, sealedIDToken) != nil {
		t.Error("nothing was sealed")
	}
	if text, err := one.open(nil, here, sealedIDToken); text != "" || err != nil {
		t.Errorf("nothing opened as %q, %v", text, err)
	}
	if bytes.Contains(one.marks[0], testKey(1)[:markBytes]) {
		t.Error("the mark shows the key")
	}
}

func TestTokensSwappedInTheDatabaseAreRefused(t *testing.T) {
	t.Parallel()
	for name, sql := range map[string]string{
		"between sessions": "UPDATE session s SET refresh_token = o.refresh_token FROM session o WHERE o.hash <> s.hash",
		"between columns":  "UPDATE session SET refresh_token = id_token",
		"changed":          `UPDATE session SET refresh_token = set_byte(refresh_token, 25, get_byte(refresh_token, 25) # 1)`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := install(t)
			s := in.replica()
			mine, theirs := create(t, s, ada()), create(t, s, ada())
			in.exec(sql)
			valid(t, s, mine) // nobody opens it yet
			in.age(5 * time.Minute)
			ended(t, s, mine)
			ended(t, s, theirs)
			if n := in.provider.questions(); n != 0 {
				t.Errorf("asked %d times with it", n)
			}
			refreshed(t, map[string]float64{refreshUnreadable: 2}, s)
			if n := testutil.ToFloat64(s.metrics.ended.WithLabelValues(endedUnreadable)); n != 2 {
				t.Errorf("%v ended", n)
			}
		})
	}
	t.Run("the id token", func(t *testing.T) {
		t.Parallel()
		in := install(t)
		s := in.replica()
		p := valid(t, s, create(t, s, ada()))
		create(t, s, ada())
		in.exec("UPDATE session s SET id_token = o.id_token FROM session o WHERE o.hash <> s.hash")
		if n, token, err := s.End(t.Context(), p, true, nil); n != 2 || token != "" || err != nil {
			t.Errorf("%d, %q, %v", n, token, err)
		}
	})
}

func TestAKeyIsReplacedWithoutSigningAnybodyOut(t *testing.T) {
	t.Parallel()
	in := install(t)
	before, between, after := in.replica(withKeys(1)), in.replica(withKeys(2, 1)), in.replica(withKeys(2))
	cookie := create(t, before, ada())
	in.age(5 * time.Minute)
	valid(t, between, cookie) // seals both tokens anew
	in.age(2 * time.Hour)
	p := valid(t, after, cookie)
	if lasts := p.Session.Expires.Sub(p.Session.Created); lasts != 24*time.Hour {
		t.Errorf("it lasts %s", lasts)
	}
	refreshed(t, map[string]float64{refreshSame: 1}, after)
	if _, token, err := after.End(t.Context(), p, false, nil); token != "id-token-2" || err != nil {
		t.Errorf("%q, %v", token, err)
	}
}

func TestASessionOfARemovedKeyLivesOnAsOneWithoutARefreshToken(t *testing.T) {
	t.Parallel()
	in := install(t)
	before, after := in.replica(withKeys(1)), in.replica(withKeys(2))
	cookie := create(t, before, ada())
	in.age(59 * time.Minute)
	p := valid(t, after, cookie)
	if lasts := p.Session.Expires.Sub(p.Session.Created); lasts != time.Hour || !p.Has(ScopeOperate) {
		t.Errorf("it lasts %s: %+v", lasts, p)
	}
	if n := in.provider.questions(); n != 0 {
		t.Errorf("asked %d times", n)
	}
	in.age(time.Minute)
	ended(t, after, cookie)
	valid(t, before, cookie) // a replica that has the key has lost nothing
	if n, token, err := after.End(t.Context(), p, false, nil); n != 1 || token != "" || err != nil {
		t.Errorf("%d, %q, %v", n, token, err)
	}
}
