package search

import (
	"bytes"
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"oriel/server/fault"
	"oriel/server/query"
)

func TestAListHasTheColumnsThatWereAsked(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	long := `{"n":"` + strings.Repeat("é", cellBytes) + `"}`
	st.add(
		sample{id: "number", at: noon().Add(-time.Minute), data: []byte(`{"n":9007199254740993.10,"a":[{"k":1},{"k":"1"}]}`), extensions: []string{"retry", "integer", "3"}, traceID: bytes.Repeat([]byte{1}, 16)},
		sample{id: "text", at: noon().Add(-2 * time.Minute), data: []byte(`{"n":"9007199254740993.10","a":[{"k":""}]}`)},
		sample{id: "null", at: noon().Add(-3 * time.Minute), data: []byte(`{"n":null,"a":[]}`)},
		sample{id: "long", at: noon().Add(-4 * time.Minute), data: []byte(long)},
		sample{id: "none", at: noon().Add(-5 * time.Minute)},
	)
	want := map[string][]Cell{
		"number": {{query.CellNumber, "9007199254740993.10", false}, {query.CellSeveral, `[1,"1"]`, false}, {query.CellNumber, "3", false}, {query.CellString, strings.Repeat("01", 16), false}},
		"text":   {{query.CellString, "9007199254740993.10", false}, {query.CellString, "", false}, {query.CellAbsent, "", false}, {query.CellAbsent, "", false}},
		"null":   {{query.CellNull, "null", false}, {query.CellAbsent, "", false}, {query.CellAbsent, "", false}, {query.CellAbsent, "", false}},
		"long":   {{query.CellString, strings.Repeat("é", cellBytes/2), true}, {query.CellAbsent, "", false}, {query.CellAbsent, "", false}, {query.CellAbsent, "", false}},
		"none":   {{query.CellAbsent, "", false}, {query.CellAbsent, "", false}, {query.CellAbsent, "", false}, {query.CellAbsent, "", false}},
	}
	columns := []string{"columns", "data.n", "columns", "data.a[*].k", "columns", "ext.retry", "columns", "trace"}
	for _, size := range []string{"1", "2", "500"} {
		events, _ := st.all(append([]string{"pageSize", size}, columns...)...)
		if len(events) != len(want) {
			t.Fatalf("%d events on pages of %s", len(events), size)
		}
		for _, e := range events {
			if !slices.Equal(e.Columns, want[e.ID]) {
				t.Errorf("on pages of %s %s has %v, want %v", size, e.ID, e.Columns, want[e.ID])
			}
		}
	}

	first := st.list("pageSize", "2", "columns", "data.n")
	second := st.list("pageSize", "2", "pageToken", first.NextToken, "columns", "ext.retry")
	back := st.list("pageSize", "2", "pageToken", second.PrevToken, "columns", "ext.retry", "columns", "data.n")
	if got := ids(back.Events); !slices.Equal(got, []string{"number", "text"}) || back.Events[0].Columns[0].Text != "3" || back.Events[1].Columns[1].Text != "9007199254740993.10" {
		t.Errorf("upward, with other columns: %v", back.Events)
	}
	for _, e := range st.list().Events {
		if e.Columns != nil {
			t.Errorf("%s has %v, which nobody asked for", e.ID, e.Columns)
		}
	}
}

func TestColumnsThatAreNoneAreRefused(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	for _, c := range []struct {
		params []string
		want   int
	}{
		{[]string{"columns", "data.[", "columns", "colour", "columns", "data.a"}, 2},
		{slices.Repeat([]string{"columns", "id"}, maxListColumns+1), 1},
		{slices.Repeat([]string{"columns", "id"}, maxListColumns), 0},
		{[]string{"columns", ""}, 0},
	} {
		_, err := st.svc.List(t.Context(), values(c.params...))
		if c.want == 0 {
			if err != nil {
				t.Errorf("%v: %v", c.params, err)
			}
			continue
		}
		violations := fault.Of(err).Violations
		if len(violations) != c.want {
			t.Fatalf("%v: %v", c.params, violations)
		}
		for _, v := range violations {
			if v.Reason != fault.ReasonInvalidParameter || v.Metadata["attribute"] != "columns" {
				t.Errorf("%v: %v", c.params, v)
			}
		}
	}
}

func TestOnlySoMuchDataIsReadForAPagesColumns(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	for i := range 4 {
		st.add(sample{id: strconv.Itoa(i), at: noon().Add(-time.Duration(i+1) * time.Minute), data: jsonOf(map[string]any{"n": i, "fill": strings.Repeat("x", 1000)})})
	}
	rows := make([]*row, 4)
	for i, e := range st.list().Events {
		size := int32(e.DataSize)
		rows[i] = &row{key: key{at: e.OccurredAt.UnixMicro(), log: e.Position.Log, partition: e.Position.Partition, offset: e.Position.Offset}, size: &size}
	}
	column, err := query.FieldOf(st.svc.schema, "data.n")
	if err != nil {
		t.Fatal(err)
	}
	err = st.svc.run(t.Context(), "list", nil, func(ctx context.Context, ses *session) error {
		cells, err := readCells(ctx, ses, rows, []query.Field{column}, 2500)
		if len(cells) != 2 || cells[rows[0].key][0].Text != "0" || cells[rows[1].key][0].Text != "1" {
			t.Errorf("read %v", cells)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if s := cellsOf(&query.Candidate{Subject: strings.Repeat("a", cellBytes-1) + "é"}, []query.Field{{Kind: query.Attribute, Name: "subject"}}); !s[0].Cut || !utf8.ValidString(s[0].Text) || len(s[0].Text) != cellBytes-1 {
		t.Errorf("a text is cut to %d bytes", len(s[0].Text))
	}
}
