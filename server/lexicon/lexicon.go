package lexicon

// Version is the lexicon that new rows carry; it is part of every hash. A change of folding, of
// splitting, of the class rule or of a hash is a new version: rows of several versions live side by
// side, and a query asks for a word's hash under each.
const Version = 1

// Bounds, stated in docs/query.md.
const (
	// MaxDepth is how deeply arrays and objects may nest; data beyond it is stored without words.
	MaxDepth = 512
	// MaxLexemes and MaxIdentifiers bound what one event puts into an index. An event beyond either
	// carries the reserved lexeme instead of its data's words and is found by verification.
	MaxLexemes     = 4096
	MaxIdentifiers = 4096
	// MaxPaths bounds the new paths that one event may report; beyond it Unlisted is reported.
	MaxPaths = 1024
)

// Key is the hash key of one version, from lexicon_version.
type Key [16]byte

// Kinds of JSON values, a bit set.
const (
	KindString = 1 << iota
	KindNumber
	KindBoolean
	KindNull
	KindObject
	KindArray
	KindEmptyString
)

// Unlisted is the path reported for a type of which an event had more paths than are listed. It is no
// spelling of any real path. Whether a path exists in such a type is for the verifier to say.
const Unlisted = "*"

// Input is what of an event is indexed. Attributes are in name, value pairs: type, source, subject
// and the extensions. ContentType "" with a JSON-looking structured event is the caller's to resolve.
type Input struct {
	Type       string
	Attributes []string // name, value, name, value, …
	TraceID    string   // 32 hex digits or ""; becomes the identifier trace=…
	Source, ID string   // identity, always an identifier key; the id's words are found too
	JSON       bool     // Data is claimed to be JSON
	Text       bool     // Data is text/*
	Data       []byte
}

// Term is a vocabulary word and its hash.
type Term struct {
	Word string
	Hash int64
}

// Path is a payload path seen in this event and the kinds of its values.
type Path struct {
	Path  string
	Kinds int16
}

// Seen tells the analyzer which hashes and paths need not be spelled out again. Its answers may go
// from false to true at any time and never back. A nil Seen knows nothing.
type Seen interface {
	Term(hash int64) bool
	Path(eventType, path string, kinds int16) bool
}

// Shapes is a Seen that remembers payloads whole, so that it need not be asked for their paths one by one. A
// shape stands for the listed paths of a payload and the kinds of their values.
type Shapes interface {
	Seen
	Shape(eventType string, shape uint64) bool
}

// Output is reused by the analyzer: valid until its next call. The strings in it stay valid.
type Output struct {
	Lexemes     []int64  // sorted, distinct hashes of the vocabulary, the reserved one included where Over
	Identifiers []uint64 // the same of the identifiers, the reserved one included where Over; empty under WithoutIdentifiers
	NewTerms    []Term   // vocabulary that Seen did not know; no word is in it twice
	NewPaths    []Path   // paths or kinds that Seen did not know
	Shape       uint64   // of the payload; 0 where not all of its paths are listed
	// Picked is the text of the first scalar at each picked path, or of the first scalar element of
	// an array there; "" where absent. PickedAll is all of them, in order. Null is no scalar.
	Picked    []string
	PickedAll [][]string
	Invalid   bool // claimed JSON or text that is not (malformed, too deep, bad UTF-8): no words of the data
	Over      bool // above the bound: carries the reserved lexeme, verify such rows
}

// Condition is one thing that an event matching a word must carry.
type Condition struct {
	Vocabulary bool
	Hash       int64 // a lexeme, or the identifier hash as int64
}

// Word is a compiled query word: folded, split into its leaf words.
type Word struct {
	Text       string      // as given
	Conditions []Condition // all must hold for a row to match (superset), the most selective first
	// Any, where not empty, is a second condition beside Conditions: one of these must hold. It may
	// be left out, as verification decides. Only a number that text spells otherwise (3.14, -5, 1e3)
	// has one.
	Any    []Condition
	Exact  bool // the conditions alone decide, but for rows with the reserved lexeme
	Empty  bool // nothing left after folding
	leaves []string
	number string // canonical spelling where the word reads as a JSON number
}
