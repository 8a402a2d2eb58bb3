package search

import "time"

const oneDay = 24 * time.Hour

// limits bound the work of one request.
type limits struct {
	slots      int           // searches at once
	wait       time.Duration // for a slot and a connection, then SEARCH_BUSY
	statement  time.Duration // any one statement, then QUERY_TIMEOUT
	probing    time.Duration // looking for hits; words that take longer are dense
	countRows  int           // that may fulfil conditions and are counted one by one
	counting   time.Duration // of everything that fulfils exact conditions; then a count says "at least"
	budget     time.Duration // of a walk; then the answer says how far it looked
	others     time.Duration // for the other times of an identity
	catchUp    time.Duration // for a standby to have what a token has seen; then the primary answers
	walk       int           // rows that a walk examines
	glance     int           // rows of the page index that tell how dense words are
	peek       int           // rows of the page index that are tried where the words are dense
	probe      int           // hits above which a word is dense
	dayProbe   int           // the same within one day
	set        int           // matches of a set
	setBytes   int           // of all sets that are kept
	rounds     int           // budgets that a set may take, one a request
	pause      time.Duration // before the next: numbers that are asked for together are of the same
	newer      int           // rows dropped as newer, then SNAPSHOT_TOO_OLD
	expansions int           // words that one prefix may stand for
	types      int           // event types that a path may narrow a search to
	age        time.Duration // of a snapshot, then SNAPSHOT_EXPIRED
	firstChunk int           // rows of a walk's first statement, doubled up to lastChunk
	lastChunk  int
}

func defaultLimits(conns int32) limits {
	return limits{
		slots: max(1, int(conns)-1), wait: 2 * time.Second, statement: 8 * time.Second, probing: 500 * time.Millisecond,
		countRows: 500_000, counting: 500 * time.Millisecond, budget: 250 * time.Millisecond, others: 100 * time.Millisecond,
		catchUp: 500 * time.Millisecond, walk: 20_000, glance: 500, peek: 10_000, probe: 1_000, dayProbe: 10_000, set: 10_000,
		setBytes: 64 << 20, rounds: 10, pause: 2 * time.Second, newer: 20_000, expansions: 1_000, types: 1_000, age: time.Hour, firstChunk: 500, lastChunk: 5_000,
	}
}
