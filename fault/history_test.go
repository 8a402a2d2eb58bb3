package fault

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// history is everything that is known once a run is over: what producers noted, what the broker holds and
// what the database holds. The checks read nothing else, so that each can be shown to fail.
type history struct {
	notes   []note
	foreign []place // records that another producer wrote past the API and the broker acknowledged
	records []logged
	rows    []stored
	letters []letter
	copies  []place // of the records whose dead letters were published, as often as the topic has them
	queued  int     // messages of the outbox that are not published
	ledger  []entry
	changes []change
	marks   []checkpoint
	commits []groupCommit
	rolled  int64 // events that the rollups count
}

// place is where a record is in the one topic of a run.
type place struct {
	part   int32
	offset int64
}

func (p place) String() string { return fmt.Sprintf("partition %d offset %d", p.part, p.offset) }

// logged is a record of the broker; its identity is empty where it has none.
type logged struct {
	place
	id string
}

// stored is a row of the event table.
type stored struct {
	place
	commit  int64
	id, key string
}

// letter is a row of the dead letters.
type letter struct {
	place
	commit     int64
	id, reason string
}

// entry is a row of the ledger.
type entry struct {
	part                                      int32
	commit, from, to                          int64
	stored, duplicate, dead, skipped, expired int64
}

// change is one write to a checkpoint, as a trigger of ours has seen it, in the order of the row's lock. The
// first one of a partition has no old values. writer is the process that wrote.
type change struct {
	part                   int32
	oldNext, newNext       int64
	oldCommits, newCommits int64
	oldEpoch, newEpoch     int64
	writer                 string
}

// checkpoint is a checkpoint at the end, and where the partition's log ends.
type checkpoint struct {
	part              int32
	next, commits, at int64 // at is the log's end
	state             string
}

// groupCommit is an offset that was committed to the group while the checkpoint was durable up to mark.
type groupCommit struct {
	place
	mark int64
}

// check says what promises a history breaks, each with the number of its invariant.
func (h *history) check() []string {
	return slices.Concat(h.noLoss(), h.noDuplicate(), h.noPhantom(), h.order(), h.neverAhead(), h.contiguous(), h.accounted(), h.published(), h.fenced(), h.live())
}

// noLoss is I1: what was acknowledged is stored or a dead letter.
func (h *history) noLoss() (broken []string) {
	rows, letters := h.byID()
	for id, f := range fates(h.notes) {
		if f.acked && rows[id] == 0 && letters[id] == 0 {
			broken = append(broken, "I1: "+id+" was acknowledged and is neither stored nor a dead letter")
		}
	}
	outcome := h.outcomes()
	for _, p := range h.foreign {
		if outcome[p] == 0 {
			broken = append(broken, fmt.Sprintf("I1: the foreign record at %s has no outcome", p))
		}
	}
	return broken
}

// noDuplicate is I2: an identity is stored once.
func (h *history) noDuplicate() (broken []string) {
	rows, _ := h.byID()
	for id, n := range rows {
		if n > 1 {
			broken = append(broken, fmt.Sprintf("I2: %s is stored %d times", id, n))
		}
	}
	return broken
}

// noPhantom is I3: nothing is stored or a dead letter that was never sent, or only sent with the answer that
// it was not published. Foreign records have no identity.
func (h *history) noPhantom() (broken []string) {
	sent := fates(h.notes)
	rows, letters := h.byID()
	for _, where := range []map[string]int{rows, letters} {
		for id := range where {
			if id == "" {
				continue
			}
			if f, ok := sent[id]; !ok {
				broken = append(broken, "I3: "+id+" is there and was never sent")
			} else if f.refused() {
				broken = append(broken, "I3: "+id+" is there and was refused")
			}
		}
	}
	return broken
}

// order is I4: the events of a key are stored in the order of their numbers, in one partition, and commits
// follow offsets.
func (h *history) order() (broken []string) {
	rows := slices.Clone(h.rows)
	slices.SortFunc(rows, func(a, b stored) int {
		return cmp.Or(cmp.Compare(a.part, b.part), cmp.Compare(a.commit, b.commit), cmp.Compare(a.offset, b.offset))
	})
	type last struct {
		part int32
		n    int
	}
	keys, offsets := map[string]last{}, map[int32]int64{}
	for _, r := range rows {
		if at, ok := offsets[r.part]; ok && r.offset <= at {
			broken = append(broken, fmt.Sprintf("I4: %s was stored by commit %d, after offset %d", r.place, r.commit, at))
		}
		offsets[r.part] = r.offset
		n, err := strconv.Atoi(r.id[strings.LastIndexByte(r.id, '-')+1:])
		if err != nil {
			broken = append(broken, "I4: "+r.id+" has no number")
			continue
		}
		before, ok := keys[r.key]
		switch {
		case ok && before.part != r.part:
			broken = append(broken, fmt.Sprintf("I4: %s is in partition %d, its key was in %d", r.id, r.part, before.part))
		case ok && before.n >= n:
			broken = append(broken, fmt.Sprintf("I4: %s is stored after number %d", r.id, before.n))
		}
		keys[r.key] = last{r.part, n}
	}
	return broken
}

// neverAhead is I5: no offset is committed to the group that is not durable.
func (h *history) neverAhead() (broken []string) {
	for _, c := range h.commits {
		if c.offset > c.mark {
			broken = append(broken, fmt.Sprintf("I5: %s was committed to the group, durable was %d", c.place, c.mark))
		}
	}
	return broken
}

// contiguous is I6: the ranges of the ledger are adjacent, and each is one advance of the checkpoint as the
// trigger has seen it.
func (h *history) contiguous() (broken []string) {
	type advance struct {
		part             int32
		commit, from, to int64
	}
	seen := map[advance]int{}
	for _, c := range h.changes {
		if c.newCommits != c.oldCommits {
			seen[advance{c.part, c.newCommits, c.oldNext, c.newNext}]++
		} else if c.newNext != c.oldNext {
			broken = append(broken, fmt.Sprintf("I6: the checkpoint of partition %d moved from %d to %d without a commit", c.part, c.oldNext, c.newNext))
		}
	}
	ledger := slices.Clone(h.ledger)
	slices.SortFunc(ledger, func(a, b entry) int { return cmp.Or(cmp.Compare(a.part, b.part), cmp.Compare(a.commit, b.commit)) })
	var before entry
	for i, e := range ledger {
		if i == 0 || before.part != e.part {
			before = entry{part: e.part}
		}
		if e.from != before.to || e.commit != before.commit+1 || e.to <= e.from {
			broken = append(broken, fmt.Sprintf("I6: commit %d of partition %d is [%d, %d), after commit %d up to %d", e.commit, e.part, e.from, e.to, before.commit, before.to))
		}
		before = e
		at := advance{e.part, e.commit, e.from, e.to}
		if seen[at]--; seen[at] < 0 {
			broken = append(broken, fmt.Sprintf("I6: commit %d of partition %d is in the ledger and moved no checkpoint", e.commit, e.part))
		}
	}
	for at, n := range seen {
		if n > 0 {
			broken = append(broken, fmt.Sprintf("I6: commit %d of partition %d moved the checkpoint and is not in the ledger", at.commit, at.part))
		}
	}
	return broken
}

// accounted is I7: every record below the checkpoint has exactly one outcome, and the ledger and the rollups
// count the same.
func (h *history) accounted() (broken []string) {
	outcome := h.outcomes()
	identity := map[string]bool{}
	for _, r := range h.rows {
		identity[r.id] = true
	}
	next := map[int32]int64{}
	for _, m := range h.marks {
		next[m.part] = m.next
	}
	duplicates := map[int32]int64{}
	for _, r := range h.records {
		if r.offset >= next[r.part] {
			continue
		}
		switch n := outcome[r.place]; {
		case n == 1:
		case n > 1:
			broken = append(broken, fmt.Sprintf("I7: %s has %d outcomes", r.place, n))
		case identity[r.id]:
			duplicates[r.part]++
		default:
			broken = append(broken, fmt.Sprintf("I7: %s (%s) has no outcome", r.place, r.id))
		}
		delete(outcome, r.place)
	}
	for p := range outcome {
		broken = append(broken, fmt.Sprintf("I7: the outcome at %s is of no record below the checkpoint", p))
	}
	type sums struct{ rows, letters int64 }
	real := map[[2]int64]sums{} // by partition and commit
	for _, r := range h.rows {
		s := real[[2]int64{int64(r.part), r.commit}]
		s.rows++
		real[[2]int64{int64(r.part), r.commit}] = s
	}
	for _, l := range h.letters {
		s := real[[2]int64{int64(l.part), l.commit}]
		s.letters++
		real[[2]int64{int64(l.part), l.commit}] = s
	}
	var total int64
	for _, e := range h.ledger {
		s := real[[2]int64{int64(e.part), e.commit}]
		if e.stored != s.rows || e.dead != s.letters || e.stored+e.duplicate+e.dead+e.skipped+e.expired != e.to-e.from {
			broken = append(broken, fmt.Sprintf("I7: commit %d of partition %d is %+v in the ledger, there are %d rows and %d letters of it",
				e.commit, e.part, e, s.rows, s.letters))
		}
		duplicates[e.part] -= e.duplicate
		total += e.stored
	}
	for part, n := range duplicates {
		if n != 0 {
			broken = append(broken, fmt.Sprintf("I7: the ledger of partition %d misses %d duplicates", part, n))
		}
	}
	if h.rolled != total {
		broken = append(broken, fmt.Sprintf("I7: the rollups count %d events, the ledger %d", h.rolled, total))
	}
	return broken
}

// published is I8: a dead letter committed if, and only if, the dead-letter topic has its copy, once or more
// often, and nothing waits to be published.
func (h *history) published() (broken []string) {
	copies := map[place]int{}
	for _, p := range h.copies {
		copies[p]++
	}
	for _, l := range h.letters {
		if copies[l.place] == 0 {
			broken = append(broken, fmt.Sprintf("I8: the dead letter of %s was not published", l.place))
		}
		delete(copies, l.place)
	}
	for p := range copies {
		broken = append(broken, fmt.Sprintf("I8: a dead letter of %s was published and is none", p))
	}
	if h.queued != 0 {
		broken = append(broken, fmt.Sprintf("I8: %d messages wait in the outbox", h.queued))
	}
	return broken
}

// fenced is I9: an owner's epoch never falls, and only the newest owner writes.
func (h *history) fenced() (broken []string) {
	type owner struct {
		epoch  int64
		writer string
	}
	owners := map[int32]owner{}
	for _, c := range h.changes {
		o := owners[c.part]
		if c.newEpoch < o.epoch {
			broken = append(broken, fmt.Sprintf("I9: partition %d went from epoch %d to %d", c.part, o.epoch, c.newEpoch))
		}
		if c.newCommits != c.oldCommits && c.writer != o.writer {
			broken = append(broken, fmt.Sprintf("I9: %s wrote commit %d of partition %d, which %s owned", c.writer, c.newCommits, c.part, o.writer))
		}
		if c.newEpoch > o.epoch {
			owners[c.part] = owner{c.newEpoch, c.writer}
		}
	}
	return broken
}

// live is I10: after healing every checkpoint is at its log's end and none is stuck.
func (h *history) live() (broken []string) {
	for _, m := range h.marks {
		if m.next != m.at || m.state != "running" {
			broken = append(broken, fmt.Sprintf("I10: partition %d is %s at %d, its log ends at %d", m.part, m.state, m.next, m.at))
		}
	}
	return broken
}

// byID counts rows and letters by identity.
func (h *history) byID() (rows, letters map[string]int) {
	rows, letters = map[string]int{}, map[string]int{}
	for _, r := range h.rows {
		rows[r.id]++
	}
	for _, l := range h.letters {
		letters[l.id]++
	}
	return rows, letters
}

// outcomes counts rows and letters by place.
func (h *history) outcomes() map[place]int {
	n := map[place]int{}
	for _, r := range h.rows {
		n[r.place]++
	}
	for _, l := range h.letters {
		n[l.place]++
	}
	return n
}
