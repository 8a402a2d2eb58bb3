package query

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What other languages write, and what a stray space or a phone's keyboard makes of this one. Read as words it
// would mean something else, silently.

// negators are what is written for a minus.
const negators = "!–—−"

// curly are quotes that are none of the language.
const curly = "“”„‟"

// habit refuses what is written in the way of another language, if that stands here, and passes it. scope is
// as in condition.
func (p *parser) habit(scope *Field) bool {
	if p.misquoted() || p.foreignNegation() || p.foreignOperator() {
		return true
	}
	return scope == nil && p.spacedField()
}

// misquoted refuses quotes that typography has bent.
func (p *parser) misquoted() bool {
	begin := p.at
	rest := p.q[begin:]
	open := misquotedAt(rest[:chunkEnd(rest)])
	if open < 0 {
		return false
	}
	_, n := utf8.DecodeRuneInString(rest[open:])
	text := rest[open+n:]
	end, closing := strings.IndexAny(text, curly), 0
	if end >= 0 {
		_, closing = utf8.DecodeRuneInString(text[end:])
	} else if end = chunkEnd(text); strings.HasPrefix(text[end:], `"`) {
		closing = 1
	}
	p.at, text = begin+open+n+end+closing, text[:end]
	mend := quoted(text)
	if chunkEnd(p.q[p.at:]) > 0 {
		mend = "" // what follows would join it
	}
	p.mendable(begin+open, p.at-begin-open, "Quotes of typography are none of the language", "straight quotes: "+Shown(quoted(text)), mend)
	p.skipChunk()
	return true
}

// misquotedAt is where in a chunk such a quote opens, at its beginning or behind a mark that text in quotes may
// follow; -1 without one. Within and behind a word it is part of it: 5” is a length.
func misquotedAt(chunk string) int {
	before := ':'
	for i, r := range chunk {
		if strings.ContainsRune(curly, r) && strings.ContainsRune(":=~.<>-"+negators, before) {
			return i
		}
		before = r
	}
	return -1
}

// foreignNegation refuses another sign for the minus before something, and a minus with a space behind it.
func (p *parser) foreignNegation() bool {
	begin := p.at
	rest := p.q[begin:]
	signs := foreignSigns(rest)
	if signs == 0 {
		return false
	}
	what := strings.TrimLeft(p.part(begin+signs), "-")
	accepted := "-" + Shown(what) + " with a minus right before it, or NOT and a space; in quotes it is text: " + Shown(quoted(rest[:signs]))
	p.at += signs
	p.space()
	mend := "-"
	if p.q[p.at] == '-' {
		mend = "" // two would cancel each other
	}
	p.mendable(begin, p.at-begin, "Nothing is negated by "+Quote(rest[:signs])+" here", accepted, mend)
	return true
}

// foreignSigns is the length of the signs at the beginning that would be taken for a negation of what follows
// them: those of other languages before something, and a minus that stands alone before it.
func foreignSigns(s string) int {
	chunk := s[:chunkEnd(s)]
	signs := len(chunk) - len(strings.TrimLeft(chunk, negators))
	if chunk == "-" {
		signs = 1
	}
	if signs == 0 {
		return 0
	}
	next := s[signs:]
	if signs == len(chunk) {
		next = strings.TrimLeftFunc(next, unicode.IsSpace)
	}
	if next == "" || next[0] != '"' && next[0] != '(' && !meaningful(next[:chunkEnd(next)]) {
		return 0
	}
	return signs
}

// meaningful says whether something in a chunk can be looked for.
func meaningful(chunk string) bool {
	return strings.ContainsFunc(chunk, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) })
}

// part is the chunk or quotes at a byte, behind white space.
func (p *parser) part(at int) string {
	inner := parser{q: p.q, at: at}
	inner.space()
	at = inner.at
	for inner.chunk(); !inner.end() && inner.q[inner.at] == '"'; inner.chunk() {
		inner.quoted()
	}
	if !inner.end() && inner.q[inner.at] == '(' {
		return inner.q[at:inner.at] + "(…)"
	}
	return inner.q[at:inner.at]
}

// foreignOperator refuses && || and == that stand between words. Within a word they are part of it.
func (p *parser) foreignOperator() bool {
	chunk := p.q[p.at : p.at+chunkEnd(p.q[p.at:])]
	at, op := foreignOperatorIn(chunk)
	if op == "" {
		return false
	}
	accepted := map[string]string{
		"&&": "AND, or nothing between them: a b", "||": "OR in capitals: a OR b", "==": "one : or = right behind a field and no spaces, such as data.n:5",
	}[op]
	mend := map[string]string{"&&": "AND", "||": "OR"}[op]
	switch {
	case mend == "" || len(chunk) == len(op):
	case at == 0:
		mend += " "
	default:
		mend = " " + mend
	}
	p.mendable(p.at+at, len(op), op+" is no operator", accepted+"; in quotes it is text: "+Shown(quoted(chunk)), mend)
	p.at += len(chunk)
	return true
}

// foreignOperatorIn is the operator of another language that a chunk is, begins with or ends with.
func foreignOperatorIn(chunk string) (at int, op string) {
	if chunk == "==" {
		return 0, chunk
	}
	for _, op := range []string{"&&", "||"} {
		switch {
		case strings.HasPrefix(chunk, op):
			return 0, op
		case strings.HasSuffix(chunk, op):
			return len(chunk) - len(op), op
		}
	}
	return 0, ""
}

// spacedField refuses an operator that a space separates from its field.
func (p *parser) spacedField() bool {
	begin := p.at
	rest := p.q[begin:]
	name := rest[:chunkEnd(rest)]
	if path, ok := strings.CutPrefix(rest, "data"); ok && strings.HasSuffix(name, ".") {
		name = "data" + path[:max(0, pathEnd(path))]
	}
	f, err := FieldOf(p.schema, name)
	if err != nil {
		return false
	}
	spaces := strings.TrimLeftFunc(rest[len(name):], unicode.IsSpace)
	written := spaced.FindString(spaces)
	if len(spaces) == len(rest)-len(name) || written == "" {
		return false
	}
	op := written
	if op == "=>" || op == "=<" {
		op = op[1:] + "="
	}
	switch {
	case strings.Trim(op, ":=") == "":
		op = ":"
	case op != "!=" && !f.compared():
		return false
	}
	p.at = len(p.q) - len(spaces) + len(written)
	value, mend := p.part(p.at), name+op
	if !meaningful(value) && value != "*" && value != "(…)" {
		value, mend = "value", ""
	}
	if mend != "" && value != "(…)" {
		mend = strings.TrimSuffix(p.mends(name+op+value), value)
	}
	p.space()
	length := p.at - begin
	if !p.end() && p.q[p.at] != '"' {
		p.chunk()
	}
	p.mendable(begin, length, "A space between "+name+" and "+written, "no spaces: "+Shown(name+op+value)+"; in quotes it is text: "+Shown(quoted(name)), mend)
	return true
}

var spaced = regexp.MustCompile(`^(=>|=<|[:=]+|!=)`)

// ranged refuses the ranges of other languages as the value of a field.
func (p *parser) ranged(f Field, begin int) bool {
	m := interval.FindStringSubmatch(p.q[p.at:])
	if m == nil {
		return false
	}
	from := p.at
	p.at += len(m[0])
	accepted, mend := acceptedCompared, ""
	if f.compared() {
		var sides []string
		for _, side := range []struct{ op, value, open string }{{">", m[2], m[1]}, {"<", m[3], m[4]}} {
			if side.open == "[" || side.open == "]" {
				side.op += "="
			}
			if side.value != "*" {
				sides = append(sides, f.String()+side.op+side.value)
			}
		}
		mend = strings.Join(sides, " ")
		if accepted = Shown(mend); len(sides) == 0 {
			accepted, mend = f.String()+":*", f.String()+":*"
		}
		if before := strings.TrimRightFunc(p.q[:begin], unicode.IsSpace); len(sides) == 2 && (strings.HasSuffix(before, "-") || strings.HasSuffix(before, "NOT")) {
			mend = "(" + mend + ")"
		}
		if begin == from || strings.HasSuffix(p.q[begin:from], "!=") || chunkEnd(p.q[p.at:]) > 0 {
			mend = "" // one of several values, what is not meant, or more than a range
		}
	}
	p.mendable(begin, p.at-begin, "A range is written as two comparisons", accepted, p.mends(mend))
	p.skipChunk()
	return true
}

var interval = regexp.MustCompile(`^([\[{])\s*([^\s()"]+)\s+TO\s+([^\s()"\]}]+)\s*([\]}])`)

// skipChunk leaves out what belongs to the same mistake.
func (p *parser) skipChunk() { p.at += chunkEnd(p.q[p.at:]) }

// habitual says whether text would be refused as a word or a value without quotes, wherever it stands.
func habitual(text string) bool {
	_, op := foreignOperatorIn(text)
	return op != "" || misquotedAt(text) >= 0 || strings.IndexAny(text, negators) == 0
}
