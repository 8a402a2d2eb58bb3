package fault

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// What a producer notes of an event.
const (
	noteAttempt = "attempt" // it is about to be sent
	noteAck     = "ack"     // the answer was 200
	noteFail    = "fail"    // the answer says that it was not published
	noteUnknown = "unknown" // no answer, or one that says that nobody knows
)

// note is one line of a journal: what became of one sending of event n of a key.
type note struct {
	kind, key string
	n         int
}

func (n note) id() string { return eventID(n.key, n.n) }

// eventID is the id of event n of a key; the key is its subject, and ends its source.
func eventID(key string, n int) string { return key + "-" + strconv.Itoa(n) }

// journal is what producers know, on disk before they go on: an attempt is noted before it is sent and its
// end before anything follows from it.
type journal struct {
	mu   sync.Mutex
	file *os.File
	err  error
}

func newJournal(t *testing.T) *journal {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "journal"))
	if err != nil {
		t.Fatal(err)
	}
	j := &journal{file: f}
	t.Cleanup(func() {
		if err := f.Close(); err != nil || j.err != nil {
			t.Errorf("the journal: %v, %v", j.err, err)
		}
	})
	return j
}

func (j *journal) write(n note) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, err := fmt.Fprintln(j.file, n.kind, n.key, n.n); err != nil && j.err == nil {
		j.err = err
	}
	if err := j.file.Sync(); err != nil && j.err == nil {
		j.err = err
	}
}

// read is the journal as its file has it.
func (j *journal) read(t *testing.T) []note {
	t.Helper()
	text, err := os.ReadFile(j.file.Name())
	if err != nil {
		t.Fatal(err)
	}
	notes, err := parseJournal(string(text))
	if err != nil {
		t.Fatal(err)
	}
	return notes
}

func parseJournal(text string) ([]note, error) {
	var notes []note
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		var n note
		if _, err := fmt.Sscan(lines.Text(), &n.kind, &n.key, &n.n); err != nil {
			return nil, fmt.Errorf("line %q of the journal: %w", lines.Text(), err)
		}
		notes = append(notes, n)
	}
	return notes, lines.Err()
}

// fate is what all notes of one event say together.
type fate struct {
	attempts, unknown int
	acked             bool
}

// refused says that every answer was that it was not published.
func (f fate) refused() bool { return !f.acked && f.unknown == 0 }

// fates sums a journal up by event. An attempt without an end is unknown: its producer was cut off.
func fates(notes []note) map[string]fate {
	all := map[string]fate{}
	for _, n := range notes {
		f := all[n.id()]
		switch n.kind {
		case noteAttempt:
			f.attempts++
			f.unknown++ // until its end is read
		case noteAck:
			f.acked = true
			f.unknown--
		case noteFail:
			f.unknown--
		case noteUnknown:
		}
		all[n.id()] = f
	}
	return all
}
