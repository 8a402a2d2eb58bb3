package query

// written is a parameter named after a field whose values are those of the language.
type written struct {
	field   Field
	negated bool
	names   []string // its spellings
}

// written reads values as the language writes them behind field: .
func (d *decoder) written(w written) []Node {
	var nodes []Node
	var all []string
	for _, name := range w.names {
		vs := d.Values(name)
		all = append(all, vs...)
		for _, v := range vs {
			n, accepted := writtenValue(w.field, v)
			if accepted != "" {
				d.Invalid(Shown(name), v, accepted, Quote(v)+" is no value of "+Shown(name)+".")
				continue
			}
			nodes = append(nodes, n)
		}
	}
	if len(w.names) > 1 && d.few(w.names[0], all) == nil {
		return nil
	}
	return group(nodes, w.negated)
}

// writtenValue reads a whole parameter as one value: quoted, or bare, spaces and marks being its own.
func writtenValue(f Field, v string) (n Node, accepted string) {
	if v[0] != '"' {
		return bareCondition(f, v)
	}
	p := parser{q: v}
	text, ok := p.quoted()
	if !ok {
		return nil, `a closing quote; within quotes write \" for one`
	}
	star := p.star()
	if !p.end() {
		return nil, `nothing but a * behind the closing quote; within quotes write \" for one`
	}
	return textCondition(f, text, star)
}
