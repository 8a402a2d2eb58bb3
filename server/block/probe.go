package block

// List is where in Lists the ordinals of a key are: they end within Length bytes from Offset on, and beyond half
// of that. An ordinal has a byte, few have two or three: so Length says about how many there are.
type List struct{ Offset, Length int }

// Hit is what a block says of one key.
type Hit struct {
	Held    bool   // by one row or several
	Ordinal uint16 // of the row, where List is zero
	List    List
}

// Match looks for a key in its home page and the one behind, as they lie in Keys: ProbeBytes from PageBytes *
// Bucket on, or what there is of them.
func Match(pages []byte, key uint32) (Hit, error) {
	for page := range 2 {
		from := page * PageBytes
		if len(pages) <= from {
			return Hit{}, nil
		}
		r, err := openPage(pages[from:min(len(pages), from+PageBytes)])
		if err != nil {
			return Hit{}, err
		}
		for {
			var e entry
			ok, err := r.next(&e)
			if err != nil {
				return Hit{}, err
			}
			if !ok {
				break
			}
			switch {
			case e.key > key: // those of the page behind are above
				return Hit{}, nil
			case e.key == key && e.isList:
				return Hit{Held: true, List: List{int(e.value), 1 << e.class}}, nil
			case e.key == key:
				return Hit{Held: true, Ordinal: uint16(e.value)}, nil
			}
		}
	}
	return Hit{}, nil
}

// Probe is the ordinals of a key in a block that is at hand whole.
func (b *Block) Probe(key uint32) ([]uint16, error) {
	at := min(PageBytes*Bucket(key, b.Buckets), len(b.Keys))
	hit, err := Match(b.Keys[at:min(at+ProbeBytes, len(b.Keys))], key)
	switch {
	case err != nil || !hit.Held:
		return nil, err
	case hit.List == List{}:
		if int(hit.Ordinal) >= b.Rows {
			return nil, ErrCorrupt
		}
		return []uint16{hit.Ordinal}, nil
	}
	from := min(hit.List.Offset, len(b.Lists))
	return Ordinals(nil, b.Lists[from:min(from+hit.List.Length, len(b.Lists))], b.Rows)
}
