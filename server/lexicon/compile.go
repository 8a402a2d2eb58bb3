package lexicon

import (
	"cmp"
	"errors"
	"slices"
)

// Compile reads one query word under a key. A phrase is compiled like a word: its words must stand one
// after another within one value, as the parts of a compound word must.
func Compile(key Key, word string) Word {
	s := key.seeds()
	w := Word{Text: word}
	var sp splitter
	sp.text([]byte(word))
	for _, l := range sp.leaves {
		w.leaves = append(w.leaves, string(l.text))
	}
	var number []byte
	if isNumber([]byte(word)) {
		number = canonical(nil, []byte(word))
		w.number = string(number)
	}
	if len(sp.leaves) == 0 {
		w.Empty = true
		return w
	}
	if number == nil || len(sp.leaves) == 1 && w.number == w.leaves[0] {
		w.Conditions = s.conditions(sp.leaves)
		n := len(sp.leaves) // two characters are one bigram; of more, neighbourhood is not known
		w.Exact = len(w.Conditions) == 1 && w.Conditions[0].Vocabulary && (n == 1 || n == 2 && sp.leaves[0].kind&cjkLeaf != 0)
		return w
	}
	// The word reads as a number that text spells in other leaves: an event has the leaves, or the
	// number. What both readings ask for is a condition, the rest is a choice.
	asNumber := Condition{Vocabulary: numberVocabulary(number), Hash: s.token(number)}
	asText := s.conditions(sp.leaves)
	if slices.Contains(w.leaves, w.number) {
		w.Conditions = []Condition{asNumber}
	} else {
		w.Any = []Condition{asText[0], asNumber}
	}
	return w
}

// conditions are the tokens that an event holding the leaves one after another has: what words adds,
// without the leaves that a bigram covers.
func (s *seeds) conditions(leaves []leaf) []Condition {
	type weighed struct {
		Condition
		size int
	}
	var all []weighed
	add := func(vocabulary bool, token []byte) {
		c := weighed{Condition{vocabulary, s.token(token)}, len(token)}
		if !slices.ContainsFunc(all, func(o weighed) bool { return o.Condition == c.Condition }) {
			all = append(all, c)
		}
	}
	isCJK := func(i int) bool { return i >= 0 && i < len(leaves) && leaves[i].kind&cjkLeaf != 0 }
	for i := range leaves {
		l := &leaves[i]
		switch {
		case isCJK(i) && isCJK(i-1):
			add(true, slices.Concat(leaves[i-1].text, l.text))
		case isCJK(i) && isCJK(i+1): // in the bigram to come
		default:
			add(leafVocabulary(l), l.text)
		}
		if i > 0 && leaves[i-1].kind&l.kind&digitLeaf != 0 {
			add(false, slices.Concat(leaves[i-1].text, []byte(" "), l.text))
		}
	}
	slices.SortStableFunc(all, func(x, y weighed) int {
		if x.Vocabulary != y.Vocabulary {
			if y.Vocabulary {
				return -1
			}
			return 1
		}
		return cmp.Compare(y.size, x.size)
	})
	conditions := make([]Condition, len(all))
	for i := range all {
		conditions[i] = all[i].Condition
	}
	return conditions
}

// ErrPath is a payload path that no payload can have.
var ErrPath = errors.New("malformed path")

// CompileValue is the condition of an event whose payload has this value at a path: one of the answered
// conditions must hold. It is a superset, as folding makes several texts one. value is the text of a
// string, the spelling of a number, true or false; a value that reads as a number stands for both.
func CompileValue(key Key, path, value string) ([]Condition, error) {
	steps, err := parsePath(path)
	if err != nil {
		return nil, err
	}
	s := key.seeds()
	t := tree{root: s.path}
	at := cursor{node: -1, vocab: true, seed: t.root}
	for _, st := range steps {
		at = t.child(at, st, false)
	}
	either := []Condition{equal(at.seed, at.vocab, value)}
	if isNumber([]byte(value)) {
		if c := equal(at.seed, at.vocab, string(canonical(nil, []byte(value)))); c != either[0] {
			either = append(either, c)
		}
	}
	return either, nil
}

// CompileAttribute is the condition of an event whose extension attribute has this value; the name
// trace finds the trace id, 32 hexadecimal digits.
func CompileAttribute(key Key, name, value string) Condition {
	s := key.seeds()
	return equal(keyStep(s.name, []byte(name)), true, value)
}

func equal(seed uint64, vocab bool, value string) Condition {
	var sp splitter
	folded := sp.text([]byte(value))
	return Condition{
		Vocabulary: vocab && valueVocabulary(folded, sp.leaves),
		Hash:       int64(valueHash(seed, folded)),
	}
}
