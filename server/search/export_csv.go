package search

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"oriel/server/cloudevents"
	"oriel/server/lexicon"
	"oriel/server/query"
)

// csv writes RFC 4180: a header line and a line an event, each ended by CR LF.
type csv struct {
	out     *buffer
	columns []heading
}

// heading is one column of a CSV: its name and its value in an event.
type heading struct {
	name string
	of   func(e *full) string
	// number says of an event whose value begins like one whether it is a number and no text; nil: never.
	number func(e *full) bool
}

const acceptedColumns = "time, occurredAt, ingestTime, id, source, type, subject, severity, datacontenttype, dataschema, data, dataBase64, trace, " +
	"topic, partition, offset, tag or another facet, ext.<name>, data.<path>"

func defaultColumns() []string {
	return []string{"time", "type", "source", "subject", "id", "severity", "data"}
}

// columnOf is the column of a name: a field of the query language, or what else an event has.
func columnOf(s query.Schema, name string) (heading, error) {
	one := func(of func(*Detail) string) (heading, error) {
		return heading{name: name, of: func(e *full) string { return of(&e.Detail) }}, nil
	}
	switch name {
	case "time":
		return one(func(d *Detail) string { return d.TimeText })
	case "occurredAt":
		return one(func(d *Detail) string { return query.FormatTime(d.OccurredAt) })
	case "ingestTime":
		return one(func(d *Detail) string { return ingestText(d.KafkaTime) })
	case "topic":
		return one(func(d *Detail) string { return d.Position.Topic })
	case "partition":
		return one(func(d *Detail) string { return strconv.Itoa(int(d.Position.Partition)) })
	case "offset":
		return one(func(d *Detail) string { return strconv.FormatInt(d.Position.Offset, 10) })
	case "data":
		h, err := one(func(d *Detail) string { text, _ := textOrBase64(d.Data); return value(text) })
		h.number = func(e *full) bool {
			json, _ := cloudevents.Claims(e.candidate.ContentType, e.candidate.Flags)
			return json
		}
		return h, err
	case "dataBase64":
		return one(func(d *Detail) string { _, encoded := textOrBase64(d.Data); return value(encoded) })
	}
	f, err := query.FieldOf(s, name)
	if err != nil {
		return heading{}, err
	}
	h := heading{name: f.String(), of: func(e *full) string { return query.Cell(f, &e.candidate) }}
	switch f.Kind { //nolint:exhaustive // the others are texts, or have no sign
	case query.Data:
		h.number = func(e *full) bool {
			text := query.Equal{Field: f, Value: query.Cell(f, &e.candidate), Text: true}
			return !query.NewVerifier(text).Match(&e.candidate)
		}
	case query.Extension:
		h.number = func(e *full) bool {
			for i := 0; i+2 < len(e.candidate.Attributes); i += 3 {
				if e.candidate.Attributes[i] == f.Name {
					return e.candidate.Attributes[i+1] == "integer"
				}
			}
			return false
		}
	}
	return h, nil
}

func (w *csv) begin(*exporting) error {
	for i, c := range w.columns {
		w.cell(i, c.name, false)
	}
	w.out.b = append(w.out.b, '\r', '\n')
	return nil
}

func (w *csv) event(e *full) error {
	for i := range w.columns {
		c := &w.columns[i]
		text := c.of(e)
		w.cell(i, text, c.number != nil && lexicon.IsNumber(text) && c.number(e))
		if len(w.columns) == 1 && text == "" { // an empty line would be none to many readers
			w.out.b = append(w.out.b, `""`...)
		}
	}
	w.out.b = append(w.out.b, '\r', '\n')
	return nil
}

// end has nothing to write: a CSV that is cut is known by the connection, which ends early.
func (w *csv) end(_ *exporting, cut error) error {
	if cut == nil {
		return w.out.flush()
	}
	return nil
}

func (w *csv) cell(i int, text string, number bool) {
	if i > 0 {
		w.out.b = append(w.out.b, ',')
	}
	w.out.b = appendCell(w.out.b, text, number)
}

// appendCell writes one cell.
func appendCell(b []byte, text string, number bool) []byte {
	if !number && guarded(text) {
		text = "'" + text
	}
	if !strings.ContainsAny(text, ",\"\r\n") && text == strings.TrimSpace(text) {
		return append(b, text...)
	}
	b = append(b, '"')
	b = append(b, strings.ReplaceAll(text, `"`, `""`)...)
	return append(b, '"')
}

// guarded says whether a spreadsheet could take a text for a formula, or for the number that it is not: it then gets
// an apostrophe, which makes it text. One that begins with an apostrophe gets another, so that taking one away gives
// every value back. What is a number is no formula, whatever its sign, and gets none.
func guarded(text string) bool {
	first, _ := utf8.DecodeRuneInString(text)
	return strings.ContainsRune("=+-@\t\r\n'＝＋－＠", first) && text != ""
}
