package query

import (
	"cmp"
	"encoding/hex"
	"errors"
	"strings"
	"unicode"

	"oriel/server/fault"
	"oriel/server/lexicon"
)

const (
	acceptedSeverity = "trace, debug, info, notice, warning (or warn), error, critical, emergency"
	acceptedTrace    = "32 hexadecimal digits, or the first of them and a *"
	acceptedValue    = `a value right behind it, in quotes where it has spaces or marks: field:value, field:"a value", field:pre*, field:* for any, field:(a OR b), and of the data field:null`
	acceptedCompared = "severity, ext.<name> and data.<path> are compared; time by from and until"
	acceptedNumber   = "a number such as 100, -1.5 or 1e3"
)

// field reads a condition on a field, if one stands here; else nothing is read.
func (p *parser) field() (Node, bool) {
	begin := p.at
	name, op, value := p.nameAndOperator()
	if op == "" {
		return nil, false
	}
	f, err := FieldOf(p.schema, name)
	if err != nil {
		if errors.Is(err, errUnknownField) && p.isWord(name, op) {
			return nil, false
		}
		p.at = value
		p.unknown(begin, name, err)
		p.skipValue(op)
		return nil, true
	}
	p.at = value
	switch op {
	case `~`:
		return p.containing(f, begin), true
	case "<", "<=", ">", ">=":
		return p.comparison(f, op, begin), true
	}
	n := p.value(f, begin)
	if n != nil && op == "!=" {
		n = Not{n}
	}
	return n, true
}

// nameAndOperator looks at what may be a field, its operator, and where its value begins; op is "" where no
// operator follows. Comparisons may have spaces around them: no query has < or > as a word.
func (p *parser) nameAndOperator() (name, op string, value int) {
	rest := p.q[p.at:]
	name = rest[:chunkEnd(rest)]
	if path, ok := strings.CutPrefix(rest, "data"); ok && path != "" && (path[0] == '.' || path[0] == '[') {
		from := len("data")
		if path[0] == '.' {
			from++
		}
		_, n := lexicon.ScanPath(rest[from:])
		if op := operatorAt(rest[from+n:]); op != "" {
			return rest[:from+n], op, p.behind(from+n, op)
		}
		if from+n > len(name) { // it has quotes
			name = rest[:from+n]
		}
	}
	for i := range chunkEnd(rest) {
		if op := operatorAt(rest[i:]); op != "" {
			return rest[:i], op, p.behind(i, op)
		}
	}
	after := strings.TrimLeftFunc(rest[len(name):], unicode.IsSpace)
	if op := operatorAt(after); compares(op) && len(after) < len(rest)-len(name) && p.comparable(name) {
		return name, op, p.behind(len(rest)-len(after), op)
	}
	return "", "", 0
}

// behind is where the value begins of an operator that stands so far from here.
func (p *parser) behind(far int, op string) int {
	value := p.at + far + len(op)
	if !compares(op) {
		return value
	}
	return len(p.q) - len(strings.TrimLeftFunc(p.q[value:], unicode.IsSpace))
}

func compares(op string) bool {
	return op != "" && strings.Trim(op, "<>=") == "" && strings.Trim(op, "=") != ""
}

// comparable says whether what stands before a space and a comparison is a field, or may have been meant as one.
func (p *parser) comparable(name string) bool {
	_, err := FieldOf(p.schema, name)
	return err == nil || fieldName.MatchString(name)
}

func operatorAt(s string) string {
	for _, op := range []string{":", "=", "!=", "<=", ">=", "<", ">"} {
		if strings.HasPrefix(s, op) {
			return op
		}
	}
	if strings.HasPrefix(s, "~") {
		return "~"
	}
	return ""
}

// isWord says whether a chunk with an operator in it, but no field before that, is a word all the same.
func (p *parser) isWord(name, op string) bool {
	if !fieldName.MatchString(name) {
		return true // 12:30, /a:b, 1=1; marks within are for the word to refuse
	}
	after := p.q[p.at+len(name)+len(op):]
	quotedOrGroup := after != "" && (after[0] == '"' || after[0] == '(')
	after = after[:chunkEnd(after)]
	switch op {
	case ":":
		return !quotedOrGroup && (after == "" || plainWord(name, after))
	case "=", "!=":
		return !quotedOrGroup && strings.Trim(after, "=") == "" // base64's padding
	case "~":
		return !quotedOrGroup // backup~1
	default:
		return false
	}
}

func (p *parser) unknown(begin int, name string, err error) {
	near := suggestions(p.schema, name)
	accepted := `the fields type, source, subject, id, datacontenttype, dataschema, severity, trace, ` +
		strings.Join(append(append([]string{}, p.schema.Facets...), "ext.<name>, data.<path>"), ", ")
	what := "There is no field " + Quote(name)
	if !errors.Is(err, errUnknownField) {
		accepted, what, near = err.Error(), Quote(name)+" is no field", nil
		if _, err := FieldOf(p.schema, strings.ToLower(name)); err == nil {
			near = []string{strings.ToLower(name)}
		}
	}
	what += meant(near)
	whole := p.q[begin : p.at+chunkEnd(p.q[p.at:])]
	accepted += "; in quotes it is text: " + Shown(quoted(whole))
	p.violation(fault.ReasonUnknownField, begin, len(name), what, accepted, "suggestions", strings.Join(near, ", "))
}

// meant says what may have been meant: fields that there are, and how a member or an extension is written, of which
// nobody knows here whether there is any.
func meant(near []string) string {
	var known, others []string
	for _, name := range near {
		switch {
		case strings.HasPrefix(name, "data."):
			others = append(others, "a member of the data is written "+name)
		case strings.HasPrefix(name, "ext."):
			others = append(others, "an extension "+name)
		default:
			known = append(known, name)
		}
	}
	out := ""
	if len(known) > 0 {
		out = ", but " + strings.Join(known, ", ")
	}
	if len(others) > 0 {
		out += "; " + strings.Join(others, ", ")
	}
	return out
}

// skipValue leaves out what belongs to a field that is none.
func (p *parser) skipValue(op string) {
	before, leaves := len(p.violations), p.leaves
	if f := (Field{Kind: Data}); op == "~" {
		p.containing(f, p.at)
	} else {
		p.value(f, p.at)
	}
	p.violations, p.leaves = p.violations[:before], leaves
}

// value reads what follows field: .
func (p *parser) value(f Field, begin int) Node {
	switch {
	case p.end():
	case p.q[p.at] == '(':
		return p.group(&f)
	case p.q[p.at] == '"':
		return p.condition(&f)
	case chunkEnd(p.q[p.at:]) > 0:
		if p.misquoted() || p.foreignOperator() {
			return nil
		}
		return p.bareValue(f, begin)
	}
	length, mend := p.joined(f, begin)
	p.mendable(begin, length, f.String()+" lacks a value", acceptedValue, mend)
	return nil
}

// joined is a field and its operator as they are to be written for the value behind a space, and what that stands
// for; "" where nothing there is a value.
func (p *parser) joined(f Field, begin int) (length int, mend string) {
	mend = p.q[begin:p.at]
	value := p.part(p.at)
	behind := parser{q: p.q, at: p.at}
	behind.space()
	inner := parser{schema: p.schema, q: value}
	name, op, _ := inner.nameAndOperator()
	_, err := FieldOf(p.schema, name)
	switch {
	case operator(value), op != "" && err == nil:
		return len(mend), ""
	case f.compared() && compares(operatorAt(value)):
		mend = strings.TrimRight(mend, ":=")
	}
	if p.mends(mend+value) == "" {
		return p.at - begin, ""
	}
	return behind.at - begin, mend
}

// bareValue reads a value without quotes.
func (p *parser) bareValue(f Field, begin int) Node {
	if p.ranged(f, begin) {
		return nil
	}
	from := p.at
	chunk := p.chunk()
	if !p.apart(from) {
		return nil
	}
	p.leaves++
	n, accepted := bareCondition(f, chunk)
	if accepted != "" {
		mend := strings.TrimRight(p.q[begin:from], ":=")
		switch {
		case begin == from, strings.HasSuffix(mend, "!"):
			mend = "" // one of several values, or what is not meant
		case f.compared() && compares(operatorAt(chunk)):
			mend += chunk
		case chunk[0] == '=':
			mend += ":" + strings.TrimLeft(chunk, "=")
		default:
			mend = ""
		}
		p.mendable(begin, p.at-begin, Quote(chunk)+" is no value of "+f.String(), accepted, p.mends(mend))
		return nil
	}
	return n
}

// textValue is a value in quotes.
func (p *parser) textValue(f Field, text string, star bool, begin int) Node {
	n, accepted := textCondition(f, text, star)
	if accepted != "" {
		p.wrong(begin, p.at-begin, Quote(text)+" is no value of "+f.String(), accepted)
		return nil
	}
	return n
}

// bareCondition is what a value without quotes says of a field, or what would be accepted.
func bareCondition(f Field, chunk string) (n Node, accepted string) {
	switch {
	case chunk == "*":
		return Exists{f}, ""
	case chunk == "null" && f.Kind == Data:
		return Null{f}, ""
	case chunk == "null":
		return nil, "only data has null; -" + f.String() + ":* finds events without the field, and in quotes it is text: " + f.String() + `:"null"`
	case chunk[0] == '=':
		return nil, "one : or = and the value right behind it, such as " + f.String() + ":" + cmp.Or(strings.TrimLeft(chunk, "="), "value") +
			"; in quotes it is text: " + Shown(quoted(chunk))
	case strings.IndexByte("<>", chunk[0]) >= 0:
		return nil, "a comparison stands right behind the field, such as data.amount>=100; in quotes it is text: " + Shown(quoted(chunk))
	}
	text, star := strings.CutSuffix(chunk, "*")
	if strings.Contains(text, "*") {
		return nil, "a * at the end only, such as " + f.String() + ":pre*; " + f.String() + `~"part" finds a part; in quotes it is text: ` + Shown(quoted(chunk))
	}
	if star {
		return textCondition(f, text, true)
	}
	return equalTo(f, text, false)
}

// textCondition is what a value in quotes says of a field, or the beginning of one.
func textCondition(f Field, text string, star bool) (n Node, accepted string) {
	switch {
	case !star:
		return equalTo(f, text, true)
	case text == "":
		return nil, "something before the *, or a * alone for any value"
	case f.Kind == Severity:
		return nil, acceptedSeverity
	case f.Kind == Trace:
		text = strings.ToLower(text)
		if len(text) > 32 || strings.Trim(text, "0123456789abcdef") != "" {
			return nil, acceptedTrace
		}
	}
	return Prefix{f, text}, ""
}

func equalTo(f Field, value string, text bool) (n Node, accepted string) {
	switch f.Kind {
	case Severity:
		rank, ok := SeverityRank(value)
		if !ok {
			return nil, acceptedSeverity
		}
		value = SeverityName(rank)
	case Trace:
		value = strings.ToLower(value)
		if _, err := hex.DecodeString(value); err != nil || len(value) != 32 {
			return nil, acceptedTrace
		}
	default:
	}
	return Equal{f, value, text}, ""
}

// comparison reads the number, or the severity, that follows an operator.
func (p *parser) comparison(f Field, op string, begin int) Node {
	from := p.at
	chunk := p.chunk()
	if !p.apart(from) {
		return nil
	}
	p.leaves++
	c := Compare{Field: f, Value: chunk}
	for _, o := range []Op{Less, AtMost, AtLeast, Greater} {
		if o.String() == op {
			c.Op = o
		}
	}
	accepted := ""
	switch f.Kind {
	case Severity:
		rank, ok := SeverityRank(chunk)
		if c.Value = SeverityName(rank); !ok {
			accepted = acceptedSeverity
		}
	case Data, Extension:
		if !lexicon.IsNumber(chunk) {
			accepted = acceptedNumber
		}
	default:
		accepted = acceptedCompared
	}
	if accepted != "" {
		p.wrong(begin, p.at-begin, Quote(p.q[begin:p.at])+" cannot be compared", accepted)
		return nil
	}
	return c
}

// containing reads the quoted part that follows ~.
func (p *parser) containing(f Field, begin int) Node {
	if !p.end() && p.misquoted() {
		return nil
	}
	from, ok := p.at, true
	var text string
	if !p.end() && p.q[p.at] == '"' {
		text, ok = p.quoted()
	} else {
		text = p.chunk()
	}
	if !ok || !p.apart(from) {
		return nil
	}
	p.leaves++
	var folder lexicon.Folder
	switch {
	case len(folder.AppendFolded(nil, []byte(text))) == 0:
		p.wrong(begin, p.at-begin, "There is no part to look for", `a part such as ~"part"`)
		return nil
	case f.Kind == Severity:
		p.wrong(begin, p.at-begin, "A severity has no parts", acceptedSeverity)
		return nil
	}
	return Contains{f, text}
}
