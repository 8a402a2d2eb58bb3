package search

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"oriel/server/fault"
	"oriel/server/query"
)

// Sizes of a page, named in every refusal.
const (
	DefaultPageSize = 100
	MaxPageSize     = 500
)

// What the parameters of requests that do not filter are called, for whoever asks for another.
const (
	parametersOfSnapshot = "from, until, arrivedFrom, arrivedUntil, each at most once"
	parametersOfEvent    = "time, at most once"
)

func ofSnapshot(parameter string) bool {
	return slices.Contains([]string{"from", "until", "arrivedFrom", "arrivedUntil"}, parameter)
}

func ofEvent(parameter string) bool { return parameter == "time" }

// request is what every search asks: a filter, of a snapshot where one is given.
type request struct {
	filter query.Filter
	frozen *view // of the snapshot; nil: as of now
	wrong  bool  // the filter could not be read
}

// decoder reads parameters and collects everything that is wrong.
type decoder struct {
	params     url.Values
	violations []fault.Violation
}

// err is everything that was wrong, as one error.
func (d *decoder) err() error {
	if len(d.violations) == 0 {
		return nil
	}
	return fault.Many(fault.InvalidArgument, d.violations)
}

// search reads a filter and the snapshot that it is asked of; own are the caller's further parameters, and
// any other parameter is refused.
func (s *Service) search(d *decoder, own ...string) request {
	own = append([]string{"snapshot"}, own...)
	filter, violations := query.Decode(s.schema, d.params, func(name string) bool { return slices.Contains(own, name) }, strings.Join(own, ", "))
	d.violations = append(d.violations, violations...)
	r := request{filter: filter, wrong: len(violations) > 0}
	token := d.single("snapshot")
	if token == "" {
		return r
	}
	v, err := parseSnapshot(token)
	if err != nil {
		d.invalid("snapshot", token, "the snapshot of GET /v1/events:snapshot or of an answer", "The snapshot is no token of ours.")
		return r
	}
	r.frozen = v
	for _, name := range v.differs(d.bounds()) {
		d.violations = append(d.violations, fault.Violation{
			Reason:   fault.ReasonInvalidParameter,
			Message:  "The parameter " + name + " differs from the snapshot's, which has frozen the time range. Leave it out, or make another snapshot.",
			Metadata: fault.Pairs("attribute", name, "accepted", "what the snapshot was made with"),
		})
	}
	return r
}

// ordered reports that a range is empty, unless a bound of it could not be read.
func (s *Service) ordered(d *decoder) {
	f, now := d.bounds(), s.now()
	blamed := func(names ...string) bool {
		return slices.ContainsFunc(d.violations, func(v fault.Violation) bool { return slices.Contains(names, v.Metadata["attribute"]) })
	}
	if w, err := query.ResolveWindow(f.From, f.Until, now); err != nil && !blamed("from", "until") {
		d.violations = append(d.violations, emptyRange("until", w.Until, err))
	}
	if f.ArrivedFrom.Given() && f.ArrivedUntil.Given() && !blamed("arrivedFrom", "arrivedUntil") {
		if w, err := query.ResolveWindow(f.ArrivedFrom, f.ArrivedUntil, now); err != nil {
			d.violations = append(d.violations, emptyRange("arrivedUntil", w.Until, err))
		}
	}
}

// bounds are those of the bounds that can be read, beside whatever else is wrong.
func (d *decoder) bounds() query.Filter {
	read := func(name string) query.Bound {
		b, err := query.ParseBound(d.params.Get(name))
		if err != nil {
			return query.Bound{}
		}
		return b
	}
	return query.Filter{From: read("from"), Until: read("until"), ArrivedFrom: read("arrivedFrom"), ArrivedUntil: read("arrivedUntil")}
}

func emptyRange(name string, at query.Instant, err error) fault.Violation {
	return fault.Violation{
		Reason: fault.ReasonInvalidParameter, Message: "The time range is empty: " + err.Error() + ".",
		Metadata: fault.Pairs("attribute", name, "value", at.String(), "accepted", "a time after where it begins"),
	}
}

func (d *decoder) unknown(known func(string) bool, accepted string) {
	var names []string
	for name := range d.params {
		if !known(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		d.violations = append(d.violations, fault.Violation{
			Reason:   fault.ReasonUnknownParameter,
			Message:  "There is no parameter " + quote(name) + " here; accepted: " + accepted + ".",
			Metadata: fault.Pairs("attribute", shown(name), "accepted", accepted),
		})
	}
}

func (d *decoder) invalid(name, value, accepted, message string) {
	d.violations = append(d.violations, fault.Violation{
		Reason:   fault.ReasonInvalidParameter,
		Message:  message,
		Metadata: fault.Pairs("attribute", name, "value", shown(value), "accepted", accepted),
	})
}

// values is the non-empty values of a parameter that are text.
func (d *decoder) values(name string) []string {
	var out []string
	for _, v := range d.params[name] {
		switch {
		case v == "":
		case !utf8.ValidString(v):
			d.invalid(name, v, "UTF-8", "A value of "+name+" is not valid UTF-8.")
		default:
			out = append(out, v)
		}
	}
	if len(out) > query.MaxValues {
		d.invalid(name, strconv.Itoa(len(out))+" values", "at most "+strconv.Itoa(query.MaxValues)+" values",
			"The parameter "+name+" has more than "+strconv.Itoa(query.MaxValues)+" values.")
		return nil
	}
	return out
}

func (d *decoder) single(name string) string {
	switch vs := d.values(name); len(vs) {
	case 0:
		return ""
	case 1:
		return vs[0]
	default:
		if slices.ContainsFunc(vs, func(v string) bool { return v != vs[0] }) {
			d.invalid(name, strings.Join(vs, " and "), "one value", "The parameter "+name+" is given more than once, with different values.")
		}
		return vs[0]
	}
}

// number reads a whole number from least to most; otherwise where it is not given or wrong.
func (d *decoder) number(name string, least, most, otherwise int) int {
	s := d.single(name)
	if s == "" {
		return otherwise
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < least || n > most || s[0] == '+' {
		accepted := strconv.Itoa(least) + " to " + strconv.Itoa(most)
		d.invalid(name, s, accepted, name+" must be a whole number from "+accepted+".")
		return otherwise
	}
	return n
}

func (d *decoder) bound(name string) query.Bound {
	s := d.single(name)
	if s == "" {
		return query.Bound{}
	}
	b, err := query.ParseBound(s)
	if err != nil {
		text := "The parameter " + name + " is no time: " + err.Error() + "."
		if strings.Contains(s, " ") {
			text += " A + in a URL is a space; write it %2B."
		}
		d.invalid(name, s, query.AcceptedBound, text)
		return query.Bound{}
	}
	return b
}

// shown cuts a value for a message, on a rune.
func shown(s string) string {
	const limit = 200
	s = strings.ToValidUTF8(s, "�")
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return string([]rune(s)[:limit-1]) + "…"
}

// quote sets apart what was sent, by other marks where it has the usual ones in it.
func quote(s string) string {
	if strings.Contains(s, `"`) {
		return "“" + shown(s) + "”"
	}
	return `"` + shown(s) + `"`
}
