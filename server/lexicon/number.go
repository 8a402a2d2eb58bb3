package lexicon

import "bytes"

// Numbers beyond either bound are compared by their spelling: computing with them serves nobody and
// 1e999999999 must not be written out.
const (
	maxDigits   = 64
	maxExponent = 400
)

// isNumber reports whether s is a number by JSON's grammar (RFC 8259 section 6).
func isNumber(s []byte) bool {
	n, ok := numberEnd(s, 0)
	return ok && n == len(s)
}

// numberEnd returns the end of the number that starts at s[i].
func numberEnd(s []byte, i int) (int, bool) {
	digits := func() bool {
		start := i
		for i < len(s) && s[i]-'0' <= 9 {
			i++
		}
		return i > start
	}
	if i < len(s) && s[i] == '-' {
		i++
	}
	if i < len(s) && s[i] == '0' {
		i++
	} else if !digits() {
		return i, false
	}
	if i < len(s) && s[i] == '.' {
		i++
		if !digits() {
			return i, false
		}
	}
	if i < len(s) && s[i]|0x20 == 'e' {
		i++
		if i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		if !digits() {
			return i, false
		}
	}
	return i, true
}

// canonical appends to dst the one spelling of the decimal value of a valid JSON number, or its own
// spelling in lower case beyond the bounds. Whole numbers of up to 64 digits are spelled as text
// spells them, so that number 1e3 and text "1000" give one word.
func canonical(dst, raw []byte) []byte {
	if plain(raw) {
		return append(dst, raw...)
	}
	mantissa, exp, ok := raw, 0, true
	if i := bytes.IndexAny(raw, "eE"); i >= 0 {
		mantissa = raw[:i]
		exp, ok = smallInt(raw[i+1:])
	}
	negative := mantissa[0] == '-'
	if negative {
		mantissa = mantissa[1:]
	}
	whole, fraction, _ := bytes.Cut(mantissa, []byte{'.'})
	var room [maxDigits + 2]byte
	d := room[:0]
	zeros := 0 // seen since the last significant digit, not yet written
	place := func(part []byte, after int) bool {
		for _, c := range part {
			exp -= after
			if c == '0' {
				if len(d) > 0 {
					zeros++
				}
				continue
			}
			if len(d)+zeros+1 > maxDigits {
				return false
			}
			for ; zeros > 0; zeros-- {
				d = append(d, '0')
			}
			d = append(d, c)
		}
		return true
	}
	fits := place(whole, 0) && place(fraction, 1)
	if fits && len(d) == 0 {
		return append(dst, '0')
	}
	exp += zeros // value = d × 10^exp
	if !ok || !fits || exp > maxExponent || exp < -maxExponent {
		return append(dst, bytes.ToLower(raw)...)
	}
	if negative {
		dst = append(dst, '-')
	}
	return spell(dst, d, exp)
}

// spell writes digits × 10^exp: plainly while that is short, else in scientific form.
func spell(dst, d []byte, exp int) []byte {
	point := len(d) + exp // digits before the decimal point
	switch {
	case exp >= 0 && point <= maxDigits:
		dst = append(dst, d...)
		for ; exp > 0; exp-- {
			dst = append(dst, '0')
		}
		return dst
	case exp < 0 && point > 0:
		dst = append(dst, d[:point]...)
		dst = append(dst, '.')
		return append(dst, d[point:]...)
	case exp < 0 && point > -maxDigits:
		dst = append(dst, "0."...)
		for ; point < 0; point++ {
			dst = append(dst, '0')
		}
		return append(dst, d...)
	}
	dst = append(dst, d[0])
	if len(d) > 1 {
		dst = append(dst, '.')
		dst = append(dst, d[1:]...)
	}
	dst = append(dst, 'e')
	return appendInt(dst, point-1)
}

// plain reports a whole number that needs no work: no sign, fraction or exponent, not too long.
func plain(raw []byte) bool {
	if len(raw) > maxDigits {
		return false
	}
	for _, c := range raw {
		if c-'0' > 9 {
			return false
		}
	}
	return true
}

// smallInt reads an exponent; false where its magnitude is beyond any that is computed with.
func smallInt(s []byte) (int, bool) {
	negative := s[0] == '-'
	if negative || s[0] == '+' {
		s = s[1:]
	}
	n := 0
	for _, c := range s {
		n = n*10 + int(c-'0')
		if n > 1<<24 {
			return 0, false
		}
	}
	if negative {
		n = -n
	}
	return n, true
}

func appendInt(dst []byte, n int) []byte {
	if n < 0 {
		dst = append(dst, '-')
		n = -n
	}
	if n >= 10 {
		dst = appendInt(dst, n/10)
	}
	return append(dst, byte('0'+n%10))
}
