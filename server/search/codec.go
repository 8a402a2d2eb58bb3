package search

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"oriel/server/cloudevents"
	"oriel/server/fault"
)

// Limits of a request, named in every refusal.
const (
	DefaultPageSize = 100
	MaxPageSize     = 500
	MaxValues       = 100  // values of one parameter
	MaxQuery        = 4096 // bytes of one q
	MaxWords        = 64   // words of all q together
)

// Request is a decoded GET /v1/events.
type Request struct {
	Filter              Filter
	PageSize            int
	Snapshot, PageToken string // raw; "" is not given
}

const acceptedSeverity = "trace, debug, info, notice, warning (or warn), error, critical, emergency"

// What the parameters of each request are called, for whoever asks for another. Those that filter have a
// negated twin.
const (
	parametersOfList     = "type, source, subject, severity, q, each also negated (type!=x), from, until, v, snapshot, pageSize, pageToken"
	parametersOfSnapshot = "from, until, each at most once"
	parametersOfEvent    = "time, at most once"
)

func ofList(parameter string) bool {
	base, negated := strings.CutSuffix(parameter, "!")
	switch base {
	case "type", "source", "subject", "severity", "q":
		return true
	case "from", "until", "v", "snapshot", "pageSize", "pageToken":
		return !negated
	default:
		return false
	}
}

func ofSnapshot(parameter string) bool { return parameter == "from" || parameter == "until" }

func ofEvent(parameter string) bool { return parameter == "time" }

// decoder collects everything that is wrong, in the order of parameters.
type decoder struct {
	params     url.Values
	words      int
	violations []fault.Violation
}

// Decode reads the parameters of a search. It is total: whatever is wrong is reported together, as one
// fault.InvalidArgument. A parameter that is present but empty is absent.
func Decode(params url.Values) (*Request, error) {
	req, violations := decode(params)
	if len(violations) > 0 {
		return nil, fault.Many(fault.InvalidArgument, violations)
	}
	return req, nil
}

func decode(params url.Values) (*Request, []fault.Violation) {
	d := &decoder{params: params}
	d.unknown(ofList, parametersOfList)
	req := &Request{PageSize: DefaultPageSize}
	var where And
	for f := range fields {
		where = append(where, d.equals(f, f.String(), false)...)
		where = append(where, d.equals(f, f.String()+"!", true)...)
	}
	where = append(where, d.severity("severity", false)...)
	where = append(where, d.severity("severity!", true)...)
	where = append(where, d.query("q", false)...)
	where = append(where, d.query("q!", true)...)
	req.Filter = Filter{Where: where, From: d.bound("from"), Until: d.bound("until")}
	if v := d.single("v"); v != "" && v != "1" {
		d.invalid("v", v, "1", "The parameter v is the version of the filter parameters, and only 1 exists.")
	}
	if req.Snapshot = d.single("snapshot"); req.Snapshot != "" {
		if _, err := parseSnapshot(req.Snapshot); err != nil {
			d.invalid("snapshot", req.Snapshot, "the snapshot of GET /v1/events:snapshot or of a page", "The snapshot is no token of ours.")
		}
	}
	if req.PageToken = d.single("pageToken"); req.PageToken != "" {
		if _, err := parsePageToken(req.PageToken); err != nil {
			d.violations = append(d.violations, invalidPageToken("The page token is no token of ours."))
		}
	}
	if s := d.single("pageSize"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 || n > MaxPageSize || s[0] == '+' {
			d.invalid("pageSize", s, "1 to 500", "pageSize must be a whole number from 1 to 500.")
		} else {
			req.PageSize = n
		}
	}
	return req, d.violations
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
	if len(out) > MaxValues {
		d.invalid(name, strconv.Itoa(len(out))+" values", "at most "+strconv.Itoa(MaxValues)+" values",
			"The parameter "+name+" has more than "+strconv.Itoa(MaxValues)+" values.")
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

func (d *decoder) bound(name string) Bound {
	s := d.single(name)
	if s == "" {
		return Bound{}
	}
	b, err := ParseBound(s)
	if err != nil {
		text := "The parameter " + name + " is no time: " + err.Error() + "."
		if strings.Contains(s, " ") {
			text += " A + in a URL is a space; write it %2B."
		}
		d.invalid(name, s, AcceptedBound, text)
		return Bound{}
	}
	return b
}

func (d *decoder) equals(f Field, name string, negated bool) []Node {
	vs := d.values(name)
	nodes := make(Or, 0, len(vs))
	for _, v := range vs {
		switch {
		case strings.ContainsRune(v, 0):
			d.invalid(name, v, "text without control characters", "A value of "+name+" holds a NUL, which no event has.")
		case len(v) > cloudevents.MaxAttribute:
			d.invalid(name, v, "at most 1024 bytes", "A value of "+name+" is longer than 1024 bytes, which no event has.")
		default:
			nodes = append(nodes, Equal{f, v})
		}
	}
	return group(nodes, negated)
}

func (d *decoder) severity(name string, negated bool) []Node {
	lowest := int16(0)
	for _, v := range d.values(name) {
		rank, ok := severityRank(v)
		if !ok {
			d.invalid(name, v, acceptedSeverity, quote(v)+" is no severity.")
			continue
		}
		if lowest == 0 || rank < lowest {
			lowest = rank
		}
	}
	if lowest == 0 {
		return nil
	}
	return group(Or{AtLeast{lowest}}, negated)
}

// query reads the words of q: several q are alternatives. A single one spreads its words into the
// conjunction; negated, it stays together: not all of its words.
func (d *decoder) query(name string, negated bool) []Node {
	var alternatives Or
	for _, v := range d.values(name) {
		if len(v) > MaxQuery {
			d.invalid(name, v, "at most 4096 bytes", "The query is longer than 4096 bytes.")
			continue
		}
		ws, violations := parseWords(name, v)
		d.violations = append(d.violations, violations...)
		if d.words += len(ws); d.words > MaxWords {
			d.invalid(name, v, "at most 64 words", "The query has more than 64 words.")
			return nil
		}
		if len(violations) == 0 {
			alternatives = append(alternatives, conjunction(ws))
		}
	}
	nodes := group(alternatives, negated)
	if len(nodes) == 1 {
		if and, ok := nodes[0].(And); ok {
			return and
		}
	}
	return nodes
}

func conjunction(ws []string) Node {
	if len(ws) == 1 {
		return Word{ws[0]}
	}
	and := make(And, len(ws))
	for i, w := range ws {
		and[i] = Word{w}
	}
	return and
}

// group makes one node of alternatives: sorted, distinct, alone where there is one.
func group(nodes Or, negated bool) []Node {
	if len(nodes) == 0 {
		return nil
	}
	slices.SortFunc(nodes, func(a, b Node) int { return strings.Compare(spelling(a), spelling(b)) })
	nodes = slices.CompactFunc(nodes, func(a, b Node) bool { return spelling(a) == spelling(b) })
	var n Node = nodes
	if len(nodes) == 1 {
		n = nodes[0]
	}
	if negated {
		n = Not{n}
	}
	return []Node{n}
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
