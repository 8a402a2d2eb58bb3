package draw

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"oriel/server/query"
	"oriel/server/search/reference"
)

// Facets is the facet fields that conditions are drawn of.
func Facets() []string { return []string{"device", "person", "room", "tag"} }

// Where draws conditions on events. Each alone is one that the query language can say.
func (d *Draw) Where(events []*reference.Event) query.And {
	switch n := d.rng.IntN(100); {
	case n < 20: // what some event must have
		return query.And{d.leaf(events)}
	case n < 24 && len(events) > 0:
		return d.identity(events[d.rng.IntN(len(events))])
	}
	var out query.And
	for range []int{1, 1, 1, 1, 2, 2, 3}[d.rng.IntN(7)] {
		out = append(out, d.node(events, 3))
	}
	return out
}

// identity is an event's source and id together.
func (d *Draw) identity(e *reference.Event) query.And {
	source, id := e.Source, e.ID
	if d.chance(15) {
		source = d.of(d.from)
	}
	return query.And{
		query.Equal{Field: query.Field{Kind: query.Attribute, Name: "source"}, Value: source},
		query.Equal{Field: query.Field{Kind: query.Attribute, Name: "id"}, Value: id},
	}
}

func (d *Draw) node(events []*reference.Event, depth int) query.Node {
	n := d.rng.IntN(100)
	if depth == 0 || n < 62 {
		return d.leaf(events)
	}
	if n < 76 {
		return query.Not{Of: d.node(events, depth-1)}
	}
	var of []query.Node
	for range 2 + d.rng.IntN(2) {
		of = append(of, d.node(events, depth-1))
	}
	if n < 87 {
		return query.And(of)
	}
	return query.Or(of)
}

// leaf is a condition that some event fulfils, or nearly.
func (d *Draw) leaf(events []*reference.Event) query.Node {
	var e *reference.Event
	if len(events) > 0 {
		e = events[d.rng.IntN(len(events))]
	} else {
		e = &reference.Event{}
	}
	for {
		if n := d.try(e); n != nil {
			return n
		}
	}
}

// try may draw what cannot be said; then it answers nil.
func (d *Draw) try(e *reference.Event) query.Node {
	switch n := d.rng.IntN(100); {
	case n < 14:
		return d.identifying(e)
	case n < 34:
		return d.word(e)
	case n < 42:
		return d.prefix(e)
	case n < 47:
		return d.contains(query.Field{}, d.either(e.Values(), d.texts))
	case n < 59:
		return d.attribute(e)
	case n < 63:
		return d.severity(e)
	case n < 71:
		return d.facet(e)
	case n < 77:
		return d.extension(e)
	case n < 79:
		return d.trace(e.TraceID)
	default:
		return d.data(e)
	}
}

// either is one of a list, or of the second where the first is empty.
func (d *Draw) either(list, otherwise []string) string {
	if len(list) == 0 || d.chance(10) {
		list = otherwise
	}
	return d.of(list)
}

// sayable keeps conditions within what one query takes.
func sayable(s string) bool { return len(s) <= 700 && utf8.ValidString(s) }

func (d *Draw) word(e *reference.Event) query.Node {
	text := d.either(e.Values(), d.texts)
	switch n := d.rng.IntN(100); {
	case n < 40:
		text = d.part(text)
	case n < 55:
		text = d.near(text)
	case n < 65:
		text = d.of(numbers())
	case n < 70:
		text = d.fresh()
	}
	if !sayable(text) || len(reference.Leaves(text)) == 0 {
		return nil
	}
	return query.Word{Text: text}
}

// identifying is a word or several that few events have, as they stand in a value with digits.
func (d *Draw) identifying(e *reference.Event) query.Node {
	var values []string
	for _, v := range e.Values() {
		if strings.ContainsAny(v, "0123456789") && len(v) > 3 {
			values = append(values, v)
		}
	}
	if len(values) == 0 {
		return nil
	}
	text := d.of(values)
	if d.chance(30) {
		text = d.part(text)
	}
	if !sayable(text) || len(reference.Leaves(text)) == 0 {
		return nil
	}
	return query.Word{Text: text}
}

// part is a piece of a text.
func (d *Draw) part(s string) string {
	rs := []rune(s)
	from := d.rng.IntN(len(rs) + 1)
	until := from + d.rng.IntN(len(rs)-from+1)
	if d.chance(60) { // whole words
		for from > 0 && isWord(rs[from-1]) {
			from--
		}
		for until < len(rs) && isWord(rs[until]) {
			until++
		}
	}
	return string(rs[from:until])
}

func isWord(r rune) bool {
	return r >= utf8.RuneSelf || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
}

// prefix is the beginning of a word, or of the last of several.
func (d *Draw) prefix(e *reference.Event) query.Node {
	text := d.either(e.Values(), d.texts)
	if d.chance(70) {
		ls := reference.Leaves(text)
		if len(ls) == 0 {
			return nil
		}
		text = d.of(ls)
	}
	rs := []rune(text)
	if len(rs) == 0 {
		return nil
	}
	from := 0
	if len(rs) > 20 {
		from = d.rng.IntN(len(rs) - 10)
	}
	text = string(rs[from : from+1+d.rng.IntN(len(rs)-from)])
	if d.chance(20) {
		text = strings.ToUpper(text)
	}
	if len(reference.Leaves(text)) == 0 || !sayable(text) {
		return nil
	}
	return query.Prefix{Text: text}
}

func (d *Draw) contains(f query.Field, text string) query.Node {
	text = d.part(text)
	if d.chance(15) {
		text = d.near(text)
	}
	if len(reference.Leaves(text)) == 0 || !sayable(text) {
		return nil
	}
	return query.Contains{Field: f, Text: text}
}

// equal is a value of a field, exact; data alone tells text from what reads as a number.
func (d *Draw) equal(f query.Field, value string, text bool) query.Node {
	if d.chance(12) {
		value = d.near(value)
	}
	if value == "" && f.Kind != query.Data && f.Kind != query.Extension || !sayable(value) {
		return nil
	}
	if value == "" {
		text = true
	}
	return query.Equal{Field: f, Value: value, Text: text && (f.Kind == query.Data || f.Kind == query.Extension)}
}

// textual is a condition on a field of text.
func (d *Draw) textual(f query.Field, value string) query.Node {
	switch d.rng.IntN(10) {
	case 0:
		return query.Exists{Field: f}
	case 1, 2:
		rs := []rune(value)
		if len(rs) == 0 || !sayable(value) {
			return nil
		}
		return query.Prefix{Field: f, Text: string(rs[:1+d.rng.IntN(len(rs))])}
	case 3, 4:
		return d.contains(f, value)
	default:
		return d.equal(f, value, d.chance(50))
	}
}

func (d *Draw) attribute(e *reference.Event) query.Node {
	f := query.Field{Kind: query.Attribute}
	switch d.rng.IntN(8) {
	case 0, 1:
		f.Name = "type"
		return d.textual(f, d.either([]string{e.Type}, d.kinds))
	case 2, 3:
		f.Name = "source"
		return d.textual(f, d.either([]string{e.Source}, d.from))
	case 4:
		f.Name = "subject"
		return d.textual(f, d.either([]string{e.Subject}, d.about))
	case 5, 6:
		f.Name = "id"
		return d.textual(f, e.ID)
	default:
		f.Name = d.of([]string{"datacontenttype", "dataschema"})
		return d.textual(f, d.of([]string{e.DataContentType, e.DataSchema, "application/json", "text/"}))
	}
}

func (d *Draw) severity(e *reference.Event) query.Node {
	f, rank := query.Field{Kind: query.Severity}, d.of(reference.Ranks())
	if e.Severity > 0 && d.chance(50) {
		rank = reference.Ranks()[e.Severity-1]
	}
	switch d.rng.IntN(4) {
	case 0:
		return query.Exists{Field: f}
	case 1:
		return query.Equal{Field: f, Value: rank}
	default:
		return query.Compare{Field: f, Op: query.Op(d.rng.IntN(4)), Value: rank}
	}
}

func (d *Draw) facet(e *reference.Event) query.Node {
	f := query.Field{Kind: query.Facet, Name: d.of(Facets())}
	values := e.Facets[f.Name]
	if f.Name == "tag" {
		values = e.Tags
	}
	return d.textual(f, d.either(values, []string{"kitchen", "north", "room=x", "k", "device-1"}))
}

func (d *Draw) extension(e *reference.Event) query.Node {
	f, value := query.Field{Kind: query.Extension, Name: d.of([]string{"tenant", "x", "n", "flag", "severitynumber"})}, d.text()
	if n := len(e.Extensions); n > 0 && d.chance(85) {
		x := e.Extensions[d.rng.IntN(n)]
		f.Name, value = x.Name, x.Value
	}
	if d.chance(20) {
		return query.Compare{Field: f, Op: query.Op(d.rng.IntN(4)), Value: d.of(numbers())}
	}
	return d.textual(f, value)
}

// data is a condition on a value of the data that the event has, or nearly.
func (d *Draw) data(e *reference.Event) query.Node {
	f := query.Field{Kind: query.Data}
	values := e.Scalars()
	if len(values) == 0 {
		f.Name = reference.Step("", d.of(d.names))
		values = []reference.Scalar{{Path: f.Name, Text: d.text(), String: true}}
	}
	v := values[d.rng.IntN(len(values))]
	f.Name = d.path(v.Path)
	if len(f.Name) > 400 || !sayable(v.Text) {
		return nil
	}
	switch n := d.rng.IntN(100); {
	case n < 12:
		return query.Exists{Field: f}
	case n < 20 || v.Null && n < 60:
		return query.Null{Field: f}
	case n < 35 || v.Number && n < 60:
		value := d.of(numbers())
		if v.Number && d.chance(40) {
			value = v.Text
		}
		return query.Compare{Field: f, Op: query.Op(d.rng.IntN(4)), Value: value}
	case v.Number && n < 80:
		return query.Equal{Field: f, Value: d.respell(v.Text)}
	case v.Nesting || v.Null:
		return d.textual(f, d.text())
	default:
		return d.textual(f, v.Text)
	}
}

func (d *Draw) trace(id string) query.Node {
	f := query.Field{Kind: query.Trace}
	if id == "" {
		id = "4bf92f3577b34da6a3ce929d0e0e4736"
	}
	switch d.rng.IntN(4) {
	case 0:
		return query.Exists{Field: f}
	case 1:
		return query.Prefix{Field: f, Text: id[:1+d.rng.IntN(31)]}
	default:
		return query.Equal{Field: f, Value: id}
	}
}

// path turns some indexes into "any element", one into its neighbour, and drops some.
func (d *Draw) path(p string) string {
	var out strings.Builder
	for p != "" {
		open := strings.IndexByte(p, '[')
		if open < 0 || strings.ContainsRune(p, '"') { // brackets within quotes are names
			out.WriteString(p)
			break
		}
		end := open + strings.IndexByte(p[open:], ']')
		out.WriteString(p[:open])
		index, _ := strconv.Atoi(p[open+1 : end])
		switch n := d.rng.IntN(10); {
		case n < 6:
			out.WriteString("[*]")
		case n < 8:
			out.WriteString("[" + strconv.Itoa(index) + "]")
		case n < 9:
			out.WriteString("[" + strconv.Itoa(index+1) + "]")
		}
		p = p[end+1:]
	}
	return strings.TrimPrefix(out.String(), ".")
}

// respell writes a number in another way, of the same value while its bounds allow.
func (d *Draw) respell(s string) string {
	switch d.rng.IntN(5) {
	case 0:
		if !strings.ContainsAny(s, ".eE") {
			return s + ".0"
		}
	case 1:
		if !strings.ContainsAny(s, "eE") {
			return s + "e0"
		}
	case 2:
		if !strings.ContainsAny(s, ".eE") && s != "0" && s != "-0" {
			return s + "0e-1"
		}
	case 3:
		return strings.ToUpper(s)
	}
	return s
}
