package lexicon

// hashSet is a set of hashes that is emptied often: open addressing with linear probing, keys in the
// order they came. The hashes are already mixed, so the low bits serve as the slot.
type hashSet struct {
	slots []uint64 // 0 is free
	keys  []uint64
}

const smallSet = 1024

func (s *hashSet) reset() {
	if len(s.slots) > 16*smallSet || s.slots == nil {
		s.slots = make([]uint64, smallSet)
		s.keys = make([]uint64, 0, smallSet/2)
		return
	}
	clear(s.slots)
	s.keys = s.keys[:0]
}

// add reports whether h is new.
func (s *hashSet) add(h uint64) bool {
	if h == 0 {
		h = 1 // 0 marks a free slot; both may stand for one key, as any two hashes may
	}
	mask := uint64(len(s.slots) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		switch s.slots[i] {
		case h:
			return false
		case 0:
			s.slots[i] = h
			s.keys = append(s.keys, h)
			if 2*len(s.keys) > len(s.slots) {
				s.grow()
			}
			return true
		}
	}
}

func (s *hashSet) grow() {
	s.slots = make([]uint64, 2*len(s.slots))
	mask := uint64(len(s.slots) - 1)
	for _, h := range s.keys {
		i := h & mask
		for s.slots[i] != 0 {
			i = (i + 1) & mask
		}
		s.slots[i] = h
	}
}
