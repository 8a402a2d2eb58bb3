package query

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"oriel/server/fault"
)

// Reader reads URL parameters and collects everything that is wrong with them.
type Reader struct {
	Params     url.Values
	Violations []fault.Violation
}

// Invalid notes a value that a parameter cannot have.
func (r *Reader) Invalid(name, value, accepted, message string) {
	r.Violations = append(r.Violations, fault.Violation{
		Reason:   fault.ReasonInvalidParameter,
		Message:  message,
		Metadata: fault.Pairs("attribute", name, "value", Shown(value), "accepted", accepted),
	})
}

// Values is the non-empty values of a parameter that are text.
func (r *Reader) Values(name string) []string {
	var out []string
	for _, v := range r.Params[name] {
		switch {
		case v == "":
		case !utf8.ValidString(v):
			r.Invalid(Shown(name), v, "UTF-8", "A value of "+Shown(name)+" is not valid UTF-8.")
		default:
			out = append(out, v)
		}
	}
	return r.few(name, out)
}

// few refuses more values than there may be.
func (r *Reader) few(name string, vs []string) []string {
	if len(vs) <= MaxValues {
		return vs
	}
	r.Invalid(Shown(name), strconv.Itoa(len(vs))+" values", "at most "+strconv.Itoa(MaxValues)+" values",
		"The parameter "+Shown(name)+" has more than "+strconv.Itoa(MaxValues)+" values.")
	return nil
}

// Single is the one value of a parameter, however often it is given; "" where it is not.
func (r *Reader) Single(name string) string {
	switch vs := r.Values(name); len(vs) {
	case 0:
		return ""
	case 1:
		return vs[0]
	default:
		if slices.ContainsFunc(vs, func(v string) bool { return v != vs[0] }) {
			r.Invalid(name, strings.Join(vs, " and "), "one value", "The parameter "+name+" is given more than once, with different values.")
		}
		return vs[0]
	}
}

// Bound is a parameter that is a time.
func (r *Reader) Bound(name string) Bound {
	s := r.Single(name)
	if s == "" {
		return Bound{}
	}
	b, err := ParseBound(s)
	if err != nil {
		text := "The parameter " + name + " is no time: " + err.Error() + "."
		if strings.Contains(s, " ") {
			text += " A + in a URL is a space; write it %2B."
		}
		r.Invalid(name, s, AcceptedBound, text)
		return Bound{}
	}
	return b
}

// equals reads exact values: alternatives, but of tags, which must all be there; negated, none may be.
// Shown cuts a value for a message, on a rune.
func Shown(s string) string {
	const limit = 200
	s = strings.ToValidUTF8(s, "�")
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return string([]rune(s)[:limit-1]) + "…"
}

// Quote sets apart what was sent, by other marks where it has the usual ones in it.
func Quote(s string) string {
	if strings.Contains(s, `"`) {
		return "“" + Shown(s) + "”"
	}
	return `"` + Shown(s) + `"`
}
