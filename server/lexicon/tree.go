package lexicon

import "slices"

// node is a remembered path.
type node struct {
	parent int32
	place  cursor
	name   string
	path   string // canonical
	kinds  int16  // of this event
	picks  []int
}

// cursor is a place in the payload. A place whose path is not remembered has node -1.
type cursor struct {
	node  int32
	size  int32 // bytes of the canonical path, while vocab
	vocab bool  // its path is listed, and path=value of it may be vocabulary
	seed  uint64
}

// tree remembers the listed paths of past events, so that a path costs one hash and one comparison.
type tree struct {
	root  uint64
	picks []string
	nodes []node
	slots []int32 // index + 1, by seed
	names splitter
	spelt []byte
}

// maxNodes bounds what is remembered: some 5 MB.
const maxNodes = 1 << 15

func (t *tree) reset() {
	t.slots = make([]int32, 1024)
	t.nodes = []node{{parent: -1, place: cursor{vocab: true, seed: t.root}}}
	for i, p := range t.picks {
		steps, err := parsePath(p)
		if err != nil || slices.ContainsFunc(steps, func(st step) bool { return st.index > 0 }) {
			continue // a path that no payload can have, or of one element: always absent
		}
		at := t.nodes[0].place
		for _, st := range steps {
			at = t.child(at, st, true)
		}
		elements := t.child(at, step{element: true}, true)
		t.nodes[at.node].picks = append(t.nodes[at.node].picks, i)
		t.nodes[elements.node].picks = append(t.nodes[elements.node].picks, i)
	}
}

func (t *tree) full() bool { return len(t.nodes) >= maxNodes }

// child finds or makes the place one step below. A place whose path is not listed is not remembered,
// unless keep asks for it, nor is any once the tree is full.
func (t *tree) child(c cursor, st step, keep bool) cursor {
	seed := c.seed
	if st.element {
		seed = elementStep(seed)
	} else {
		seed = keyStep(seed, st.name)
	}
	if c.node < 0 {
		return t.unremembered(c, st, seed)
	}
	mask := uint64(len(t.slots) - 1)
	i := seed & mask
	for ; t.slots[i] != 0; i = (i + 1) & mask {
		x := &t.nodes[t.slots[i]-1]
		if x.place.seed == seed && x.parent == c.node && x.name == string(st.name) {
			return x.place
		}
	}
	place := t.unremembered(c, st, seed)
	if !keep && (!place.vocab || t.full()) {
		return place
	}
	place.node = int32(len(t.nodes))
	t.nodes = append(t.nodes, node{
		parent: c.node,
		place:  place,
		name:   string(st.name),
		path:   string(appendStep([]byte(t.nodes[c.node].path), st)),
	})
	t.slots[i] = place.node + 1
	if 2*len(t.nodes) > len(t.slots) {
		t.grow()
	}
	return place
}

// unremembered is the place one step below c, without a node. A place below one that is not listed is
// not listed.
func (t *tree) unremembered(c cursor, st step, seed uint64) cursor {
	place := cursor{node: -1, seed: seed}
	if !c.vocab {
		return place
	}
	// The spelling of a step depends on what precedes it only by the dot.
	t.spelt = t.spelt[:0]
	if c.size > 0 {
		t.spelt = append(t.spelt, 'x')
		place.size = -1
	}
	t.spelt = appendStep(t.spelt, st)
	place.size += c.size + int32(len(t.spelt))
	place.vocab = place.size <= maxPathBytes && (st.element || t.names.nameVocabulary(st.name))
	return place
}

func (t *tree) grow() {
	t.slots = make([]int32, 2*len(t.slots))
	mask := uint64(len(t.slots) - 1)
	for n := 1; n < len(t.nodes); n++ {
		i := t.nodes[n].place.seed & mask
		for t.slots[i] != 0 {
			i = (i + 1) & mask
		}
		t.slots[i] = int32(n) + 1
	}
}
