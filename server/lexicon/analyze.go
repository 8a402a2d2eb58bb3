package lexicon

import (
	"slices"
	"unicode/utf8"
)

// Option changes what an analyzer computes.
type Option func(*Analyzer)

// WithoutIdentifiers leaves Output.Identifiers empty, for as long as nothing stores them. Vocabulary
// does not depend on it.
func WithoutIdentifiers() Option { return func(a *Analyzer) { a.withIdentifiers = false } }

// Analyzer holds scratch space; one goroutine at a time. It keeps nothing of the data it was given.
type Analyzer struct {
	hashes          seeds
	tree            tree
	split           splitter
	scan            scanner
	withIdentifiers bool
	picks           int
	interned        map[string]string

	in          *Input
	seen        Seen
	out         Output
	vocabulary  hashSet
	identifiers hashSet
	joined      []byte // scratch for strings
	pair        []byte // scratch for tokens of two leaves
	numbers     []byte // scratch for the spelling of numbers

	place    cursor  // of the next value
	stack    []frame // open containers
	touched  []int32 // nodes with kinds
	unlisted bool    // a listed path could not be remembered
	bounded  bool    // the words are the data's: stop at the bound
	over     bool
}

type frame struct {
	place   cursor // the container's
	element cursor // its elements', where it is an array
	array   bool
}

// New makes an analyzer. picks are payload paths (dotted) whose values the caller wants from the same
// parse: severity, device, room, person, tags. A path that is malformed is always absent.
func New(key Key, picks []string, options ...Option) *Analyzer {
	a := &Analyzer{hashes: key.seeds(), withIdentifiers: true, picks: len(picks), interned: map[string]string{}}
	a.tree.root, a.tree.picks = a.hashes.path, slices.Clone(picks)
	a.tree.reset()
	a.out.Picked = make([]string, len(picks))
	a.out.PickedAll = make([][]string, len(picks))
	for _, o := range options {
		o(a)
	}
	return a
}

// Analyze indexes one event.
func (a *Analyzer) Analyze(in *Input, seen Seen) *Output {
	a.in, a.seen = in, seen
	a.begin()
	if !a.data() {
		a.out.Invalid = true
		a.dropWords()
		a.dropPicks()
		a.dropPaths()
		a.over = false
	}
	if a.over {
		a.dropWords()
	}
	a.out.Over = a.over
	a.paths()
	a.bounded, a.over = false, false // attributes have limits of their own: all their words are kept
	a.attributes()
	if a.out.Over {
		a.vocabulary.add(uint64(a.hashes.reserved))
		a.identifier(uint64(a.hashes.reserved))
	}
	a.out.Lexemes = a.out.Lexemes[:0]
	for _, h := range a.vocabulary.keys {
		a.out.Lexemes = append(a.out.Lexemes, int64(h))
	}
	slices.Sort(a.out.Lexemes)
	a.out.Identifiers = append(a.out.Identifiers[:0], a.identifiers.keys...)
	slices.Sort(a.out.Identifiers)
	a.in, a.seen = nil, nil
	return &a.out
}

func (a *Analyzer) begin() {
	if a.tree.full() {
		a.tree.reset()
	}
	a.split.reset()
	a.dropWords()
	a.dropPicks()
	a.touched, a.stack = a.touched[:0], a.stack[:0]
	a.place = a.tree.nodes[0].place
	a.unlisted, a.over, a.bounded = false, false, true
	a.out.NewPaths = a.out.NewPaths[:0]
	a.out.Invalid = false
}

// data reads the payload, and reports whether it is what it claims to be.
func (a *Analyzer) data() bool {
	d := a.in.Data
	switch {
	case len(d) == 0 || !a.in.JSON && !a.in.Text:
		return true
	case !utf8.Valid(d):
		return false
	case a.in.JSON:
		return a.scan.scan(d, a)
	}
	a.split.text(d)
	a.words()
	return true
}

// attributes adds the words of attribute values, name=value of the extensions, the trace and the
// identity.
func (a *Analyzer) attributes() {
	for i := 0; i+1 < len(a.in.Attributes); i += 2 {
		name, value := a.in.Attributes[i], a.in.Attributes[i+1]
		a.joined = append(a.joined[:0], value...)
		folded := a.value(a.joined)
		if value == "" || core(name) {
			continue
		}
		h := valueHash(keyStep(a.hashes.name, []byte(name)), folded)
		switch {
		case !valueVocabulary(folded, a.split.leaves):
			a.identifier(h)
		case a.lexeme(int64(h)) && a.unknown(int64(h)):
			a.out.NewTerms = append(a.out.NewTerms, Term{name + "=" + string(folded), int64(h)})
		}
	}
	a.joined = append(a.joined[:0], a.in.ID...)
	a.value(a.joined)
	if !a.withIdentifiers {
		return
	}
	if a.in.TraceID != "" {
		a.joined = append(a.joined[:0], a.in.TraceID...)
		a.split.reset()
		a.identifiers.add(valueHash(keyStep(a.hashes.name, []byte("trace")), a.split.text(a.joined)))
	}
	a.identifiers.add(a.hashes.identify(a.joined[:0], a.in.Source, a.in.ID))
}

// core tells the attributes that have columns and indexes of their own.
func core(name string) bool {
	switch name {
	case "type", "source", "subject", "id", "time", "datacontenttype", "dataschema", "specversion":
		return true
	}
	return false
}

// value adds the words of one value and returns it folded; its leaves stay in the splitter.
func (a *Analyzer) value(v []byte) []byte {
	a.split.reset()
	folded := a.split.text(v)
	a.words()
	return folded
}

// words adds the tokens of the leaves at hand: each leaf; two neighbouring leaves of scripts without
// spaces (a bigram); two neighbouring leaves that both hold a digit (a pair: what makes an address, a
// timestamp or a UUID findable among the many that share its parts).
func (a *Analyzer) words() {
	var last *leaf
	for i := range a.split.leaves {
		l := &a.split.leaves[i]
		switch {
		case l.kind&cjkLeaf != 0:
			a.lexeme(a.hash(l.text))
			if last != nil && last.kind&cjkLeaf != 0 {
				a.lexeme(a.hash(a.join(last, l, "")))
			}
		case leafVocabulary(l):
			a.spelled(a.hash(l.text), l.text)
		case a.withIdentifiers:
			a.identifier(uint64(a.hash(l.text)))
		}
		if a.withIdentifiers && last != nil && last.kind&l.kind&digitLeaf != 0 {
			a.identifier(uint64(a.hash(a.join(last, l, " "))))
		}
		if a.over {
			return
		}
		last = l
	}
}

func (a *Analyzer) hash(token []byte) int64 { return a.hashes.token(token) }

func (a *Analyzer) join(x, y *leaf, by string) []byte {
	a.pair = append(append(append(a.pair[:0], x.text...), by...), y.text...)
	return a.pair
}

// spelled adds a lexeme that is a word.
func (a *Analyzer) spelled(h int64, word []byte) {
	if a.lexeme(h) && a.unknown(h) {
		a.out.NewTerms = append(a.out.NewTerms, Term{string(word), h})
	}
}

func (a *Analyzer) lexeme(h int64) bool {
	isNew := a.vocabulary.add(uint64(h))
	if isNew && a.bounded && len(a.vocabulary.keys) > MaxLexemes {
		a.over = true
	}
	return isNew
}

func (a *Analyzer) identifier(h uint64) {
	if !a.withIdentifiers {
		return
	}
	if a.identifiers.add(h) && a.bounded && len(a.identifiers.keys) > MaxIdentifiers {
		a.over = true
	}
}

func (a *Analyzer) unknown(h int64) bool { return a.seen == nil || !a.seen.Term(h) }

func (a *Analyzer) dropWords() {
	a.vocabulary.reset()
	a.identifiers.reset()
	a.out.NewTerms = a.out.NewTerms[:0]
}
