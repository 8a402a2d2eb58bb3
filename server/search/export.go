package search

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
	"time"

	"oriel/server/fault"
	"oriel/server/query"
)

const (
	exportsAtOnce  = 4                // in this process; each holds a slot only while it reads
	exportPage     = 500              // events found at once
	exportChunk    = 4 << 20          // bytes of data read at once, but for a single event
	exportPatience = 30 * time.Second // for the database or a slot, before an export is given up
	exportPause    = 500 * time.Millisecond
	exportAge      = 24 * time.Hour // of its snapshot
	maxColumns     = 50
)

// The formats of an export.
const (
	formatNDJSON = "ndjson"
	formatCSV    = "csv"
)

// exportFormat writes the parts of one.
type exportFormat interface {
	begin(x *exporting) error
	event(e *full) error
	// end is told why an export was cut, nil where it is whole.
	end(x *exporting, cut error) error
}

// exporting is an export that is under way: pages of places, and of each page runs of events that fit into
// memory together, every run in a session of its own.
type exporting struct {
	*Service
	req    request
	format string
	view   *view
	at     *cut // where the next page begins; nil: at the end of the window
	walked bool
	whole  bool // there are no more pages
	places []place
	ready  []*full // read, and not written yet
	out    buffer
	count  int
}

// place is where an event is, and how much of it there is.
type place struct {
	key  key
	size int
}

// buffer collects what is written at once.
type buffer struct {
	to io.Writer
	b  []byte
}

func (b *buffer) flush() error {
	_, err := b.to.Write(b.b)
	b.b = b.b[:0]
	if err != nil {
		return fmt.Errorf("write the export: %w", err)
	}
	return nil
}

// Export prepares GET /v1/events:export: format (ndjson or csv), columns (of csv), snapshot and the filter.
// Errors that can be known before the first byte are returned here. Whoever has one closes it.
func (s *Service) Export(ctx context.Context, params url.Values) (*Export, error) {
	d := newDecoder(params)
	format := d.Single("format")
	if format == "" {
		format = formatNDJSON
	}
	if format != formatNDJSON && format != formatCSV {
		d.Invalid("format", format, "ndjson or csv", "The parameter format is ndjson or csv.")
	}
	columns := s.columns(d, format)
	req := s.search(d, "format", "columns")
	if req.frozen == nil {
		s.ordered(d)
	}
	if err := d.err(); err != nil {
		return nil, err
	}
	if err := s.exports.take(); err != nil {
		return nil, err
	}
	x := &exporting{Service: s, req: req, format: format}
	if err := x.page(ctx); err != nil {
		s.exports.give()
		return nil, err
	}
	patient := *s // a snapshot that was young enough to begin with is kept until the end
	patient.limits.age = exportAge
	x.Service = &patient
	e := &Export{
		ContentType: "application/x-ndjson", FileName: "oriel-events-" + s.now().UTC().Format("20060102T150405Z") + "." + format,
		Snapshot: x.view.token(), SaysEnd: format == formatNDJSON,
	}
	var as exportFormat = &ndjson{out: &x.out}
	if format == formatCSV {
		e.ContentType, as = "text/csv; charset=utf-8; header=present", &csv{out: &x.out, columns: columns}
	}
	e.write = func(ctx context.Context, w io.Writer) error {
		x.out.to = w
		err := x.writeAll(ctx, as)
		s.exports.ended(format, x.count, err)
		return err
	}
	e.close = s.exports.give
	return e, nil
}

// writeAll writes everything, and the end.
func (x *exporting) writeAll(ctx context.Context, as exportFormat) error {
	err := as.begin(x)
	if err == nil {
		err = x.events(ctx, as)
	}
	if err != nil && ctx.Err() != nil { // which knows why
		err = errors.Join(context.Cause(ctx), err)
	}
	return errors.Join(err, as.end(x, err))
}

func (x *exporting) events(ctx context.Context, as exportFormat) error {
	for {
		for len(x.ready) > 0 || len(x.places) > 0 {
			if err := x.chunk(ctx, as); err != nil {
				return err
			}
		}
		if x.whole {
			return nil
		}
		if err := x.patiently(ctx, x.page); err != nil {
			return err
		}
	}
}

// chunk writes the events that were read, or reads some.
func (x *exporting) chunk(ctx context.Context, as exportFormat) error {
	if len(x.ready) == 0 {
		err := x.patiently(ctx, func(ctx context.Context) error {
			return x.inTurn(ctx, func(ctx context.Context, ses *session) error {
				ready, left, err := x.read(ctx, ses, x.places)
				if err == nil {
					x.ready, x.places = ready, left
				}
				return err
			})
		})
		if err != nil {
			return err
		}
	}
	for _, e := range x.ready {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := as.event(e); err != nil {
			return err
		}
		x.count++
		if err := x.out.flush(); err != nil {
			return err
		}
	}
	x.ready = nil
	return nil
}

// inTurn is one session among those of searches.
func (x *exporting) inTurn(ctx context.Context, f func(context.Context, *session) error) error {
	seen := x.view.seen()
	if x.view == nil {
		seen = x.req.frozen.seen()
	}
	return x.run(ctx, "export", seen, f)
}

// page finds the next places, and reads the first of their events. Where that fails nothing has changed.
func (x *exporting) page(ctx context.Context) error {
	next := *x
	if err := x.inTurn(ctx, next.find); err != nil {
		return err
	}
	*x = next
	return nil
}

// find is page in one session.
func (x *exporting) find(ctx context.Context, ses *session) (err error) {
	if x.view == nil {
		x.view, err = x.viewOf(ctx, ses, &x.req)
	} else {
		err = x.check(ctx, ses, x.view)
	}
	if err != nil {
		return err
	}
	p := scan{
		Service: x.Service, limits: x.limits, ses: ses, where: x.req.filter.Where, view: x.view, most: exportPage, at: x.at, walked: x.walked,
	}
	if err := p.run(ctx); err != nil {
		return err
	}
	found, next := p.result()
	x.at, x.walked, x.whole = next, p.walked, next == nil
	if err := x.topics.load(ctx, ses, found); err != nil {
		return err
	}
	x.places = make([]place, len(found))
	for i, r := range found {
		x.places[i] = place{r.key, int(value(r.size))}
	}
	x.ready, x.places, err = x.read(ctx, ses, x.places)
	return err
}

// read reads the first of some events, as many as fit, and says what is left.
func (x *exporting) read(ctx context.Context, ses *session, places []place) (ready []*full, left []place, err error) {
	n, bytes := 0, 0
	for n < len(places) && (n == 0 || bytes+places[n].size <= exportChunk) {
		bytes += places[n].size
		n++
	}
	if n == 0 {
		return nil, nil, nil
	}
	rows, err := eventsAt(ctx, ses, places[:n])
	if err != nil {
		return nil, nil, err
	}
	if len(rows) != n {
		return nil, nil, fault.New(fault.Expired, fault.ReasonSnapshotExpired,
			"A day inside the snapshot's time range was dropped by retention while it was exported.", "limit", x.retention.String())
	}
	ready = make([]*full, n)
	for i := range rows {
		ready[i] = fullOf(&rows[i])
		ready[i].Position.Topic = x.topics.get()[rows[i].Log]
	}
	return ready, places[n:], nil
}

// patiently tries again what failed for want of a slot or of the database: nothing of it was written yet.
func (x *exporting) patiently(ctx context.Context, f func(context.Context) error) error {
	until := time.Now().Add(exportPatience)
	for {
		err := f(ctx)
		if err == nil || fault.Of(err).Kind != fault.Unavailable || ctx.Err() != nil || time.Now().After(until) {
			return err
		}
		pause := time.NewTimer(exportPause)
		select {
		case <-ctx.Done():
			pause.Stop()
			return ctx.Err()
		case <-pause.C:
		}
	}
}

// spelled is the canonical parameters of a filter.
func spelled(f query.Filter) string { return query.Encode(f).Encode() }

// columns are those that a CSV is asked for.
func (s *Service) columns(d *decoder, format string) []heading {
	var names []string
	for _, v := range d.Params["columns"] {
		if v != "" {
			names = append(names, v)
		}
	}
	switch {
	case format != formatCSV && len(names) > 0:
		d.Invalid("columns", strings.Join(names, " "), "none, or format=csv", "Columns are of CSV; NDJSON has the whole events.")
		return nil
	case len(names) > maxColumns:
		d.Invalid("columns", strconv.Itoa(len(names))+" columns", "at most "+strconv.Itoa(maxColumns), fmt.Sprintf("There are more than %d columns.", maxColumns))
		return nil
	case len(names) == 0:
		names = defaultColumns()
	}
	out := make([]heading, 0, len(names))
	for _, name := range names {
		c, err := columnOf(s.schema, name)
		if err != nil {
			d.Invalid("columns", name, acceptedColumns, "There is no column "+strconv.Quote(name)+": "+err.Error()+".")
			continue
		}
		out = append(out, c)
	}
	return out
}
