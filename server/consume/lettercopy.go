package consume

import (
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"

	"oriel/server/cloudevents"

	"github.com/go-json-experiment/json"
	"github.com/jackc/pgx/v5"
	"github.com/twmb/franz-go/pkg/kgo"
)

const (
	// typeDeadLetter is the type of a dead letter's copy, an event of ours; docs/events.md describes its data.
	typeDeadLetter = "oriel.dead_letter.v1"
	// maxCopy is the largest copy that has the record in it. The topic that we make takes 64 KiB more.
	maxCopy = 2 << 20

	// The copy is enqueued where the letter is new, and commits with it.
	insertLetterAndCopy = `WITH new AS (` + insertLetter + ` RETURNING 1)
INSERT INTO outbox (order_key, seq, topic, record_key, headers, record_value, smaller_value, blocks_key)
SELECT $16, 0, $17, $18, $19, $20, $21, false FROM new
ON CONFLICT (order_key, seq) DO NOTHING`
)

// letterCopy is the data of a copy. Offsets are text: not every reader's numbers hold 64 bits.
type letterCopy struct {
	Consumer    string          `json:"consumer"`
	Reason      string          `json:"reason"`
	Detail      string          `json:"detail"`
	SQLState    string          `json:"sqlstate,omitzero"`
	Position    copiedPosition  `json:"position"`
	RecordTime  string          `json:"recordTime"`
	RecordBytes int             `json:"recordBytes"`
	Event       *copiedIdentity `json:"event,omitzero"`
	Record      *copiedRecord   `json:"record,omitzero"`
	Omitted     string          `json:"omitted,omitzero"`
}

type copiedPosition struct {
	Topic     string `json:"topic"`
	Log       int16  `json:"log"`
	Partition int32  `json:"partition"`
	Offset    string `json:"offset"`
}

// copiedIdentity is what of the event's identity could be read.
type copiedIdentity struct {
	Source *string `json:"source,omitzero"`
	ID     *string `json:"id,omitzero"`
	Type   *string `json:"type,omitzero"`
}

type copiedRecord struct {
	Key     *copiedBytes   `json:"key"`
	Value   *copiedBytes   `json:"value"`
	Headers []copiedHeader `json:"headers"`
}

type copiedHeader struct {
	Name  *copiedBytes `json:"name"`
	Value *copiedBytes `json:"value"`
}

// copiedBytes are bytes as text where they are UTF-8, else in base64. Bytes that are null are null.
type copiedBytes struct {
	Text   *string `json:"text,omitzero"`
	Base64 []byte  `json:"base64,omitzero"`
}

func copyOf(b []byte) *copiedBytes {
	switch {
	case b == nil:
		return nil
	case utf8.Valid(b):
		s := string(b)
		return &copiedBytes{Text: &s}
	}
	return &copiedBytes{Base64: b}
}

// enqueueCopy adds to a batch the letter and its copy for the dead-letter topic. args are insertLetter's.
func (a *attempt) enqueueCopy(batch *pgx.Batch, l *letter, args []any) error {
	rec := l.row.record
	place := fmt.Sprintf("%s/%d/%d", a.c.cfg.Topic, a.pos.part, rec.Offset)
	// The same record gives the same id however often it is met, so that repeats collapse. The log tells the
	// records of a topic that was made again from those before.
	id := fmt.Sprintf("%s/%d/%d/%d", a.c.cfg.Consumer, a.pos.log, a.pos.part, rec.Offset)
	at := time.Now().UTC().Truncate(time.Microsecond)
	e := cloudevents.Event{
		ID: id, Source: a.c.cfg.DeadLetterSource, Type: typeDeadLetter, Subject: place,
		DataContentType: "application/json", TimeText: at.Format(time.RFC3339Nano), Time: at, Mode: cloudevents.Structured,
	}
	data := a.copyData(l)
	var err error
	whole := func() ([]byte, error) {
		if e.Data, err = json.Marshal(data); err != nil {
			return nil, fmt.Errorf("copy a dead letter: %w", err)
		}
		return cloudevents.EncodeJSON(&e), nil
	}
	var value, smaller []byte
	if data.RecordBytes <= maxCopy {
		data.Record = wholeRecord(rec)
		if value, err = whole(); err != nil {
			return err
		}
		data.Record = nil
	}
	data.Omitted = "The record is too large for this topic; the dead letter in the database has it."
	if smaller, err = whole(); err != nil {
		return err
	}
	if value == nil || len(value) > maxCopy {
		value, smaller = smaller, nil
	}
	headers := [][]byte{[]byte("content-type"), []byte(cloudevents.MediaTypeStructured + "; charset=UTF-8")}
	batch.Queue(insertLetterAndCopy, append(args, id, a.c.cfg.DeadLetterTopic, []byte(place), headers, value, smaller)...)
	return nil
}

func (a *attempt) copyData(l *letter) letterCopy {
	rec := l.row.record
	size := len(rec.Key) + len(rec.Value)
	for _, h := range rec.Headers {
		size += len(h.Key) + len(h.Value)
	}
	data := letterCopy{
		Consumer: a.c.cfg.Consumer, Reason: l.reason, Detail: l.detail, SQLState: l.sqlstate,
		Position:    copiedPosition{a.c.cfg.Topic, a.pos.log, a.pos.part, strconv.FormatInt(rec.Offset, 10)},
		RecordTime:  kafkaTime(rec).UTC().Format(time.RFC3339Nano),
		RecordBytes: size,
	}
	if source, id, kind := l.row.identity(); source != nil || id != nil || kind != nil {
		data.Event = &copiedIdentity{source, id, kind}
	}
	return data
}

func wholeRecord(rec *kgo.Record) *copiedRecord {
	r := &copiedRecord{Key: copyOf(rec.Key), Value: copyOf(rec.Value), Headers: make([]copiedHeader, 0, len(rec.Headers))}
	for _, h := range rec.Headers {
		r.Headers = append(r.Headers, copiedHeader{copyOf([]byte(h.Key)), copyOf(h.Value)})
	}
	return r
}
