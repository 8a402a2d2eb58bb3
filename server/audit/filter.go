package audit

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Filter selects entries: any of the values within a field, all fields together. A final * makes a value
// a prefix.
type Filter struct {
	Actors, Actions, Targets, Outcomes []string
	From, Until                        *time.Time // of the intent: inclusive, exclusive
	Text                               string     // occurs in actor, action, target, reason, detail or request id, in any case
	// Window is how From and Until were asked for where that was relative to now. A page token then holds for
	// requests with the same words, and its pages keep the instants of the first.
	Window string
}

// fingerprint tells filters apart, whatever the order of their values.
func (f *Filter) fingerprint() uint64 {
	h := sha256.New()
	write := func(s string) {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(s)))
		h.Write(size[:])
		h.Write([]byte(s))
	}
	for _, values := range [][]string{f.Actors, f.Actions, f.Targets, f.Outcomes} {
		values = slices.Clone(values)
		slices.Sort(values)
		values = slices.Compact(values)
		write(strconv.Itoa(len(values)))
		for _, v := range values {
			write(v)
		}
	}
	write(fold(visible(f.Text)))
	write(f.Window)
	if f.Window == "" {
		write(micros(f.From))
		write(micros(f.Until))
	}
	return binary.BigEndian.Uint64(h.Sum(nil))
}

func micros(t *time.Time) string {
	if t == nil {
		return ""
	}
	return strconv.FormatInt(t.UnixMicro(), 10)
}

// statement is a query and its arguments.
type statement struct {
	where []string
	args  []any
}

func (s *statement) arg(v any) string {
	s.args = append(s.args, v)
	return "$" + strconv.Itoa(len(s.args))
}

func (s *statement) and(condition string) { s.where = append(s.where, condition) }

const columns = `b.id, b.operation, b.at, b.action, b.actor_kind, b.actor, b.actor_id, b.roles, b.reason, b.request_id, b.address,
       coalesce(e.target, b.target), coalesce(e.detail, b.detail), coalesce(e.outcome, b.outcome, 'unknown'),
       coalesce(e.before, b.before), coalesce(e.after, b.after), coalesce(e.at, CASE b.phase WHEN 'event' THEN b.at END)`

// selection is the statement for a filter, newest first: b begins an operation, e ends it, and what one row does
// is both. Its shape follows the filter and it is planned for its values, so that one by action, actor or target
// uses its index.
func (f *Filter) selection(before int64, limit int) (string, []any) {
	var s statement
	s.and("b.phase <> 'outcome'")
	if before > 0 {
		s.and("b.id < " + s.arg(before))
	}
	if c := s.any("b.action", f.Actions, maxShort); c != "" {
		s.and(c)
	}
	if c := s.any("b.actor", f.Actors, maxActor); c != "" {
		// Names are shown and may be shared; ids tell people apart.
		ids := make([]string, len(f.Actors))
		for i, id := range f.Actors {
			ids[i] = cut(id, maxName)
		}
		s.and("(" + c + " OR b.actor_id = ANY (" + s.arg(ids) + "))")
	}
	if c := s.any("t.target", f.Targets, maxTarget); c != "" {
		s.and("b.operation IN (SELECT t.operation FROM audit t WHERE " + c + ")")
		s.and(strings.ReplaceAll(c, "t.target", "coalesce(e.target, b.target)"))
	}
	if f.From != nil {
		s.and("b.at >= " + s.arg(*f.From))
	}
	if f.Until != nil {
		s.and("b.at < " + s.arg(*f.Until))
	}
	if len(f.Outcomes) > 0 {
		s.and("coalesce(e.outcome, b.outcome, 'unknown') = ANY (" + s.arg(f.Outcomes) + ")")
	}
	if f.Text != "" {
		p := s.arg("%" + escapeLike(fold(visible(f.Text))) + "%")
		s.and("coalesce(e.folded, b.folded) LIKE " + p)
	}
	sql := "SELECT " + columns + "\n  FROM audit b LEFT JOIN audit e ON e.operation = b.operation AND e.phase = 'outcome'\n WHERE " +
		strings.Join(s.where, "\n   AND ") + "\n ORDER BY b.id DESC"
	if limit > 0 {
		sql += " LIMIT " + s.arg(limit)
	}
	return sql, s.args
}

// any is the condition that a column has one of the values; empty where every value fulfils it.
func (s *statement) any(column string, values []string, most int) string {
	var exact, either []string
	for _, v := range values {
		if prefix, ok := strings.CutSuffix(v, "*"); ok {
			if prefix == "" {
				return ""
			}
			either = append(either, column+" LIKE "+s.arg(escapeLike(visible(prefix))+"%"))
			continue
		}
		exact = append(exact, cutBytes(v, most))
	}
	switch len(exact) {
	case 0:
	case 1:
		either = append(either, column+" = "+s.arg(exact[0]))
	default:
		either = append(either, column+" = ANY ("+s.arg(exact)+")")
	}
	if len(either) == 0 {
		return ""
	}
	return "(" + strings.Join(either, " OR ") + ")"
}

func escapeLike(s string) string {
	return strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(s)
}
