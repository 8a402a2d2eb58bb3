// Package lexicon turns an event into its vocabulary and its identifiers: one pure, versioned
// function, used to index an event, to compile a query's words and to verify a match. It knows no
// database and no event store.
package lexicon

// Version is the lexicon that new rows carry; it is part of every hash.
const Version = 1

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

// Input is what of an event is indexed. Attributes are in name, value pairs: type, source, subject
// and the extensions. ContentType "" with a JSON-looking structured event is the caller's to resolve.
type Input struct {
	Type       string
	Attributes []string // name, value, name, value, …
	TraceID    string   // 32 hex digits or ""; becomes the identifier trace=…
	Source, ID string   // identity, always an identifier key
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

// Seen tells the analyzer which hashes and paths need not be spelled out again.
type Seen interface {
	Term(hash int64) bool
	Path(eventType, path string, kinds int16) bool
}

// Output is reused by the analyzer: valid until its next call.
type Output struct {
	Lexemes     []int64  // sorted, distinct hashes of the vocabulary, the reserved one included where Over
	Identifiers []uint64 // sorted, distinct hashes of the identifiers
	NewTerms    []Term   // vocabulary that Seen did not know
	NewPaths    []Path   // paths or kinds that Seen did not know
	Picked      []string // text of the first scalar at each picked path; "" where absent
	PickedAll   [][]string
	Invalid     bool // claimed JSON or text that is not (malformed, too deep, bad UTF-8): no words of the data
	Over        bool // above the bound: carries the reserved lexeme, verify such rows
}

// Analyzer holds scratch space; one goroutine at a time.
type Analyzer struct{}

// New makes an analyzer. picks are payload paths (dotted) whose values the caller wants from the same
// parse: severity, device, room, person, tags.
func New(key Key, picks []string) *Analyzer { panic("unbuilt") }

// Analyze indexes one event.
func (a *Analyzer) Analyze(in *Input, seen Seen) *Output { panic("unbuilt") }

// Condition is one thing that an event matching a word must carry.
type Condition struct {
	Vocabulary bool
	Hash       int64 // a lexeme, or the identifier hash as int64
}

// Word is a compiled query word: folded, split into its leaf words.
type Word struct {
	Text       string
	Conditions []Condition // all must hold for a row to match (superset)
	Exact      bool        // the conditions alone decide, but for rows with the reserved lexeme
	Empty      bool        // nothing left after folding
	leaves     []string
}

// Compile reads one query word under a key.
func Compile(key Key, word string) Word { panic("unbuilt") }

// Reserved is the lexeme of events over the bound, under a key.
func Reserved(key Key) int64 { panic("unbuilt") }

// Match verifies: the leaf words of w occur one after another within one value of the event.
func Match(in *Input, w Word) bool { panic("unbuilt") }
