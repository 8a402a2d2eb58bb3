package search

import (
	"context"
	"fmt"
	"strconv"
	"unicode/utf8"

	"oriel/server/query"
)

const (
	maxListColumns = 16
	// cellBytes is how much of a value a list has: more than any column shows, and enough for a condition on it.
	cellBytes = 4096
	// cellsBytes is how much data is read for the columns of one page.
	cellsBytes = 16 << 20
)

// Cell is the value of a field of an event as a list shows it.
type Cell struct {
	Kind query.CellKind
	Text string // as query.Cell has it
	Cut  bool   // Text is only the beginning
}

// listColumns are the fields whose values a list is asked for.
func (s *Service) listColumns(d *decoder) []query.Field {
	names := d.Values("columns")
	if len(names) > maxListColumns {
		d.Invalid("columns", strconv.Itoa(len(names))+" columns", "at most "+strconv.Itoa(maxListColumns), fmt.Sprintf("There are more than %d columns.", maxListColumns))
		return nil
	}
	fields := make([]query.Field, 0, len(names))
	for _, name := range names {
		f, err := query.FieldOf(s.schema, name)
		if err != nil {
			d.Invalid("columns", name, "a field of the query language, such as ext.<name> or data.<path>", "There is no column "+query.Quote(name)+": "+err.Error()+".")
			continue
		}
		fields = append(fields, f)
	}
	return fields
}

// readCells reads the values of the columns of a page's rows, in runs that fit into memory together. Rows beyond
// the bytes that a page may read, and one that is larger, have none.
func readCells(ctx context.Context, ses *session, rows []*row, columns []query.Field, most int) (map[key][]Cell, error) {
	cells := make(map[key][]Cell, len(rows))
	var run []place
	total, bytes := 0, 0
	flush := func() error {
		if len(run) == 0 {
			return nil
		}
		events, err := eventsAt(ctx, ses, run)
		if err != nil {
			return err
		}
		for i := range events {
			e := fullOf(&events[i])
			cells[rowKey(e)] = cellsOf(&e.candidate, columns)
		}
		run, bytes = run[:0], 0
		return nil
	}
	for _, r := range rows {
		size := int(value(r.size))
		if total+size > most {
			continue
		}
		if bytes+size > exportChunk {
			if err := flush(); err != nil {
				return nil, err
			}
		}
		run = append(run, place{r.key, size})
		total, bytes = total+size, bytes+size
	}
	return cells, flush()
}

func rowKey(e *full) key {
	return key{at: e.OccurredAt.UnixMicro(), log: e.Position.Log, partition: e.Position.Partition, offset: e.Position.Offset}
}

func cellsOf(c *query.Candidate, columns []query.Field) []Cell {
	out := make([]Cell, len(columns))
	for i, f := range columns {
		kind, text := query.KindedCell(f, c)
		out[i] = Cell{Kind: kind, Text: text}
		if len(text) > cellBytes {
			n := cellBytes
			for n > 0 && !utf8.RuneStart(text[n]) {
				n--
			}
			out[i].Text, out[i].Cut = text[:n], true
		}
	}
	return out
}
