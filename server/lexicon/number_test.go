package lexicon

import (
	"encoding/json"
	"math/big"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestCanonicalNumbers(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("9", 64)
	for in, want := range map[string]string{
		"0": "0", "-0": "0", "0.000": "0", "0e99999999999999999999": "0", "-0E-5": "0", "1": "1", "1.0": "1", "1e0": "1", "10e-1": "1",
		"1E+3": "1000", "-5.50": "-5.5", "0.050": "0.05", "5e-2": "0.05", "12345678901234567890": "12345678901234567890",
		"1e63": "1" + strings.Repeat("0", 63), "1e64": "1e64", "12e64": "1.2e65", "1e-70": "1e-70", "1e400": "1e400", "10e399": "1e400",
		"1E401": "1e401", "1e-401": "1e-401", "1e999999999999999999999": "1e999999999999999999999",
		long: long, long + "0": long + "e1", long + "1": long + "1", long + ".0": long, "-" + long + "1E5": "-" + long + "1e5",
	} {
		if want == long+"e1" {
			want = "9." + strings.Repeat("9", 63) + "e64"
		}
		if got := string(canonical(nil, []byte(in))); got != want {
			t.Errorf("%s is spelled %s, not %s", in, got, want)
		}
	}
}

func TestEqualNumbersAreSpelledAlike(t *testing.T) {
	t.Parallel()
	number := rapid.StringMatching(`-?(0|[1-9][0-9]{0,8})(\.[0-9]{1,8})?([eE][+-]?[0-9]{1,2})?`)
	rapid.Check(t, func(t *rapid.T) {
		a, b := number.Draw(t, "a"), number.Draw(t, "b")
		x, y := new(big.Rat), new(big.Rat)
		x.SetString(a)
		y.SetString(b)
		ca, cb := string(canonical(nil, []byte(a))), string(canonical(nil, []byte(b)))
		if (x.Cmp(y) == 0) != (ca == cb) {
			t.Fatalf("%s and %s are spelled %s and %s", a, b, ca, cb)
		}
		z, ok := new(big.Rat).SetString(ca)
		if !ok || z.Cmp(x) != 0 || !isNumber([]byte(ca)) {
			t.Fatalf("%s is spelled %s", a, ca)
		}
		if again := string(canonical(nil, []byte(ca))); again != ca {
			t.Fatalf("%s is spelled %s, and that %s", a, ca, again)
		}
	})
}

func TestHugeNumbersCostNothing(t *testing.T) {
	t.Parallel()
	for _, in := range []string{"1e" + strings.Repeat("9", 1<<20), strings.Repeat("7", 1<<20), "0." + strings.Repeat("0", 1<<20) + "1"} {
		start := time.Now()
		canonical(nil, []byte(in))
		if d := time.Since(start); d > time.Second {
			t.Errorf("%s…: %v", in[:8], d)
		}
	}
}

func FuzzNumber(f *testing.F) {
	for _, n := range numbers {
		f.Add(n)
	}
	f.Fuzz(func(t *testing.T, s string) {
		valid := json.Valid([]byte(s)) && s != "" && (s[0] == '-' || isDigit(s[0])) && strings.TrimSpace(s) == s
		if isNumber([]byte(s)) != valid {
			t.Fatalf("%q is a number: %v", s, !valid)
		}
		if valid {
			c := canonical(nil, []byte(s))
			if again := canonical(nil, c); string(again) != string(c) {
				t.Fatalf("%q is spelled %s, and that %s", s, c, again)
			}
		}
	})
}
