package consume

import "time"

// maxListed is how many expired records of one batch a log line names.
const maxListed = 20

// expiredRecord is how a log line names a record that was older than the retention when it was read.
type expiredRecord struct {
	Offset int64  `json:"offset"`
	Source string `json:"source"`
	ID     string `json:"id"`
	Time   string `json:"time"`
}

// listExpired are the attributes of the log line that lists a batch's expired records: how many, the
// offsets of the first and the last, and the identities of the first of them. Their rows exist nowhere:
// retention would drop them at once.
func (b *batch) listExpired() []any {
	n := 0
	var first, last int64
	var listed []expiredRecord
	for i := range b.rows {
		r := &b.rows[i]
		if r.fate != expired {
			continue
		}
		if n == 0 {
			first = r.record.Offset
		}
		n, last = n+1, r.record.Offset
		if len(listed) < maxListed {
			listed = append(listed, expiredRecord{
				Offset: last, Source: fit(r.event.Source, maxShownIdentity), ID: fit(r.event.ID, maxShownIdentity),
				Time: r.event.Time.UTC().Format(time.RFC3339Nano),
			})
		}
	}
	return []any{"expired", n, "first_offset", first, "last_offset", last, "records", listed}
}

// maxShownIdentity bounds an attribute in a log line.
const maxShownIdentity = 256
