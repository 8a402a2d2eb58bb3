package search

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"oriel/server/cloudevents"
	"oriel/server/lexicon"
	"oriel/server/query"
)

// Bounds of what is remembered of a sample. Beyond, numbers say that they are lower bounds.
const (
	maxFieldNodes    = 20_000 // paths of the data
	maxFieldDistinct = 2_000  // values of one field
	maxFieldValue    = 256    // bytes of a value that is shown
)

// fieldStats collects what a sample of events has in its fields. Events come newest first.
type fieldStats struct {
	facets []string // names of the facet fields
	others map[query.Field]*fieldStat
	nodes  []fieldNode // the paths of the data; the first is the data itself
	stack  []fieldPlace
	at     int32 // where the value at hand lies; -1 is beyond the bound
	reader lexicon.Reader
	event  int32 // number of the event at hand, from 1
	when   time.Time
	full   bool // there are paths that were not remembered
}

// fieldNode is a path: where its members and elements are, and what was seen there.
type fieldNode struct {
	parent  int32
	step    lexicon.Step
	members map[string]int32
	element int32
	stat    fieldStat
}

type fieldPlace struct {
	node  int32
	array bool
}

// fieldStat is what one field has.
type fieldStat struct {
	event       int32 // the last that has it
	present     int64
	kinds       int16
	values      map[string]*valueStat
	more        bool // values that were not remembered
	least, most []byte
	first, last time.Time
}

type valueStat struct {
	shown     string
	n, errors int64
	event     int32
}

func newFieldStats(facets []string) *fieldStats {
	return &fieldStats{facets: facets, others: map[query.Field]*fieldStat{}, nodes: make([]fieldNode, 1)}
}

// sampled is one event of the sample.
type sampled struct {
	match
	contentType, schema string
	flags               cloudevents.Flags
	attributes          []string
	data                []byte
}

// add counts one event.
func (s *fieldStats) add(e *sampled) {
	s.event++
	s.when = time.UnixMicro(e.key.at).UTC()
	for name, value := range map[string]string{
		"type": e.kind, "source": e.source, "subject": e.subject, "datacontenttype": e.contentType, "dataschema": e.schema,
	} {
		if value != "" {
			s.other(query.Field{Kind: query.Attribute, Name: name}, value, e)
		}
	}
	severity := query.Field{Kind: query.Severity}
	e.each(severity, func(v string) { s.other(severity, shownValue(severity, v), e) })
	for _, name := range s.facets {
		f := query.Field{Kind: query.Facet, Name: name}
		e.each(f, func(v string) { s.other(f, v, e) })
	}
	for i := 0; i+2 < len(e.attributes); i += 3 {
		s.other(query.Field{Kind: query.Extension, Name: e.attributes[i]}, e.attributes[i+2], e)
	}
	json, _ := cloudevents.Claims(e.contentType, e.flags)
	if json && len(e.data) > 0 && e.flags&cloudevents.FlagDataInvalid == 0 && utf8.Valid(e.data) {
		s.stack, s.at = s.stack[:0], 0
		s.reader.Read(e.data, &fieldVisitor{s, e})
	}
}

func (s *fieldStats) other(f query.Field, value string, e *sampled) {
	st := s.others[f]
	if st == nil {
		st = &fieldStat{}
		s.others[f] = st
	}
	s.note(st, lexicon.KindString)
	st.value(value, value, s.event, e)
}

// note counts that the event at hand has the field.
func (s *fieldStats) note(st *fieldStat, kind int16) {
	st.kinds |= kind
	if st.event == s.event {
		return
	}
	st.event = s.event
	st.present++
	if st.last.IsZero() {
		st.last = s.when
	}
	st.first = s.when
}

// value counts that the event has a value, once.
func (st *fieldStat) value(key, shown string, event int32, e *sampled) {
	v := st.values[key]
	if v == nil {
		if len(st.values) >= maxFieldDistinct || len(shown) > maxFieldValue {
			st.more = true
			return
		}
		if st.values == nil {
			st.values = map[string]*valueStat{}
		}
		v = &valueStat{shown: strings.Clone(shown)}
		st.values[strings.Clone(key)] = v
	}
	if v.event == event {
		return
	}
	v.event = event
	v.n++
	if e.severity >= errorRank {
		v.errors++
	}
}

// fieldVisitor reads the data of an event.
type fieldVisitor struct {
	*fieldStats
	e *sampled
}

// here is the field of the value at hand, nil beyond the bound.
func (s *fieldVisitor) here() *fieldStat {
	if n := len(s.stack); n > 0 && s.stack[n-1].array {
		s.at = s.child(s.stack[n-1].node, lexicon.Step{Element: true, Index: lexicon.AnyIndex})
	}
	if s.at < 0 {
		return nil
	}
	return &s.nodes[s.at].stat
}

func (s *fieldVisitor) child(parent int32, st lexicon.Step) int32 {
	if parent < 0 {
		return -1
	}
	p := &s.nodes[parent]
	if st.Element {
		if p.element != 0 {
			return p.element
		}
	} else if c, ok := p.members[st.Name]; ok {
		return c
	}
	if len(s.nodes) >= maxFieldNodes {
		s.full = true
		return -1
	}
	next := int32(len(s.nodes))
	if st.Element {
		p.element = next
	} else {
		if p.members == nil {
			p.members = map[string]int32{}
		}
		p.members[st.Name] = next
	}
	s.nodes = append(s.nodes, fieldNode{parent: parent, step: st})
	return next
}

func (s *fieldVisitor) Open(array bool) {
	kind := int16(lexicon.KindObject)
	if array {
		kind = lexicon.KindArray
	}
	if st := s.here(); st != nil {
		s.note(st, kind)
	}
	s.stack = append(s.stack, fieldPlace{s.at, array})
}

func (s *fieldVisitor) Close() { s.stack = s.stack[:len(s.stack)-1] }

func (s *fieldVisitor) Key(name []byte) {
	parent := s.stack[len(s.stack)-1].node
	if parent >= 0 {
		if c, ok := s.nodes[parent].members[string(name)]; ok { // without making a string of it
			s.at = c
			return
		}
	}
	s.at = s.child(parent, lexicon.Step{Name: string(name)})
}

func (s *fieldVisitor) Text(value []byte) {
	if st := s.here(); st != nil {
		s.note(st, lexicon.KindString)
		st.value(`"`+string(value), string(value), s.event, s.e)
	}
}

func (s *fieldVisitor) Number(raw []byte) {
	st := s.here()
	if st == nil {
		return
	}
	s.note(st, lexicon.KindNumber)
	st.value(string(lexicon.AppendNumber(nil, raw)), string(raw), s.event, s.e)
	if st.least == nil || lexicon.CompareNumbers(raw, st.least) < 0 {
		st.least = slices.Clone(raw)
	}
	if st.most == nil || lexicon.CompareNumbers(raw, st.most) > 0 {
		st.most = slices.Clone(raw)
	}
}

func (s *fieldVisitor) Truth(value bool) {
	if st := s.here(); st != nil {
		s.note(st, lexicon.KindBoolean)
		text := "false"
		if value {
			text = "true"
		}
		st.value(text, text, s.event, s.e)
	}
}

func (s *fieldVisitor) Null() {
	if st := s.here(); st != nil {
		s.note(st, lexicon.KindNull)
	}
}

// each calls f for every field that was seen.
func (s *fieldStats) each(f func(query.Field, *fieldStat)) {
	for field, st := range s.others {
		f(field, st)
	}
	for i := range s.nodes {
		if s.nodes[i].stat.present == 0 {
			continue
		}
		var steps []lexicon.Step
		for at := int32(i); at != 0; at = s.nodes[at].parent {
			steps = append(steps, s.nodes[at].step)
		}
		slices.Reverse(steps)
		f(query.Field{Kind: query.Data, Name: string(lexicon.AppendPath(nil, steps))}, &s.nodes[i].stat)
	}
}
