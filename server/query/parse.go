package query

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"oriel/server/fault"
	"oriel/server/lexicon"
)

// Parse reads one query of the language. Errors carry the character position, from 1, in the metadata
// "position" and what is accepted in "accepted"; name is the parameter that is blamed.
func Parse(s Schema, name, q string) (Node, []fault.Violation) {
	n, _, violations := parse(s, name, q)
	return n, violations
}

// parse is Parse, and says how many leaves the query has.
func parse(s Schema, name, q string) (Node, int, []fault.Violation) {
	p := parser{schema: s, name: name, q: q}
	if len(q) > MaxQuery {
		p.violations = append(p.violations, tooLong(name, q))
		return nil, 0, p.violations
	}
	var parts And
	for {
		n, _ := p.alternatives(nil)
		if n != nil {
			parts = append(parts, n)
		}
		if p.end() {
			break
		}
		p.wrong(p.at, 1, "A closing parenthesis that nothing opened", `in quotes it is text: ")"`)
		p.at++
	}
	if len(parts) == 0 && len(p.violations) == 0 {
		p.violations = append(p.violations, fault.Violation{
			Reason:   fault.ReasonEmptyQuery,
			Message:  "There is nothing to look for in " + Quote(q) + ": it has no letters and no digits.",
			Metadata: fault.Pairs("attribute", name, "value", Shown(q), "accepted", acceptedQuery),
		})
	}
	if p.leaves > MaxConditions {
		p.violations = append(p.violations, tooMany(name, q))
	}
	if len(p.violations) > 0 {
		return nil, p.leaves, p.violations
	}
	return Normalise(parts), p.leaves, nil
}

const acceptedQuery = `words, "phrases", prefix*, field:value, AND OR NOT and parentheses`

type parser struct {
	schema     Schema
	name, q    string
	at         int // the next byte
	depth      int
	leaves     int
	gaveUp     bool // what follows is too deep and was not read
	mending    bool // what is read would mend a mistake, so that its own are not mended
	violations []fault.Violation
}

// alternatives reads parts joined by OR, up to a closing parenthesis or the end; within field:( ) scope is
// the field. nil is nothing to look for: words without letters and digits. any says whether there was
// something to read.
func (p *parser) alternatives(scope *Field) (n Node, read bool) {
	var out Or
	last := -1 // the OR that waits for what follows
	for {
		part, some := p.conjunction(scope)
		at, more := p.operator("OR")
		switch {
		case some:
			read, last = true, -1
			if part != nil {
				out = append(out, part)
			}
		case more:
			p.lonely(at, "OR")
			last = -1
		case last >= 0:
			p.lonely(last, "OR")
		}
		if !more {
			break
		}
		if some {
			last = at
		}
		read = true
	}
	switch len(out) {
	case 0:
		return nil, read
	case 1:
		return out[0], read
	}
	return out, read
}

func (p *parser) conjunction(scope *Field) (n Node, read bool) {
	var out And
	last := -1 // the AND that waits for what follows
	for {
		p.space()
		if p.closing() || p.peekOperator("OR") {
			break
		}
		if at, ok := p.operator("AND"); ok {
			if !read || last >= 0 {
				p.lonely(at, "AND")
				at = -1
			}
			read, last = true, at
			continue
		}
		read, last = true, -1
		if part := p.negation(scope); part != nil {
			out = append(out, part)
		}
	}
	if last >= 0 {
		p.lonely(last, "AND")
	}
	switch len(out) {
	case 0:
		return nil, read
	case 1:
		return out[0], read
	}
	return out, read
}

// negation reads one condition with what negates it.
func (p *parser) negation(scope *Field) Node {
	negative, not := false, -1
	for {
		p.space()
		if at, ok := p.operator("NOT"); ok {
			negative, not = !negative, at
			continue
		}
		if not >= 0 && (p.closing() || p.peekOperator("AND") || p.peekOperator("OR")) {
			p.lonely(not, "NOT")
			return nil
		}
		if !p.minus(scope) {
			break
		}
		negative, not = !negative, -1
		p.at++
		if p.peekOperator("AND") || p.peekOperator("OR") || p.peekOperator("NOT") {
			break // -OR is the word, negated
		}
	}
	n := p.condition(scope)
	if n == nil || !negative {
		return n
	}
	return Not{n}
}

// minus says whether a minus that negates stands here. Among the values of a field, one before a digit is
// the number's.
func (p *parser) minus(scope *Field) bool {
	rest := p.q[p.at:]
	if len(rest) < 2 || rest[0] != '-' || rest[1] == ')' {
		return false
	}
	r, _ := utf8.DecodeRuneInString(rest[1:])
	return !unicode.IsSpace(r) && (scope == nil || rest[1] < '0' || rest[1] > '9')
}

// condition reads a group, a phrase, a value of the scope, or a word or field.
func (p *parser) condition(scope *Field) Node {
	begin := p.at
	if p.habit(scope) {
		return nil
	}
	switch c := p.q[p.at]; {
	case c == '(':
		return p.group(scope)
	case c == '"':
		text, ok := p.quoted()
		if !ok {
			return nil
		}
		star := p.star()
		if !p.apart(begin) {
			return nil
		}
		p.leaves++
		switch {
		case scope != nil:
			return p.textValue(*scope, text, star, begin)
		case star:
			return p.prefixed(text, begin)
		}
		return worded(text)
	case scope != nil:
		return p.bareValue(*scope, begin)
	case c == '~' && strings.HasPrefix(p.q[p.at:], `~"`):
		p.at++
		return p.containing(Field{}, begin)
	}
	if n, ok := p.field(); ok {
		return n
	}
	return p.word()
}

// group reads what stands in parentheses.
func (p *parser) group(scope *Field) Node {
	begin := p.at
	if p.depth++; p.depth > MaxDepth {
		p.wrong(begin, 1, "This parenthesis is too deep", "at most 32 levels of parentheses")
		p.at, p.gaveUp = len(p.q), true
		return nil
	}
	p.at++
	n, read := p.alternatives(scope)
	p.depth--
	switch {
	case p.end():
		if !p.gaveUp {
			p.wrong(begin, 1, "A parenthesis that is not closed", `a closing parenthesis; in quotes it is text: "("`)
		}
	case !read:
		p.at++
		p.wrong(begin, p.at-begin, "Parentheses with nothing in them", `something between them; in quotes they are text: "()"`)
	default:
		p.at++
	}
	return n
}

// word reads what is no field: a word, a prefix, or everything.
func (p *parser) word() Node {
	begin := p.at
	chunk := p.chunk()
	if i := strings.IndexAny(chunk, "<>"); i >= 0 {
		p.wrong(begin+i, 1, "A comparison needs a field before it", "a field and a number, such as data.amount>=100; in quotes it is text: "+quoted(chunk))
		return nil
	}
	if !p.apart(begin) {
		return nil
	}
	p.leaves++
	if chunk == "*" {
		return And{}
	}
	text, star := strings.CutSuffix(chunk, "*")
	if i := strings.IndexByte(text, '*'); i >= 0 {
		p.wrong(begin+i, 1, "A * stands at the end of a word only", "a prefix such as pre*; ~\"part\" finds a part anywhere; in quotes it is text: "+quoted(chunk))
		return nil
	}
	if star {
		return p.prefixed(text, begin)
	}
	return worded(text)
}

// worded is the condition of a word or phrase; nil of one without letters and digits. Emptiness is a matter
// of folding, not of the hash key.
func worded(text string) Node {
	if lexicon.Compile(lexicon.Key{}, text).Empty {
		return nil
	}
	return Word{text}
}

func (p *parser) prefixed(text string, begin int) Node {
	if len(lexicon.CompileBeginning(text).Leaves) == 0 {
		p.wrong(begin, p.at-begin, "Nothing stands before the *", "letters or digits before it, such as pre*")
		return nil
	}
	return Prefix{Text: text}
}

// fieldName is what a chunk must look like before an operator to be read as a field that there is not.
var fieldName = regexp.MustCompile(`^[\p{L}_][\p{L}\p{N}_.\-\[\]]*$`)

// hexGroups is a MAC or IPv6 address.
var hexGroups = regexp.MustCompile(`^[0-9A-Fa-f]{0,4}(:[0-9A-Fa-f]{0,4}){2,}$`)

// plainWord says whether name:after is a word though name looks like a field: a URL, std::vector, C:\logs,
// an address, a URI, host:port. A number alone makes no port of status:500: the name must look like a host's.
func plainWord(name, after string) bool {
	switch {
	case strings.HasPrefix(after, "//"), after[0] == ':', after[0] == '\\', hexGroups.MatchString(name + ":" + after):
		return true
	case strings.Trim(after, "0123456789") == "":
		return strings.EqualFold(name, "localhost") || strings.ContainsAny(name, ".-")
	}
	return scheme(name, after)
}

// scheme says whether name:after is a URI of a scheme that no facet field is called like.
func scheme(name, after string) bool {
	switch strings.ToLower(name) {
	case "http", "https":
		return strings.HasPrefix(after, "//")
	case "urn", "mailto", "tel", "arn":
		return true
	default:
		return false
	}
}
