package search

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"oriel/server/cloudevents"
	"oriel/server/db"
	"oriel/server/fault"
	"oriel/server/query"
)

// full is an event with everything that is known of it.
type full struct {
	Detail
	candidate query.Candidate
}

func fullOf(e *db.Event) *full {
	return &full{*detailOf(e), query.Candidate{
		Source: e.Source, ID: e.ID, Type: e.Type, Subject: value(e.Subject), ContentType: value(e.Datacontenttype), DataSchema: value(e.Dataschema),
		Severity: value(e.Severity), Flags: cloudevents.Flags(e.Flags), Attributes: e.Attributes, Tags: e.Tags, Facets: e.Facets,
		TraceID: e.TraceID, Data: e.Data,
	}}
}

// eventsAt reads events in full, those that are still there.
func eventsAt(ctx context.Context, ses *session, places []place) ([]db.Event, error) {
	n := len(places)
	p := db.EventsAtParams{
		Times: make([]time.Time, n), Logs: make([]int16, n), Partitions: make([]int32, n), Offsets: make([]int64, n),
		First: time.UnixMicro(places[n-1].key.at).UTC(), Last: time.UnixMicro(places[0].key.at).UTC(),
	}
	for i := range places {
		k := &places[i].key
		p.Times[i], p.Logs[i], p.Partitions[i], p.Offsets[i] = time.UnixMicro(k.at).UTC(), k.log, k.partition, k.offset
	}
	rows, err := db.New(ses).EventsAt(ctx, p)
	if err != nil {
		return nil, fmt.Errorf("read events: %w", err)
	}
	return rows, nil
}

// exports bounds and counts exports.
type exports struct {
	slots  chan struct{}
	events *prometheus.CounterVec // format
	done   *prometheus.CounterVec // format, outcome
	now    prometheus.Gauge
}

func newExports(reg prometheus.Registerer) *exports {
	e := &exports{
		slots: make(chan struct{}, exportsAtOnce),
		events: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "oriel_search_export_events_total", Help: "Events written to exports, by format.",
		}, []string{"format"}),
		done: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "oriel_search_exports_total", Help: "Exports ended, by format and outcome: complete, cut, or left by the client.",
		}, []string{"format", "outcome"}),
		now: prometheus.NewGauge(prometheus.GaugeOpts{Name: "oriel_search_exports", Help: "Exports that are running."}),
	}
	for _, format := range []string{formatNDJSON, formatCSV} {
		e.events.WithLabelValues(format)
		for _, outcome := range []string{"complete", "cut", "left"} {
			e.done.WithLabelValues(format, outcome)
		}
	}
	reg.MustRegister(e.events, e.done, e.now)
	return e
}

func (e *exports) take() error {
	select {
	case e.slots <- struct{}{}:
		e.now.Inc()
		return nil
	default:
		busy := fault.New(fault.Unavailable, fault.ReasonSearchBusy,
			fmt.Sprintf("All %d exports that may run at once are running. Try again when one has ended.", exportsAtOnce), "limit", strconv.Itoa(exportsAtOnce))
		busy.RetryAfter = 5 * time.Second
		return busy
	}
}

func (e *exports) give() {
	<-e.slots
	e.now.Dec()
}

// ended counts one. Only an error with a public side, or of ours, cut it: else nobody took it any more.
func (e *exports) ended(format string, events int, err error) {
	e.events.WithLabelValues(format).Add(float64(events))
	outcome := "cut"
	public := new(fault.Error)
	switch {
	case err == nil:
		outcome = "complete"
	case !errors.As(err, &public):
		outcome = "left"
	}
	e.done.WithLabelValues(format, outcome).Inc()
}
