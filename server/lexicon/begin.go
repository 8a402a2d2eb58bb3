package lexicon

// CompileWhole is what an event must carry that has the words of a prefix: the conditions of its whole words.
// The last one, which may go on, is left out.
func CompileWhole(key Key, prefix string) []Condition {
	s := key.seeds()
	var sp splitter
	folded := sp.text([]byte(prefix))
	leaves := sp.leaves
	if n := len(leaves); n > 0 && endsIn(folded, leaves[n-1].text) {
		leaves = leaves[:n-1]
	}
	if len(leaves) == 0 || number(folded) {
		return nil
	}
	return s.conditions(leaves)
}

// number says whether the text may be the beginning of a JSON number, which is one leaf whatever is in it.
func number(folded []byte) bool { return isDigit(folded[0]) || folded[0] == '-' }

func endsIn(folded, leaf []byte) bool {
	return len(folded) >= len(leaf) && string(folded[len(folded)-len(leaf):]) == string(leaf)
}

// Term is the beginning of the terms that the last word of a prefix stands for, which are all that it stands
// for; ok is false where identifiers may begin so, or what is no term.
func (b Beginning) Term() (low string, ok bool) {
	if !b.Terms {
		return "", false
	}
	return b.Leaves[len(b.Leaves)-1], true
}
