package consume

import (
	"encoding/binary"

	"oriel/server/cloudevents"
)

// stagingTable makes a connection's staging table. A value that is compressed here moves into the event
// table as it is. (Keeping data in line and lexemes out of line costs the server 12 % more; measured.)
const stagingTable = `CREATE TEMP TABLE IF NOT EXISTS event_in (
	ordinal integer, occurred_at timestamptz, "offset" bigint, kafka_time timestamptz, digest bigint,
	severity smallint, flags smallint, source text, id text, type text, subject text, time_text text,
	dataschema text, datacontenttype text, attributes text[], tags text[], facets text[],
	lexemes bigint[], trace_id bytea, record_key bytea, headers bytea[], data bytea
) ON COMMIT DELETE ROWS`

const stagingColumns = 22

// The two halves of moving rows from the stage into the event table. Rows go in by ordinal, the order
// of (occurred_at, source, id): two consumers that insert the same identities wait in one order.
const (
	copyStage = `COPY event_in FROM STDIN BINARY`
	moveStage = `INSERT INTO event (occurred_at, log, partition, "offset", commit, kafka_time, digest, severity, flags,
	facets_version, source, id, type, subject, time_text, dataschema, datacontenttype, attributes, tags, facets,
	lexemes, trace_id, record_key, headers, data)
SELECT occurred_at, $1, $2, "offset", $3, kafka_time, digest, severity, flags, $4, source, id, type, subject,
	time_text, dataschema, datacontenttype, attributes, tags, facets, lexemes, trace_id, record_key, headers, data
  FROM event_in ORDER BY ordinal
ON CONFLICT (occurred_at, source, id) DO NOTHING
RETURNING "offset"`
)

// Type OIDs of array elements in COPY's binary format.
const (
	oidBytea = 17
	oidInt8  = 20
	oidText  = 25
)

// copyHeader is the signature, flags and header extension of COPY's binary format.
const copyHeader = "PGCOPY\n\xff\r\n\x00" + "\x00\x00\x00\x00" + "\x00\x00\x00\x00"

// postgresEpoch is 2000-01-01 in Unix microseconds.
const postgresEpoch = 946684800 * 1_000_000

// stage writes the candidates in COPY's binary format, ahead of the transaction that sends them.
func (b *batch) stage() {
	size := len(copyHeader) + 2
	for _, i := range b.order {
		r := &b.rows[i]
		size += 512 + len(r.record.Value) + 12*len(r.lexemes)
	}
	w := copyWriter{buf: append(make([]byte, 0, size), copyHeader...)}
	for n, i := range b.order {
		w.row(n, &b.rows[i])
	}
	b.staged = w.int16(-1).buf
}

type copyWriter struct{ buf []byte }

func (w *copyWriter) row(ordinal int, r *row) {
	e := r.event
	w.int16(stagingColumns)
	w.int32(4).int32(int32(ordinal))
	w.time(r.micros)
	w.int64field(r.record.Offset)
	w.time(kafkaTime(r.record).UnixMicro())
	w.int64field(r.digest)
	if r.severity == 0 {
		w.null()
	} else {
		w.int32(2).int16(r.severity)
	}
	w.int32(2).int16(int16(r.flags))
	w.text(e.Source)
	w.text(e.ID)
	w.text(e.Type)
	w.optional(e.Subject)
	w.text(e.TimeText)
	w.optional(e.DataSchema)
	w.optional(e.DataContentType)
	w.texts(attributes(e))
	w.texts(r.tags)
	w.texts(r.facets)
	w.int64s(r.lexemes)
	w.bytes(r.trace)
	w.bytes(r.record.Key)
	w.byteses(flatHeaders(r.headers))
	w.bytes(e.Data)
}

// attributes are the extensions as (name, type, value) triples.
func attributes(e *cloudevents.Event) []string {
	if len(e.Extensions) == 0 {
		return nil
	}
	out := make([]string, 0, 3*len(e.Extensions))
	for i := range e.Extensions {
		x := &e.Extensions[i]
		out = append(out, x.Name, typeName(x.Type), x.Value)
	}
	return out
}

func typeName(t cloudevents.Type) string {
	switch t {
	case cloudevents.Boolean:
		return "boolean"
	case cloudevents.Integer:
		return "integer"
	default:
		return "string"
	}
}

// flatHeaders are (name, value) pairs in order; a null value stays null.
func flatHeaders(hs []cloudevents.Header) [][]byte {
	if len(hs) == 0 {
		return nil
	}
	out := make([][]byte, 0, 2*len(hs))
	for i := range hs {
		out = append(out, []byte(hs[i].Key), hs[i].Value)
	}
	return out
}

func (w *copyWriter) int16(v int16) *copyWriter {
	w.buf = binary.BigEndian.AppendUint16(w.buf, uint16(v))
	return w
}

func (w *copyWriter) int32(v int32) *copyWriter {
	w.buf = binary.BigEndian.AppendUint32(w.buf, uint32(v))
	return w
}

func (w *copyWriter) int64field(v int64) {
	w.int32(8)
	w.buf = binary.BigEndian.AppendUint64(w.buf, uint64(v))
}

func (w *copyWriter) null()             { w.int32(-1) }
func (w *copyWriter) time(micros int64) { w.int64field(micros - postgresEpoch) }

func (w *copyWriter) text(s string) {
	w.int32(int32(len(s)))
	w.buf = append(w.buf, s...)
}

func (w *copyWriter) optional(s string) {
	if s == "" {
		w.null()
		return
	}
	w.text(s)
}

func (w *copyWriter) bytes(b []byte) {
	if b == nil {
		w.null()
		return
	}
	w.int32(int32(len(b)))
	w.buf = append(w.buf, b...)
}

// array writes a one-dimensional array's length placeholder and header; end fills the length in.
func (w *copyWriter) array(elements, oid int, nulls bool) (at int) {
	at = len(w.buf)
	w.int32(0).int32(1)
	if nulls {
		w.int32(1)
	} else {
		w.int32(0)
	}
	w.int32(int32(oid)).int32(int32(elements)).int32(1)
	return at
}

func (w *copyWriter) end(at int) {
	binary.BigEndian.PutUint32(w.buf[at:], uint32(len(w.buf)-at-4))
}

func (w *copyWriter) texts(vs []string) {
	if len(vs) == 0 {
		w.null()
		return
	}
	at := w.array(len(vs), oidText, false)
	for _, v := range vs {
		w.text(v)
	}
	w.end(at)
}

func (w *copyWriter) int64s(vs []int64) {
	if len(vs) == 0 {
		w.null()
		return
	}
	at := w.array(len(vs), oidInt8, false)
	for _, v := range vs {
		w.int64field(v)
	}
	w.end(at)
}

func (w *copyWriter) byteses(vs [][]byte) {
	if len(vs) == 0 {
		w.null()
		return
	}
	nulls := false
	for _, v := range vs {
		nulls = nulls || v == nil
	}
	at := w.array(len(vs), oidBytea, nulls)
	for _, v := range vs {
		w.bytes(v)
	}
	w.end(at)
}
