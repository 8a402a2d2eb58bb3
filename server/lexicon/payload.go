package lexicon

import "bytes"

// The analyzer as the scanner's visitor: it keeps its place in the payload, notes paths and picks, and
// hands values to the splitter.

func (a *Analyzer) open(array bool) {
	f := frame{place: a.place, array: array}
	if array {
		a.note(KindArray)
		f.element = a.tree.child(a.place, step{element: true}, false)
		a.missed(f.element)
	} else {
		a.note(KindObject)
	}
	a.stack = append(a.stack, f)
	a.place = f.element
}

func (a *Analyzer) close() {
	a.stack = a.stack[:len(a.stack)-1]
	if n := len(a.stack); n > 0 {
		a.place = a.stack[n-1].element
	}
}

func (a *Analyzer) key(name []byte) {
	a.place = a.tree.child(a.stack[len(a.stack)-1].place, step{name: name}, false)
	a.missed(a.place)
}

// missed notes a listed path that the full tree does not hold.
func (a *Analyzer) missed(c cursor) {
	if c.node < 0 && c.vocab {
		a.unlisted = true
	}
}

func (a *Analyzer) text(v []byte) {
	if len(v) == 0 {
		a.note(KindString | KindEmptyString)
		a.pick(v)
		return
	}
	a.note(KindString)
	a.pick(v)
	if a.over {
		return
	}
	folded := a.value(v)
	if vocab := a.place.vocab && valueVocabulary(folded, a.split.leaves); vocab || a.withIdentifiers {
		a.payload(vocab, folded)
	}
}

func (a *Analyzer) number(raw []byte) {
	a.note(KindNumber)
	a.pick(raw)
	if a.over {
		return
	}
	a.numbers = canonical(a.numbers[:0], raw)
	vocab := numberVocabulary(a.numbers)
	h := a.hash(a.numbers)
	if !vocab {
		if a.withIdentifiers {
			a.identifier(uint64(h))
			a.payload(false, a.numbers)
		}
		return
	}
	a.spelled(h, a.numbers)
	a.payload(a.place.vocab, a.numbers)
}

func (a *Analyzer) truth(v bool) {
	text := "false"
	if v {
		text = "true"
	}
	a.note(KindBoolean)
	a.numbers = append(a.numbers[:0], text...)
	a.pick(a.numbers)
	if a.over {
		return
	}
	a.spelled(a.hash(a.numbers), a.numbers)
	a.payload(a.place.vocab, a.numbers)
}

func (a *Analyzer) null() { a.note(KindNull) }

// payload adds path=value of the value at hand.
func (a *Analyzer) payload(vocab bool, folded []byte) {
	if !vocab {
		if a.withIdentifiers {
			a.identifier(valueHash(a.place.seed, folded))
		}
		return
	}
	h := int64(valueHash(a.place.seed, folded))
	// A word whose path is not remembered stays unspelt: it is found all the same, and spelt in an
	// event to come.
	if a.lexeme(h) && a.place.node >= 0 && a.unknown(h) {
		a.out.NewTerms = append(a.out.NewTerms, Term{equation(a.tree.nodes[a.place.node].path, folded), h})
	}
}

// equation spells the term of a payload value: data.path=value.
func equation(path string, folded []byte) string {
	switch {
	case path == "", path[0] == '[':
		return "data" + path + "=" + string(folded)
	}
	return "data." + path + "=" + string(folded)
}

// note records the kind of the value at the place at hand.
func (a *Analyzer) note(kind int16) {
	if a.place.node < 0 {
		return
	}
	n := &a.tree.nodes[a.place.node]
	if n.kinds == 0 {
		a.touched = append(a.touched, a.place.node)
	}
	n.kinds |= kind
}

// pick keeps the text of a scalar that the caller asked for.
func (a *Analyzer) pick(text []byte) {
	if a.place.node < 0 {
		return
	}
	for _, p := range a.tree.nodes[a.place.node].picks {
		s := a.intern(text)
		if len(a.out.PickedAll[p]) == 0 {
			a.out.Picked[p] = s
		}
		a.out.PickedAll[p] = append(a.out.PickedAll[p], s)
	}
}

const (
	maxInterned      = 1 << 12 // strings
	maxInternedBytes = 64      // of one
)

// intern makes a string of picked text, the same one for the same text while that recurs. NUL becomes
// U+FFFD: what is picked goes into text columns, which cannot hold it.
func (a *Analyzer) intern(text []byte) string {
	if s, ok := a.interned[string(text)]; ok {
		return s
	}
	s := string(bytes.ReplaceAll(text, []byte{0}, []byte("\uFFFD")))
	if len(text) <= maxInternedBytes {
		if len(a.interned) >= maxInterned {
			clear(a.interned)
		}
		a.interned[string(text)] = s
	}
	return s
}

func (a *Analyzer) dropPicks() {
	clear(a.out.Picked)
	for i := range a.out.PickedAll {
		a.out.PickedAll[i] = a.out.PickedAll[i][:0]
	}
}

func (a *Analyzer) dropPaths() {
	for _, n := range a.touched {
		a.tree.nodes[n].kinds = 0
	}
	a.touched, a.unlisted = a.touched[:0], false
}

// shape is one number for the touched paths and their kinds, whatever their order.
func (a *Analyzer) shape() uint64 {
	if a.unlisted {
		return 0
	}
	shape := uint64(1)
	for _, i := range a.touched {
		n := &a.tree.nodes[i]
		shape += mix(n.place.seed ^ uint64(n.kinds)*0x9E3779B97F4A7C15)
	}
	return shape
}

// mix spreads a number over all bits.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

// paths reports the listed paths that Seen does not know. The data itself is one only where it is no
// object: every other path says as much.
func (a *Analyzer) paths() {
	a.out.Shape = a.shape()
	shapes, _ := a.seen.(Shapes)
	known := a.out.Shape != 0 && shapes != nil && shapes.Shape(a.in.Type, a.out.Shape)
	for _, i := range a.touched {
		n := &a.tree.nodes[i]
		kinds := n.kinds
		n.kinds = 0
		if known {
			continue
		}
		if i == 0 {
			kinds &^= KindObject
		}
		if kinds == 0 || !n.place.vocab || a.seen != nil && a.seen.Path(a.in.Type, n.path, kinds) {
			continue
		}
		if len(a.out.NewPaths) == MaxPaths {
			a.unlisted = true
			continue
		}
		a.out.NewPaths = append(a.out.NewPaths, Path{n.path, kinds})
	}
	a.touched = a.touched[:0]
	if a.unlisted && (a.seen == nil || !a.seen.Path(a.in.Type, Unlisted, KindObject)) {
		a.out.NewPaths = append(a.out.NewPaths, Path{Unlisted, KindObject})
	}
}
