package reference

import (
	"math/big"
	"regexp"
	"strings"
)

// numberLength is how much of the beginning of s is a JSON number.
func numberLength(s string) int {
	if s == "" || !strings.Contains("-0123456789", s[:1]) {
		return 0
	}
	return len(regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?`).FindString(s))
}

func isNumber(s string) bool { return s != "" && numberLength(s) == len(s) }

// decimal is sign × digits × 10^exponent, digits without zeros at either end; no digits is zero.
type decimal struct {
	negative bool
	digits   string
	exponent *big.Int
}

func decimalOf(s string) decimal {
	d := decimal{exponent: new(big.Int)}
	s = strings.ToLower(s)
	s, d.negative = strings.CutPrefix(s, "-")
	mantissa, exponent, ok := strings.Cut(s, "e")
	if ok {
		d.exponent.SetString(strings.TrimPrefix(exponent, "+"), 10)
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	d.digits = whole + fraction
	d.exponent.Sub(d.exponent, big.NewInt(int64(len(fraction))))
	trimmed := strings.TrimRight(d.digits, "0")
	d.exponent.Add(d.exponent, big.NewInt(int64(len(d.digits)-len(trimmed))))
	d.digits = strings.TrimLeft(trimmed, "0")
	if d.digits == "" {
		d.negative = false
		d.exponent.SetInt64(0)
	}
	return d
}

// bounded says that a number is one that is compared by value.
func (d decimal) bounded() bool {
	return len(d.digits) <= 64 && d.exponent.CmpAbs(big.NewInt(400)) <= 0
}

// canonical is one spelling for all of a value, and beyond the bounds the spelling itself without case. A
// whole number that has at most 64 digits is spelled as text spells it.
func canonical(s string) string {
	d := decimalOf(s)
	if !d.bounded() {
		return strings.ToLower(s)
	}
	if d.digits == "" {
		return "0"
	}
	sign := ""
	if d.negative {
		sign = "-"
	}
	e := int(d.exponent.Int64())
	point := len(d.digits) + e
	switch {
	case e >= 0 && point <= 64:
		return sign + d.digits + strings.Repeat("0", e)
	case e < 0 && point > 0:
		return sign + d.digits[:point] + "." + d.digits[point:]
	case e < 0 && point > -64:
		return sign + "0." + strings.Repeat("0", -point) + d.digits
	}
	out := sign + d.digits[:1]
	if len(d.digits) > 1 {
		out += "." + d.digits[1:]
	}
	return out + "e" + big.NewInt(int64(point-1)).String()
}

// compareNumbers compares by exact value, whatever the size.
func compareNumbers(a, b string) int {
	x, y := decimalOf(a), decimalOf(b)
	sx, sy := x.sign(), y.sign()
	if sx != sy || sx == 0 {
		return sx - sy
	}
	// 0.d × 10^(exponent + digits): the larger power is the larger number.
	px := new(big.Int).Add(x.exponent, big.NewInt(int64(len(x.digits))))
	py := new(big.Int).Add(y.exponent, big.NewInt(int64(len(y.digits))))
	c := px.Cmp(py)
	if c == 0 {
		c = strings.Compare(x.digits, y.digits)
	}
	return sx * c
}

func (d decimal) sign() int {
	switch {
	case d.digits == "":
		return 0
	case d.negative:
		return -1
	default:
		return 1
	}
}
