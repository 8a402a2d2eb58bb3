package search

import (
	"bytes"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"oriel/server/query"
)

// FuzzTokens: whatever bytes stand behind a right checksum, a token is read or refused, without a panic
// and without allocating what it claims to hold; one that is read says the same again.
func FuzzTokens(f *testing.F) {
	vw := &view{
		made: query.Instant{Micros: 1, Given: true}, window: query.Window{From: query.Instant{Given: true}}, asked: [bounds]query.Bound{query.DefaultFrom()},
		upper: vector{{1, 0, 7}, {1, 2, 9}, {3, 0, 1}}, lower: vector{{1, 0, 3}}, arrivedOnly: true,
	}
	for _, token := range []string{vw.token(), pageToken{cut: cutBelow(5), view: vw, filter: 1 << 60, backward: true}.String()} {
		kind := byte(kindSnapshot)
		if token != vw.token() {
			kind = kindPage
		}
		r, err := readToken(kind, token)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(kind, r.b)
	}
	f.Add(byte(kindSnapshot), bytes.Repeat([]byte{0xff}, 40))
	f.Fuzz(func(t *testing.T, kind byte, body []byte) {
		w := newToken(kind)
		w.b = append(w.b, body...)
		token := w.String()
		if v, err := parseSnapshot(token); err == nil {
			again, err := parseSnapshot(v.token())
			if err != nil || !reflect.DeepEqual(again, v) {
				t.Fatalf("%+v became %+v, %v", v, again, err)
			}
			s := &statement{}
			s.snapshot(v)
			if n := len(v.upper) + len(v.lower); n > 2*maxVector {
				t.Fatalf("a vector of %d", n)
			}
		}
		if p, err := parsePageToken(token); err == nil {
			again, err := parsePageToken(p.String())
			if err != nil || !reflect.DeepEqual(again, p) {
				t.Fatalf("%+v became %+v, %v", p, again, err)
			}
		}
	})
}

func TestADamagedTokenIsRefused(t *testing.T) {
	t.Parallel()
	vw := &view{made: query.Instant{Micros: 1, Given: true}, window: query.Window{From: query.Instant{Given: true}}, upper: vector{{1, 0, 7}}}
	token := pageToken{cut: cutBelow(5), view: vw}.String()
	if _, err := parsePageToken(token); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		b := []byte(token)
		i := rapid.IntRange(0, len(b)-1).Draw(t, "place")
		c := rapid.SampledFrom([]byte("ABab01-_=+ ")).Draw(t, "character")
		if b[i] == c {
			t.Skip()
		}
		b[i] = c
		if _, err := parsePageToken(string(b)); err == nil {
			t.Fatalf("%s was read", b)
		}
		if _, err := parsePageToken(token[:i]); err == nil {
			t.Fatalf("%s was read", token[:i])
		}
	})
}
