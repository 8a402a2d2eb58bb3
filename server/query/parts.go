package query

import (
	"bytes"
	"unicode/utf8"

	"oriel/server/lexicon"
)

// parts looks for parts of values, wherever they stand.
type parts struct {
	reader  lexicon.Reader
	wanted  [][]byte
	hits    []bool
	before  []bool // the hits when the data's turn came
	missing int
	scratch []byte
	folder  lexicon.Folder
}

func (p *parts) add(folded []byte) int {
	p.wanted, p.hits = append(p.wanted, folded), append(p.hits, false)
	return len(p.hits) - 1
}

func (p *parts) hit(i int) bool { return p.hits[i] }

func (p *parts) begin() {
	clear(p.hits)
	p.missing = len(p.hits)
	if cap(p.scratch) > maxScratch {
		p.scratch = nil
	}
}

func (p *parts) attribute(s string) {
	p.scratch = append(p.scratch[:0], s...)
	n := len(p.scratch)
	p.scratch = p.folder.AppendFolded(p.scratch, p.scratch[:n:n])
	p.look(p.scratch[n:])
}

func (p *parts) look(folded []byte) {
	for i, w := range p.wanted {
		if !p.hits[i] && bytes.Contains(folded, w) {
			p.hits[i] = true
			p.missing--
		}
	}
}

// data looks through the data. What it finds in data that turns out to be malformed does not count.
func (p *parts) data(data []byte, json, text bool) {
	if p.missing == 0 || len(data) == 0 || !json && !text || !utf8.Valid(data) {
		return
	}
	if text {
		p.Text(data)
		return
	}
	p.before = append(p.before[:0], p.hits...)
	if !p.reader.Read(data, p) {
		copy(p.hits, p.before)
	}
}

// Text looks through a string.
func (p *parts) Text(value []byte) {
	if p.missing > 0 {
		p.scratch = p.folder.AppendFolded(p.scratch[:0], value)
		p.look(p.scratch)
	}
}

// Number looks through the spelling of a number.
func (p *parts) Number(raw []byte) { p.Text(raw) }

// Truth looks through true or false.
func (p *parts) Truth(value bool) {
	if value {
		p.Text([]byte("true"))
	} else {
		p.Text([]byte("false"))
	}
}

// Open is nothing to look through, as are names and null.
func (p *parts) Open(bool)  {}
func (p *parts) Close()     {}
func (p *parts) Key([]byte) {}
func (p *parts) Null()      {}
