package fault

import (
	"strings"
	"testing"
)

// whole is a history that keeps every promise: one key, a duplicate, a refused event, a dead letter of an
// event and one of a foreign record, and a change of owners.
func whole() *history {
	at := func(offset int64) place { return place{0, offset} }
	return &history{
		notes: []note{
			{noteAttempt, "k", 0},
			{noteUnknown, "k", 0},
			{noteAttempt, "k", 0},
			{noteAck, "k", 0},
			{noteAttempt, "k", 1},
			{noteFail, "k", 1},
			{noteAttempt, "k", 2},
			{noteAck, "k", 2},
			{noteAttempt, "k", 3},
			{noteAck, "k", 3},
			{noteAttempt, "k", 4},
		},
		foreign: []place{at(3)},
		records: []logged{{at(0), "k-0"}, {at(1), "k-0"}, {at(2), "k-2"}, {at(3), ""}, {at(4), "k-3"}, {at(5), "k-4"}},
		rows:    []stored{{at(0), 1, "k-0", "k"}, {at(4), 2, "k-3", "k"}, {at(5), 2, "k-4", "k"}},
		letters: []letter{{at(2), 1, "k-2", "REJECTED"}, {at(3), 2, "", "UNDECODABLE"}},
		copies:  []place{at(2), at(3), at(3)},
		ledger: []entry{
			{part: 0, commit: 1, from: 0, to: 3, stored: 1, duplicate: 1, dead: 1},
			{part: 0, commit: 2, from: 3, to: 6, stored: 2, dead: 1},
		},
		changes: []change{
			{part: 0, writer: "one"},
			{part: 0, newEpoch: 1, writer: "one"},
			{part: 0, oldNext: 0, newNext: 3, newCommits: 1, oldEpoch: 1, newEpoch: 1, writer: "one"},
			{part: 0, oldNext: 3, newNext: 3, oldCommits: 1, newCommits: 1, oldEpoch: 1, newEpoch: 2, writer: "two"},
			{part: 0, oldNext: 3, newNext: 6, oldCommits: 1, newCommits: 2, oldEpoch: 2, newEpoch: 2, writer: "two"},
		},
		marks:   []checkpoint{{part: 0, next: 6, commits: 2, at: 6, state: "running"}},
		commits: []groupCommit{{at(3), 3}, {at(3), 6}, {at(6), 6}},
		rolled:  3,
	}
}

func TestTheCheckerAcceptsAHistoryThatKeepsEveryPromise(t *testing.T) {
	t.Parallel()
	if broken := whole().check(); len(broken) > 0 {
		t.Errorf("%q", broken)
	}
}

func TestEveryCheckFindsWhatItIsFor(t *testing.T) {
	t.Parallel()
	for name, broken := range map[string]struct {
		spoil func(*history)
		want  string
	}{
		"an acknowledged event vanished":   {func(h *history) { h.rows = h.rows[:1] }, "I1: k-3 was acknowledged"},
		"a foreign record vanished":        {func(h *history) { h.letters = h.letters[:1] }, "I1: the foreign record"},
		"an event is stored twice":         {func(h *history) { h.rows = append(h.rows, stored{place{0, 1}, 1, "k-0", "k"}) }, "I2: k-0 is stored 2"},
		"an event was never sent":          {func(h *history) { h.rows[0].id = "x-9" }, "I3: x-9 is there and was never sent"},
		"a refused event is there":         {func(h *history) { h.rows[0].id = "k-1" }, "I3: k-1 is there and was refused"},
		"a letter was never sent":          {func(h *history) { h.letters[0].id = "x-9" }, "I3: x-9"},
		"two events of a key are swapped":  {func(h *history) { h.rows[1].id, h.rows[2].id = "k-4", "k-3" }, "I4: k-3 is stored after number 4"},
		"a key changed its partition":      {func(h *history) { h.rows[2].part = 1 }, "I4: k-4 is in partition 1"},
		"a later commit took an offset":    {func(h *history) { h.rows[1].offset, h.rows[0].offset = 0, 4 }, "I4: partition 0 offset 0 was stored by commit 2"},
		"Kafka was told too much":          {func(h *history) { h.commits[0].offset = 4 }, "I5: partition 0 offset 4"},
		"a range was skipped":              {func(h *history) { h.ledger[1].from = 4 }, "I6: commit 2 of partition 0 is [4, 6)"},
		"a range was taken twice":          {func(h *history) { h.ledger[1].from = 2 }, "I6: commit 2 of partition 0 is [2, 6)"},
		"a commit has no number":           {func(h *history) { h.ledger[1].commit = 3 }, "I6: commit 3"},
		"the ledger misses a commit":       {func(h *history) { h.ledger = h.ledger[:1] }, "I6: commit 2 of partition 0 moved the checkpoint"},
		"the ledger invents a commit":      {func(h *history) { h.changes = h.changes[:4] }, "I6: commit 2 of partition 0 is in the ledger"},
		"a checkpoint moved by itself":     {func(h *history) { h.changes[3].newNext = 4 }, "I6: the checkpoint of partition 0 moved from 3 to 4"},
		"a record has no outcome":          {func(h *history) { h.letters = h.letters[1:] }, "I7: partition 0 offset 2 (k-2) has no outcome"},
		"a record has two outcomes":        {func(h *history) { h.letters[0].offset = 0 }, "I7: partition 0 offset 0 has 2 outcomes"},
		"an outcome is of no record":       {func(h *history) { h.letters[0].offset = 9 }, "I7: the outcome at partition 0 offset 9"},
		"the ledger counts a row too many": {func(h *history) { h.ledger[0].stored, h.ledger[0].duplicate = 2, 0 }, "I7: commit 1"},
		"the ledger does not add up":       {func(h *history) { h.ledger[0].duplicate = 2 }, "I7: commit 1"},
		"a duplicate is not counted":       {func(h *history) { h.ledger[0].duplicate, h.ledger[0].skipped = 0, 1 }, "I7: the ledger of partition 0 misses 1 duplicates"},
		"the rollups count otherwise":      {func(h *history) { h.rolled = 4 }, "I7: the rollups count 4"},
		"a letter was not published":       {func(h *history) { h.copies = h.copies[1:] }, "I8: the dead letter of partition 0 offset 2"},
		"a letter was published too early": {func(h *history) { h.copies = append(h.copies, place{0, 4}) }, "I8: a dead letter of partition 0 offset 4"},
		"a message waits":                  {func(h *history) { h.queued = 1 }, "I8: 1 messages"},
		"a zombie wrote":                   {func(h *history) { h.changes[4].writer = "one" }, "I9: one wrote commit 2"},
		"an epoch fell":                    {func(h *history) { h.changes[4].newEpoch = 1 }, "I9: partition 0 went from epoch 2 to 1"},
		"a partition stands still":         {func(h *history) { h.marks[0].at = 7 }, "I10: partition 0 is running at 6"},
		"a partition is stuck":             {func(h *history) { h.marks[0].state = "fatal" }, "I10: partition 0 is fatal"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := whole()
			broken.spoil(h)
			if got := strings.Join(h.check(), "\n"); !strings.Contains(got, broken.want) {
				t.Errorf("found:\n%s\nwant %q", got, broken.want)
			}
		})
	}
}

func TestAJournalIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	j := newJournal(t)
	want := whole().notes
	for _, n := range want {
		j.write(n)
	}
	got := j.read(t)
	if len(got) != len(want) {
		t.Fatalf("%d notes, want %d", len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("note %d is %v, want %v", i, got[i], want[i])
		}
	}
	f := fates(got)
	if !f["k-0"].acked || !f["k-1"].refused() || f["k-4"].refused() || f["k-4"].acked || f["k-0"].attempts != 2 {
		t.Errorf("%+v", f)
	}
	if _, err := parseJournal("attempt k"); err == nil {
		t.Error("half a line is read")
	}
}
