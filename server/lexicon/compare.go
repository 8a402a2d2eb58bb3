package lexicon

import (
	"bytes"
	"cmp"
)

// CompareNumbers orders two JSON numbers by their exact decimal value, at any length. An exponent of more
// than 17 digits counts as one of its sign that is larger than all others.
func CompareNumbers(a, b []byte) int {
	x, y := magnitudeOf(a), magnitudeOf(b)
	switch {
	case x.sign != y.sign:
		return cmp.Compare(x.sign, y.sign)
	case x.sign == 0:
		return 0
	case x.point != y.point:
		return x.sign * cmp.Compare(x.point, y.point)
	}
	return x.sign * x.compareDigits(&y)
}

// magnitude is a number as sign × 0.d₁d₂… × 10^point; d₁ is not 0.
type magnitude struct {
	sign            int
	point           int
	whole, fraction []byte // its digits, those of both one after another, without leading zeros
}

const farExponent = 1 << 61

func magnitudeOf(raw []byte) magnitude {
	m := magnitude{sign: 1}
	if raw[0] == '-' {
		m.sign, raw = -1, raw[1:]
	}
	exp := 0
	if i := bytes.IndexAny(raw, "eE"); i >= 0 {
		exp = exponent(raw[i+1:])
		raw = raw[:i]
	}
	m.whole, m.fraction, _ = bytes.Cut(raw, []byte{'.'})
	m.whole = bytes.TrimLeft(m.whole, "0")
	m.point = exp + len(m.whole)
	if len(m.whole) == 0 {
		significant := bytes.TrimLeft(m.fraction, "0")
		m.point -= len(m.fraction) - len(significant)
		if m.fraction = significant; len(significant) == 0 {
			return magnitude{}
		}
	}
	return m
}

func exponent(s []byte) int {
	negative := s[0] == '-'
	if negative || s[0] == '+' {
		s = s[1:]
	}
	n := 0
	if s = bytes.TrimLeft(s, "0"); len(s) > 17 {
		n = farExponent
	} else {
		for _, c := range s {
			n = n*10 + int(c-'0')
		}
	}
	if negative {
		return -n
	}
	return n
}

func (m *magnitude) compareDigits(o *magnitude) int {
	for i := range max(len(m.whole)+len(m.fraction), len(o.whole)+len(o.fraction)) {
		if c := cmp.Compare(m.digit(i), o.digit(i)); c != 0 {
			return c
		}
	}
	return 0
}

func (m *magnitude) digit(i int) byte {
	if i < len(m.whole) {
		return m.whole[i]
	}
	if i -= len(m.whole); i < len(m.fraction) {
		return m.fraction[i]
	}
	return '0'
}
