package query

import (
	"bytes"
	"unicode/utf8"

	"oriel/server/lexicon"
)

// paths judges all conditions on paths of the data in one pass over its bytes. The paths are one trie, and
// the pass keeps the places of the trie that the value at hand lies at: several, as [*] and [1] both may
// hold. Nothing is built of the data, so every member of a repeated name counts and numbers keep their
// digits. Data that is no JSON has no paths.
type paths struct {
	reader lexicon.Reader
	places []place
	hits   []bool

	here    []int32 // places of the value at hand, at the end of those of the containers around it
	from    int     // where those of the value at hand begin
	frames  []frame
	skipped int // open containers within one that no path leads into
	scratch []byte
	number  []byte // canonical spelling of the number at hand
	folder  lexicon.Folder
}

// place is a node of the trie.
type place struct {
	members  map[string]int32
	elements map[int]int32 // by index
	any      int32         // [*]; 0 is none, as the root is nobody's child
	tests    []valueTest
}

// frame is an open container that a path leads into.
type frame struct {
	from, until int // its places within here
	array       bool
	index       int // of the element at hand
}

// valueTest is a condition on the values of a place.
type valueTest struct {
	what   Node
	text   []byte // of Equal and Prefix as it is, of Contains folded, of Compare the number
	number string // canonical, where Equal stands for a number too
	truth  int8   // 1 and 2 where it stands for false and true too
	hit    int
}

func newPaths() *paths { return &paths{places: make([]place, 1)} }

// add takes a condition, and answers its place among the hits.
func (p *paths) add(n Node) int {
	hit := len(p.hits)
	p.hits = append(p.hits, false)
	k, _ := unwrapped(n)
	steps, err := lexicon.ParsePath(k.field.Name)
	if err != nil {
		return hit // a path that no data has
	}
	at := int32(0)
	for _, st := range steps {
		at = p.child(at, st)
	}
	t := valueTest{what: n, hit: hit}
	switch n := n.(type) {
	case Equal:
		t.text = []byte(n.Value)
		if n.Text {
			break
		}
		switch {
		case lexicon.IsNumber(n.Value):
			t.number = string(lexicon.AppendNumber(nil, t.text))
		case n.Value == "false":
			t.truth = 1
		case n.Value == "true":
			t.truth = 2
		}
	case Prefix:
		t.text = []byte(n.Text)
	case Contains:
		t.text = p.folder.AppendFolded(nil, []byte(n.Text))
	case Compare:
		if !lexicon.IsNumber(n.Value) {
			return hit
		}
		t.text = []byte(n.Value)
	}
	p.places[at].tests = append(p.places[at].tests, t)
	return hit
}

func (p *paths) child(at int32, st lexicon.Step) int32 {
	parent, next := &p.places[at], int32(len(p.places))
	switch {
	case st.Element && st.Index == lexicon.AnyIndex:
		if parent.any != 0 {
			return parent.any
		}
		parent.any = next
	case st.Element:
		if c, ok := parent.elements[st.Index]; ok {
			return c
		}
		if parent.elements == nil {
			parent.elements = map[int]int32{}
		}
		parent.elements[st.Index] = next
	default:
		if c, ok := parent.members[st.Name]; ok {
			return c
		}
		if parent.members == nil {
			parent.members = map[string]int32{}
		}
		parent.members[st.Name] = next
	}
	p.places = append(p.places, place{})
	return next
}

func (p *paths) hit(i int) bool { return p.hits[i] }

// read judges all conditions on one event's data.
func (p *paths) read(data []byte, json bool) {
	clear(p.hits)
	if !json || len(data) == 0 || !utf8.Valid(data) {
		return
	}
	p.here, p.from, p.frames, p.skipped = append(p.here[:0], 0), 0, p.frames[:0], 0
	if !p.reader.Read(data, p) {
		clear(p.hits)
	}
	if cap(p.scratch) > maxScratch {
		p.scratch = nil
	}
}

const maxScratch = 1 << 16 // what is kept of scratch after a large value

// Open enters a container.
func (p *paths) Open(array bool) {
	if p.skipped > 0 {
		p.skipped++
		return
	}
	p.element()
	p.judge(func(t *valueTest) bool { return false })
	if p.from == len(p.here) { // nobody asks for what is in it
		p.skipped = 1
		return
	}
	p.frames = append(p.frames, frame{from: p.from, until: len(p.here), array: array})
	p.from = len(p.here)
}

// Close leaves a container.
func (p *paths) Close() {
	if p.skipped > 1 {
		p.skipped--
		return
	}
	if p.skipped == 1 {
		p.skipped = 0
	} else {
		f := p.frames[len(p.frames)-1]
		p.frames = p.frames[:len(p.frames)-1]
		p.from = f.from
	}
	p.done()
}

// Key moves to a member.
func (p *paths) Key(name []byte) {
	if p.skipped > 0 {
		return
	}
	f := &p.frames[len(p.frames)-1]
	p.here, p.from = p.here[:f.until], f.until
	for _, at := range p.here[f.from:f.until] {
		if next, ok := p.places[at].members[string(name)]; ok {
			p.here = append(p.here, next)
		}
	}
}

// element moves to the next element, where the value at hand is one.
func (p *paths) element() {
	if len(p.frames) == 0 {
		return
	}
	f := &p.frames[len(p.frames)-1]
	if !f.array {
		return
	}
	p.here, p.from = p.here[:f.until], f.until
	for _, at := range p.here[f.from:f.until] {
		if any := p.places[at].any; any != 0 {
			p.here = append(p.here, any)
		}
		if next, ok := p.places[at].elements[f.index]; ok {
			p.here = append(p.here, next)
		}
	}
	f.index++
}

// done leaves the value at hand.
func (p *paths) done() { p.here = p.here[:p.from] }

// judge tries the conditions on the value at hand; all but Exists are is's to say.
func (p *paths) judge(is func(*valueTest) bool) {
	for _, at := range p.here[p.from:] {
		tests := p.places[at].tests
		for i := range tests {
			t := &tests[i]
			if p.hits[t.hit] {
				continue
			}
			if _, exists := t.what.(Exists); exists || is(t) {
				p.hits[t.hit] = true
			}
		}
	}
}

// asked moves to the value at hand and says whether any condition is on it.
func (p *paths) asked() bool {
	if p.skipped > 0 {
		return false
	}
	p.element()
	return p.from < len(p.here)
}

// Text judges a string.
func (p *paths) Text(value []byte) {
	if !p.asked() {
		return
	}
	p.judge(func(t *valueTest) bool {
		_, equal := t.what.(Equal)
		return equal && bytes.Equal(value, t.text) || p.partly(t, value)
	})
	p.done()
}

// Number judges a number, as spelled.
func (p *paths) Number(raw []byte) {
	if !p.asked() {
		return
	}
	p.number = p.number[:0]
	p.judge(func(t *valueTest) bool {
		switch w := t.what.(type) {
		case Equal:
			if t.number == "" {
				return false
			}
			if len(p.number) == 0 {
				p.number = lexicon.AppendNumber(p.number, raw)
			}
			return string(p.number) == t.number
		case Compare:
			return w.Op.holds(lexicon.CompareNumbers(raw, t.text))
		}
		return p.partly(t, raw)
	})
	p.done()
}

// Truth judges true or false.
func (p *paths) Truth(value bool) {
	if !p.asked() {
		return
	}
	text, truth := []byte("false"), int8(1)
	if value {
		text, truth = []byte("true"), 2
	}
	p.judge(func(t *valueTest) bool { return t.truth == truth || p.partly(t, text) })
	p.done()
}

// Null judges null.
func (p *paths) Null() {
	if !p.asked() {
		return
	}
	p.judge(func(t *valueTest) bool {
		_, null := t.what.(Null)
		return null
	})
	p.done()
}

// partly judges Prefix and Contains on text or a spelling.
func (p *paths) partly(t *valueTest, text []byte) bool {
	switch t.what.(type) {
	case Prefix:
		return bytes.HasPrefix(text, t.text)
	case Contains:
		p.scratch = p.folder.AppendFolded(p.scratch[:0], text)
		return bytes.Contains(p.scratch, t.text)
	}
	return false
}
