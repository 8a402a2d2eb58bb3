package search

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"oriel/server/cloudevents"
	"oriel/server/db"
	"oriel/server/lexicon"
	"oriel/server/query"
)

const (
	defaultFields = 100
	maxFields     = 1_000
	fieldSample   = 1_000   // events
	fieldBytes    = 8 << 20 // of their data
	fieldTop      = 5       // values of each field
	fieldTopOfOne = 20
	fieldTypes    = 500    // whose paths are listed
	fieldPaths    = 20_000 // of all of them
)

// fieldsAsk is what is asked for beside the filter.
type fieldsAsk struct {
	contains string
	field    *query.Field // its statistics alone
	limit    int
}

// fieldList lists the fields of the events of a filter: those that a sample of the newest has, and those that
// their types had before.
func (s *Service) fieldList(ctx context.Context, ses *session, where query.And, v *view, ask fieldsAsk) (*Fields, error) {
	found, err := s.set(ctx, ses, where, v)
	if err != nil {
		return nil, err
	}
	stats := newFieldStats(s.schema.Facets)
	matches, _ := found.sample()
	n, err := sampleFields(ctx, ses, matches, stats)
	if err != nil {
		return nil, err
	}
	all := found.relation == IsExact && n == len(matches)
	out := &Fields{Sample: int64(n), Covered: found.covered, Snapshot: v.token(), More: stats.full}
	if n > 0 && !all {
		out.Covered.From = time.UnixMicro(matches[n-1].key.at).UTC()
	}
	if ask.field != nil {
		var one *fieldStat
		stats.each(func(f query.Field, st *fieldStat) {
			if f == *ask.field {
				one = st
			}
		})
		if one != nil {
			out.Fields, out.More = []FieldStatistics{one.statistics(*ask.field, fieldTopOfOne, all)}, false
			return out, nil
		}
	}
	list, more, err := s.listedFields(ctx, ses, where, v, found, stats)
	if err != nil {
		return nil, err
	}
	out.More = out.More || more
	if ask.field != nil {
		// What the sample does not have may be known of the types. Else it has no kinds.
		one := &fieldStat{}
		if i := slices.IndexFunc(list, func(f listedField) bool { return f.field == *ask.field }); i >= 0 {
			one, out.More = list[i].stat, false
		}
		out.More = out.More && ask.field.Kind == query.Data
		out.Fields = []FieldStatistics{one.statistics(*ask.field, fieldTopOfOne, all)}
		return out, nil
	}
	wanted := seek(ask.contains)
	for _, f := range list {
		switch {
		case !wanted.in(f.field.String()):
		case len(out.Fields) == ask.limit:
			out.More = true
			return out, nil
		default:
			out.Fields = append(out.Fields, f.stat.statistics(f.field, fieldTop, all))
		}
	}
	return out, nil
}

type listedField struct {
	field query.Field
	stat  *fieldStat
}

// listedFields is the fields in order: attributes and facets, extensions, then the data, of each the most frequent
// first.
func (s *Service) listedFields(ctx context.Context, ses *session, where query.And, v *view, found *set, stats *fieldStats) (list []listedField, more bool, err error) {
	known := map[query.Field]bool{}
	stats.each(func(f query.Field, st *fieldStat) {
		// A name that is an identifier is a value in the place of a name. Those of single events are left out.
		if f.Kind == query.Data && st.present == 1 && !lexicon.ListedPath(f.Name) {
			more = true
			return
		}
		known[f] = true
		list = append(list, listedField{f, st})
	})
	types, err := s.typesOf(ctx, ses, where, v, found)
	if err != nil {
		return nil, false, err
	}
	more = more || len(types) > fieldTypes
	paths, err := db.New(ses).PathsOfTypes(ctx, db.PathsOfTypesParams{Types: types[:min(len(types), fieldTypes)], Most: fieldPaths + 1})
	if err != nil {
		return nil, false, fmt.Errorf("list the paths of types: %w", err)
	}
	more = more || len(paths) > fieldPaths
	for _, p := range paths[:min(len(paths), fieldPaths)] {
		if p.Path == lexicon.Unlisted {
			more = true
			continue
		}
		if f := (query.Field{Kind: query.Data, Name: p.Path}); !known[f] {
			list = append(list, listedField{f, &fieldStat{kinds: p.Kinds}})
		}
	}
	group := func(f query.Field) int {
		switch f.Kind {
		case query.Extension:
			return 1
		case query.Data:
			return 2
		default:
			return 0
		}
	}
	slices.SortFunc(list, func(a, b listedField) int {
		return cmp.Or(cmp.Compare(group(a.field), group(b.field)), cmp.Compare(b.stat.present, a.stat.present),
			strings.Compare(a.field.String(), b.field.String()))
	})
	return list, more, nil
}

// typesOf is the types that the events of the filter have: all of them where rollups or the set can tell, else
// those of the sample.
func (s *Service) typesOf(ctx context.Context, ses *session, where query.And, v *view, found *set) ([]string, error) {
	n := map[string]int64{}
	matches, _ := found.sample()
	for i := range matches {
		n[matches[i].kind]++
	}
	f, ok, err := ses.rolledIn(ctx, v, where)
	if err != nil {
		return nil, err
	}
	if ok && found.relation != IsExact && (f.dimension == "" || f.dimension == dimensionType) {
		read := s.rolledView(v)
		read.dimensions, read.values = []string{dimensionType}, f.values
		if f.without {
			read.values = nil
		}
		rows, err := readRollups(ctx, ses, read)
		ok, err := servedByRollups(v, err)
		if err != nil {
			return nil, err
		}
		if ok {
			for _, r := range rows {
				n[r.value] = r.n
			}
		}
	}
	return frequent(n), nil
}

// sampleFields reads the newest of the events, and answers how many it read.
func sampleFields(ctx context.Context, ses *session, matches []match, stats *fieldStats) (int, error) {
	read, size := 0, 0
	for chunk := range slices.Chunk(matches[:min(len(matches), fieldSample)], 250) {
		sql, args := compileSample(chunk)
		rows, err := ses.Query(ctx, sql, args...)
		if err != nil {
			return 0, fmt.Errorf("read a sample of events: %w", err)
		}
		for rows.Next() {
			var i int
			var flags int16
			var contentType, schema *string
			e := sampled{}
			if err := rows.Scan(&i, &flags, &contentType, &schema, &e.attributes, &e.data); err != nil {
				rows.Close()
				return 0, fmt.Errorf("read an event of the sample: %w", err)
			}
			e.match, e.flags = chunk[i-1], cloudevents.Flags(flags)
			e.contentType, e.schema = value(contentType), value(schema)
			stats.add(&e)
			read++
			size += len(e.data)
		}
		rows.Close()
		if err := rows.Err(); err != nil {
			return 0, fmt.Errorf("read a sample of events: %w", err)
		}
		if size > fieldBytes {
			break
		}
	}
	return read, nil
}

// compileSample reads events by their keys, in the order that they are given in.
func compileSample(matches []match) (sql string, args []any) {
	at := make([]time.Time, len(matches))
	logs, partitions, offsets := make([]int16, len(matches)), make([]int32, len(matches)), make([]int64, len(matches))
	for i := range matches {
		k := matches[i].key
		at[i], logs[i], partitions[i], offsets[i] = time.UnixMicro(k.at).UTC(), k.log, k.partition, k.offset
	}
	s := &statement{}
	// The bounds tell the planner which days there are; each event is a look-up in the page index.
	return `SELECT k.i, e.flags, e.datacontenttype, e.dataschema, e.attributes, e.data FROM unnest(` + s.param(at, "timestamptz[]") +
		", " + s.param(logs, "smallint[]") + ", " + s.param(partitions, "integer[]") + ", " + s.param(offsets, "bigint[]") +
		`) WITH ORDINALITY k (at, log, partition, "offset", i), LATERAL (SELECT * FROM event e WHERE e.occurred_at = k.at AND e.log = k.log
 AND e.partition = k.partition AND e."offset" = k."offset" AND e.occurred_at >= ` + s.param(at[len(at)-1], "timestamptz") +
		" AND e.occurred_at <= " + s.param(at[0], "timestamptz") + " OFFSET 0) e ORDER BY k.i", s.args
}
