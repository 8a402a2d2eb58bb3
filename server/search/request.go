package search

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

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
	parametersOfSnapshot = "from, until, arrivedFrom, arrivedUntil, within, each at most once"
	parametersOfEvent    = "time, at most once"
)

func ofSnapshot(parameter string) bool {
	return slices.Contains([]string{"from", "until", "arrivedFrom", "arrivedUntil", "within"}, parameter)
}

func ofEvent(parameter string) bool { return parameter == "time" }

// request is what every search asks: a filter, of a snapshot where one is given.
type request struct {
	filter query.Filter
	frozen *view // of the snapshot; nil: as of now
	wrong  bool  // the filter could not be read
}

// decoder reads parameters and collects everything that is wrong.
type decoder struct{ query.Reader }

func newDecoder(params url.Values) *decoder { return &decoder{query.Reader{Params: params}} }

// err is everything that was wrong, as one error.
func (d *decoder) err() error {
	if len(d.Violations) == 0 {
		return nil
	}
	return fault.Many(fault.InvalidArgument, d.Violations)
}

// search reads a filter and the snapshot that it is asked of; own are the caller's further parameters, and
// any other parameter is refused.
func (s *Service) search(d *decoder, own ...string) request {
	own = append([]string{"snapshot"}, own...)
	filter, violations := query.Decode(s.schema, d.Params, func(name string) bool { return slices.Contains(own, name) }, strings.Join(own, ", "))
	d.Violations = append(d.Violations, violations...)
	r := request{filter: filter, wrong: len(violations) > 0}
	if r.frozen = d.snapshot("snapshot"); r.frozen == nil {
		return r
	}
	for _, name := range r.frozen.differs(d.bounds()) {
		d.Violations = append(d.Violations, fault.Violation{
			Reason:   fault.ReasonInvalidParameter,
			Message:  "The parameter " + name + " differs from the snapshot's, which has frozen the time range. Leave it out, or make another snapshot.",
			Metadata: fault.Pairs("attribute", name, "accepted", "what the snapshot was made with"),
		})
	}
	return r
}

// snapshot reads a snapshot's token; nil where none is given, or none of ours.
func (d *decoder) snapshot(name string) *view {
	token := d.Single(name)
	if token == "" {
		return nil
	}
	v, err := parseSnapshot(token)
	if err != nil {
		d.Invalid(name, token, "the snapshot of GET /v1/events:snapshot or of an answer", "The snapshot is no token of ours.")
		return nil
	}
	return v
}

// within reads the snapshot of which another shall be a part, and is the view of that part: of the same rows, and
// as old. It is nil where none is given. Bounds that f leaves out become those of the whole.
func (s *Service) within(d *decoder, f *query.Filter) *view {
	whole := d.snapshot("within")
	if whole == nil {
		return nil
	}
	if !f.From.Given() {
		f.From = query.Bound{At: whole.window.From}
	}
	if !f.Until.Given() {
		f.Until = query.Bound{At: whole.window.Until}
	}
	part := *whole
	part.asked[boundFrom], part.asked[boundUntil] = f.From, f.Until
	part.window, _ = query.ResolveWindow(f.From, f.Until, s.now()) // whether it is empty orderedIn says
	outside := func(name, message string) {
		d.Violations = append(d.Violations, fault.Violation{
			Reason: fault.ReasonInvalidParameter, Message: message,
			Metadata: fault.Pairs("attribute", name, "accepted", "a part of the snapshot's range"),
		})
	}
	if part.window.From.Micros < whole.window.From.Micros {
		outside("from", "The range begins before that of the snapshot within which it shall be.")
	}
	if end := whole.window.Until; end.Given && part.window.Until.Micros > end.Micros {
		outside("until", "The range ends after that of the snapshot within which it shall be.")
	}
	for _, name := range whole.differs(query.Filter{ArrivedFrom: f.ArrivedFrom, ArrivedUntil: f.ArrivedUntil}) {
		outside(name, "The parameter "+name+" differs from that of the snapshot within which the range shall be. Leave it out.")
	}
	return &part
}

// ordered reports that a range is empty, unless a bound of it could not be read.
func (s *Service) ordered(d *decoder) { s.orderedIn(d, d.bounds()) }

// orderedIn is ordered of bounds of which some are not the request's own.
func (s *Service) orderedIn(d *decoder, f query.Filter) {
	now := s.now()
	blamed := func(names ...string) bool {
		return slices.ContainsFunc(d.Violations, func(v fault.Violation) bool { return slices.Contains(names, v.Metadata["attribute"]) })
	}
	if w, err := query.ResolveWindow(f.From, f.Until, now); err != nil && !blamed("from", "until") {
		d.Violations = append(d.Violations, emptyRange("until", w.Until, err))
	}
	if f.ArrivedFrom.Given() && f.ArrivedUntil.Given() && !blamed("arrivedFrom", "arrivedUntil") {
		if w, err := query.ResolveWindow(f.ArrivedFrom, f.ArrivedUntil, now); err != nil {
			d.Violations = append(d.Violations, emptyRange("arrivedUntil", w.Until, err))
		}
	}
}

// bounds are those of the bounds that can be read, beside whatever else is wrong.
func (d *decoder) bounds() query.Filter {
	read := func(name string) query.Bound {
		b, err := query.ParseBound(d.Params.Get(name))
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
	for name := range d.Params {
		if !known(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		d.Violations = append(d.Violations, fault.Violation{
			Reason:   fault.ReasonUnknownParameter,
			Message:  "There is no parameter " + query.Quote(name) + " here; accepted: " + accepted + ".",
			Metadata: fault.Pairs("attribute", query.Shown(name), "accepted", accepted),
		})
	}
}

// number reads a whole number from least to most; otherwise where it is not given or wrong.
func (d *decoder) number(name string, least, most, otherwise int) int {
	s := d.Single(name)
	if s == "" {
		return otherwise
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < least || n > most || s[0] == '+' {
		accepted := strconv.Itoa(least) + " to " + strconv.Itoa(most)
		d.Invalid(name, s, accepted, name+" must be a whole number from "+accepted+".")
		return otherwise
	}
	return n
}
