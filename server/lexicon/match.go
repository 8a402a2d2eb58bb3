package lexicon

import "unicode/utf8"

// Matcher holds the leaf words of one event and answers which words it matches. It is loaded once an
// event, however many filters ask. One goroutine at a time.
type Matcher struct {
	split   splitter
	scanner scanner
	scratch []byte
}

// Match verifies: the leaf words of w occur one after another within one value of the event.
func Match(in *Input, w Word) bool {
	var m Matcher
	m.Load(in)
	return m.Match(w)
}

// Load reads an event; what was loaded before is gone.
func (m *Matcher) Load(in *Input) {
	m.split.reset()
	for i := 1; i < len(in.Attributes); i += 2 {
		m.add(in.Attributes[i])
	}
	m.add(in.ID)
	before := len(m.split.leaves)
	if len(in.Data) == 0 || !in.JSON && !in.Text {
		return
	}
	valid := utf8.Valid(in.Data)
	if valid && in.JSON {
		valid = m.scanner.scan(in.Data, m)
	} else if valid {
		m.split.text(in.Data)
	}
	if !valid {
		m.split.leaves = m.split.leaves[:before]
	}
}

func (m *Matcher) add(value string) {
	m.scratch = append(m.scratch[:0], value...)
	m.split.text(m.scratch)
}

// Match reports whether the loaded event matches a word. The key that the word was compiled under does
// not matter.
func (m *Matcher) Match(w Word) bool {
	if w.number != "" {
		for i := range m.split.leaves {
			if m.split.leaves[i].kind&numberLeaf != 0 && string(m.split.leaves[i].text) == w.number {
				return true
			}
		}
	}
	if len(w.leaves) == 0 {
		return false
	}
	first := w.leaves[0]
	for i := range m.split.leaves {
		if string(m.split.leaves[i].text) == first && m.follows(i+1, w.leaves[1:]) {
			return true
		}
	}
	return false
}

func (m *Matcher) follows(i int, rest []string) bool {
	if len(m.split.leaves)-i < len(rest) {
		return false
	}
	for j, want := range rest {
		if l := &m.split.leaves[i+j]; l.kind&firstLeaf != 0 || string(l.text) != want {
			return false
		}
	}
	return true
}

func (m *Matcher) text(v []byte) { m.split.text(v) }

func (m *Matcher) number(raw []byte) {
	from := len(m.split.buf)
	m.split.buf = canonical(m.split.buf, raw)
	m.split.leaves = append(m.split.leaves, leaf{m.split.buf[from:len(m.split.buf):len(m.split.buf)], digitLeaf | numberLeaf | firstLeaf})
}

func (m *Matcher) truth(v bool) {
	if v {
		m.add("true")
	} else {
		m.add("false")
	}
}

func (m *Matcher) null()       {}
func (m *Matcher) key([]byte)  {}
func (m *Matcher) open(_ bool) {}
func (m *Matcher) close()      {}
