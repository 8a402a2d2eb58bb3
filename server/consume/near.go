package consume

// near is what one worker knows of seen that it needs all the time: the shared tables are so large that most
// looks at them miss the processor's caches, and an event of 300 words and 200 paths takes as many. An
// entry overwrites the one in its place, and all that costs is a look at the shared table.
type near struct {
	terms  [1 << 13]int64
	shapes [1 << 12]uint64
	values [1 << 10]uint64
}

func (n *near) termAt(hash int64) *int64 { return &n.terms[uint64(hash)>>20%uint64(len(n.terms))] }

func (n *near) term(hash int64) bool { return hash != 0 && *n.termAt(hash) == hash }
func (n *near) addTerm(hash int64)   { *n.termAt(hash) = hash }

func (n *near) shapeAt(shape uint64) *uint64 { return &n.shapes[shape%uint64(len(n.shapes))] }

// shape says whether all paths of a payload, by a hash of them and its type, are known to the database.
func (n *near) shape(shape uint64) bool { return shape != 0 && *n.shapeAt(shape) == shape }
func (n *near) addShape(shape uint64)   { *n.shapeAt(shape) = shape }

func (n *near) valueAt(h uint64) *uint64 { return &n.values[h>>20%uint64(len(n.values))] }

// value says whether a value for completion, by its hash, is known to the database or has no place there.
func (n *near) value(h uint64) bool { return *n.valueAt(h) == h }
func (n *near) addValue(h uint64)   { *n.valueAt(h) = h }
