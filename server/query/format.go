package query

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"oriel/server/lexicon"
)

// Format writes a condition in the language; Parse of it is the same condition, normalised.
func Format(n Node) string {
	var w writer
	w.node(Normalise(n), loose)
	return string(w.b)
}

// Canonical is one text for all spellings of the conditions: the key of caches and page tokens.
func Canonical(where And) string { return Format(where) }

// How tightly what stands around a condition binds.
type binding int

const (
	loose   binding = iota // nothing, or parentheses
	ored                   // an alternative
	anded                  // a part of a conjunction
	negated                // behind a minus
)

type writer struct{ b []byte }

func (w *writer) put(s string) { w.b = append(w.b, s...) }

func (w *writer) node(n Node, around binding) {
	switch n := n.(type) {
	case And:
		if len(n) == 0 {
			w.put("*")
			return
		}
		w.parts(n, " ", anded, around == negated)
	case Or:
		if len(n) == 0 {
			w.put("-*")
			return
		}
		w.parts(n, " OR ", ored, around >= anded)
	case Not:
		w.put("-")
		w.node(n.Of, negated)
	case Word:
		w.put(word(n.Text))
	case Prefix:
		if n.Field.Kind == AnyField {
			w.put(prefix(n.Text, word))
			return
		}
		w.leaf(n)
	case Contains:
		if n.Field.Kind != AnyField {
			w.put(n.Field.String())
		}
		w.put("~")
		w.put(quoted(n.Text))
	case Compare:
		w.put(n.Field.String())
		w.put(n.Op.String())
		w.put(n.Value)
	default:
		w.leaf(n)
	}
}

// leaf is a condition that reads field:value.
func (w *writer) leaf(n Node) {
	f, value, _ := valueOf(n)
	w.put(f.String())
	w.put(":")
	w.put(value)
}

// parts joins conditions; neighbours of one field are written as one, field:(a OR b).
func (w *writer) parts(ns []Node, by string, inner binding, parentheses bool) {
	parentheses = parentheses && sameField(ns) < len(ns) // field:(a OR b) has its own
	if parentheses {
		w.put("(")
	}
	for i := 0; i < len(ns); {
		if i > 0 {
			w.put(by)
		}
		n := sameField(ns[i:])
		if n < 2 {
			w.node(ns[i], inner)
			i++
			continue
		}
		for j, c := range ns[i : i+n] {
			f, value, _ := valueOf(c)
			if j == 0 {
				w.put(f.String())
				w.put(":(")
			} else {
				w.put(by)
			}
			w.put(value)
		}
		w.put(")")
		i += n
	}
	if parentheses {
		w.put(")")
	}
}

// sameField is how many conditions at the beginning say field:value of one field.
func sameField(ns []Node) int {
	first, _, ok := valueOf(ns[0])
	if !ok {
		return 0
	}
	n := 1
	for n < len(ns) {
		if f, _, ok := valueOf(ns[n]); !ok || f != first {
			break
		}
		n++
	}
	return n
}

// valueOf is the field and the value of a condition that reads field:value.
func valueOf(n Node) (f Field, value string, ok bool) {
	switch n := n.(type) {
	case Equal:
		return n.Field, equalValue(n), true
	case Exists:
		return n.Field, "*", true
	case Null:
		return n.Field, "null", true
	case Prefix:
		return n.Field, prefix(n.Text, plainValue), n.Field.Kind != AnyField
	default:
		return Field{}, "", false
	}
}

func equalValue(n Equal) string {
	if n.Text && ambiguous(n.Value) {
		return quoted(n.Value)
	}
	return plainValue(n.Value)
}

func prefix(text string, plain func(string) string) string { return plain(text) + "*" }

// word is text as a word, in quotes unless it is a word without them whatever facet fields there are.
func word(text string) string {
	if text == "" || strings.IndexByte("-:=", text[0]) >= 0 || operator(text) || habitual(text) || strings.ContainsAny(text, special+"<>") || !legible(text) {
		return quoted(text)
	}
	p := parser{q: text}
	name, op, _ := p.nameAndOperator()
	if op == "" {
		return text
	}
	if _, err := FieldOf(Schema{}, name); !errors.Is(err, errUnknownField) {
		return quoted(text) // a field, or what is meant as one and is not written as one
	}
	after := text[len(name)+len(op):]
	if !fieldName.MatchString(name) || op == ":" && after != "" && scheme(name, after) {
		return text
	}
	return quoted(text)
}

// plainValue is text as the value of a field, in quotes unless it is that without them, inside parentheses
// and outside.
func plainValue(text string) string {
	switch {
	case text == "", text == "null", operator(text), strings.ContainsAny(text, special), !legible(text),
		habitual(text), strings.IndexByte("<>=[{", text[0]) >= 0, text[0] == '-' && !lexicon.IsNumber(text):
		return quoted(text)
	}
	return text
}

// special are the characters that end a word or mean something within it.
const special = `"()*`

func operator(s string) bool { return s == "AND" || s == "OR" || s == "NOT" }

func legible(s string) bool {
	for _, r := range s {
		if unicode.IsSpace(r) || unicode.IsControl(r) || r == utf8.RuneError {
			return false
		}
	}
	return true
}

// quoted is text in double quotes. A backslash that stands before neither a quote nor a backslash is itself.
func quoted(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(text) {
		c := text[i]
		if c == '"' || c == '\\' && (i+1 == len(text) || text[i+1] == '"' || text[i+1] == '\\') {
			b.WriteByte('\\')
		}
		b.WriteByte(c)
	}
	b.WriteByte('"')
	return b.String()
}

// String is the operator as the language writes it.
func (o Op) String() string {
	switch o {
	case Less:
		return "<"
	case AtMost:
		return "<="
	case AtLeast:
		return ">="
	default:
		return ">"
	}
}
