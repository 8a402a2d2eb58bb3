package query

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"oriel/server/fault"
)

func (p *parser) space() {
	for p.at < len(p.q) {
		r, n := utf8.DecodeRuneInString(p.q[p.at:])
		if !unicode.IsSpace(r) {
			return
		}
		p.at += n
	}
}

func (p *parser) end() bool { return p.at >= len(p.q) }

// closing says whether a group or the query ends here.
func (p *parser) closing() bool { return p.end() || p.q[p.at] == ')' }

// chunk reads up to white space, a parenthesis or a quote.
func (p *parser) chunk() string {
	begin := p.at
	p.at += chunkEnd(p.q[p.at:])
	return p.q[begin:p.at]
}

func chunkEnd(s string) int {
	for i, r := range s {
		if r == '(' || r == ')' || r == '"' || unicode.IsSpace(r) {
			return i
		}
	}
	return len(s)
}

func (p *parser) peekOperator(name string) bool {
	rest := p.q[min(p.at, len(p.q)):]
	return strings.HasPrefix(rest, name) && chunkEnd(rest) == len(name)
}

// operator reads an operator, if it stands here, and says where it stood.
func (p *parser) operator(name string) (int, bool) {
	if !p.peekOperator(name) {
		return 0, false
	}
	at := p.at
	p.at += len(name)
	return at, true
}

// quoted reads text in quotes. Only \" and \\ are escapes: C:\logs needs none.
func (p *parser) quoted() (string, bool) {
	begin := p.at
	var b strings.Builder
	for i := begin + 1; i < len(p.q); i++ {
		switch c := p.q[i]; {
		case c == '"':
			p.at = i + 1
			return b.String(), true
		case c == '\\' && i+1 < len(p.q) && (p.q[i+1] == '"' || p.q[i+1] == '\\'):
			i++
			b.WriteByte(p.q[i])
		default:
			b.WriteByte(c)
		}
	}
	p.wrong(begin, len(p.q)-begin, "A quote that is not closed", `a closing quote; within quotes write \" for one`)
	p.at = len(p.q)
	return "", false
}

// star reads a * behind quotes.
func (p *parser) star() bool {
	if p.end() || p.q[p.at] != '*' {
		return false
	}
	p.at++
	return true
}

// apart refuses what follows a condition without a space: begin is where the condition began.
func (p *parser) apart(begin int) bool {
	if p.closing() || p.q[p.at] == '(' {
		return true
	}
	if r, _ := utf8.DecodeRuneInString(p.q[p.at:]); unicode.IsSpace(r) {
		return true
	}
	at := p.at
	for !p.end() && chunkEnd(p.q[p.at:]) != 0 || !p.end() && p.q[p.at] == '"' { // the rest belongs to the same mistake
		if p.q[p.at] == '"' {
			before := len(p.violations)
			p.quoted()
			p.violations = p.violations[:before]
			continue
		}
		p.chunk()
	}
	p.wrong(at, 1, "A quote within a word, or something that follows a quote without a space",
		"a space between them; or all of it as text: "+Shown(quoted(p.q[begin:p.at])))
	return false
}

// lonely is the violation of an operator without one of its sides.
func (p *parser) lonely(at int, name string) {
	sides := "something on either side"
	if name == "NOT" {
		sides = "something behind it"
	}
	p.wrong(at, len(name), name+" lacks a side", sides+`; in small letters it is a word, and in quotes: "`+name+`"`)
}

// maxViolations is how many mistakes of one query are told; who has made so many needs no more.
const maxViolations = 20

// wrong notes a mistake at a byte of the query; length is in bytes.
func (p *parser) wrong(at, length int, what, accepted string) {
	p.violation(fault.ReasonInvalidQuery, at, length, what, accepted)
}

// mendable is wrong, and says what may be written there instead so that it is right; "" is nothing.
func (p *parser) mendable(at, length int, what, accepted, mend string) {
	if mend == "" {
		p.wrong(at, length, what, accepted)
		return
	}
	p.violation(fault.ReasonInvalidQuery, at, length, what, accepted, "replacement", mend)
}

// mends is a condition if the language reads it, else "".
func (p *parser) mends(condition string) string {
	if p.mending || condition == "" || len(condition) > MaxQuery {
		return ""
	}
	inner := parser{schema: p.schema, q: condition, mending: true}
	inner.alternatives(nil)
	if !inner.end() || len(inner.violations) > 0 {
		return ""
	}
	return condition
}

func (p *parser) violation(reason string, at, length int, what, accepted string, more ...string) {
	if len(p.violations) >= maxViolations {
		return
	}
	at = min(at, len(p.q))
	part := p.q[at:min(at+length, len(p.q))]
	position := utf8.RuneCountInString(p.q[:at]) + 1
	p.violations = append(p.violations, fault.Violation{
		Reason: reason,
		Message: what + ", at character " + strconv.Itoa(position) + " of " + p.name + "; accepted: " +
			strings.TrimSuffix(accepted, ".") + ".",
		Metadata: fault.Pairs(append([]string{
			"attribute", p.name, "value", Shown(part), "position", strconv.Itoa(position),
			"length", strconv.Itoa(max(1, utf8.RuneCountInString(part))), "accepted", accepted,
		}, more...)...),
	})
}

func tooLong(name, q string) fault.Violation {
	return fault.Violation{
		Reason:   fault.ReasonInvalidParameter,
		Message:  "The query " + name + " is longer than 4096 bytes.",
		Metadata: fault.Pairs("attribute", name, "value", Shown(q), "limit", strconv.Itoa(MaxQuery), "accepted", "at most 4096 bytes"),
	}
}

func tooMany(name, q string) fault.Violation {
	return fault.Violation{
		Reason:   fault.ReasonInvalidParameter,
		Message:  "The query has more than 64 words and conditions.",
		Metadata: fault.Pairs("attribute", name, "value", Shown(q), "limit", strconv.Itoa(MaxConditions), "accepted", "at most 64 words and conditions"),
	}
}
