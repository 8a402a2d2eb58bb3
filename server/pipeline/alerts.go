package pipeline

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"oriel/server/telemetry"
)

// The named conditions.
const (
	NotReady          = "NotReady"          // a check of this process fails
	PartitionGap      = "PartitionGap"      // records were gone before they were consumed
	PartitionFatal    = "PartitionFatal"    // a partition cannot go on without an operator
	PartitionTripped  = "PartitionTripped"  // the breaker stopped a partition: too many of its records became dead letters
	LagHigh           = "LagHigh"           // LagLimit records and more are not accounted for
	DeadLettersRising = "DeadLettersRising" // DeadLetterLimit and more within 10 minutes
)

// The thresholds.
const (
	LagLimit        = 10_000
	DeadLetterLimit = 10
)

// How bad it is.
const (
	Warning  = "warning"
	Error    = "error"
	Critical = "critical"
)

// Alert is a condition that holds.
type Alert struct {
	Name, Severity  string
	Summary, Detail string
	Target          string    // what it is of; "": the whole
	Since           time.Time // zero: not known
}

func (a Alert) key() string { return a.Name + " " + a.Target }

// Alerts answers the conditions that hold, the worst and then the newest first. Where the database does not
// answer that is itself one of them, and what the database would say is left out.
func (m *Monitor) Alerts(ctx context.Context) []Alert {
	m.mu.Lock()
	defer m.mu.Unlock()
	var alerts []Alert
	if m.cfg.Readiness != nil {
		alerts = ofReadiness(m.cfg.Readiness())
	}
	s, err := m.read(ctx)
	if err != nil {
		m.log.Debug("the pipeline was not read", "error", err)
	} else {
		alerts = append(alerts, ofState(s)...)
	}
	m.remember(alerts, err == nil, time.Now())
	slices.SortStableFunc(alerts, func(a, b Alert) int {
		return cmp.Or(cmp.Compare(rank(b.Severity), rank(a.Severity)), b.Since.Compare(a.Since))
	})
	return alerts
}

// remember fills in since when a condition holds that says nothing of it itself.
func (m *Monitor) remember(alerts []Alert, whole bool, now time.Time) {
	held := map[string]bool{}
	for i := range alerts {
		a := &alerts[i]
		held[a.key()] = true
		if !a.Since.IsZero() {
			continue
		}
		if _, known := m.since[a.key()]; !known {
			m.since[a.key()] = now
		}
		a.Since = m.since[a.key()]
	}
	if !whole {
		return // what was not read may hold still
	}
	for key := range m.since {
		if !held[key] {
			delete(m.since, key)
		}
	}
}

func rank(severity string) int { return slices.Index([]string{Warning, Error, Critical}, severity) }

func ofReadiness(r telemetry.Readiness) []Alert {
	var alerts []Alert
	for _, c := range r.Checks {
		if !c.OK {
			alerts = append(alerts, Alert{
				Name: NotReady, Severity: Error, Target: c.Name, Since: c.Since,
				Summary: fmt.Sprintf("The check %s fails", c.Name), Detail: c.Detail,
			})
		}
	}
	return alerts
}

func ofState(s *State) []Alert {
	var alerts []Alert
	for _, p := range s.Partitions {
		a := Alert{
			Severity: Critical, Target: fmt.Sprintf("%s partition %d", s.Topic, p.Partition), Since: p.Updated,
			Detail: cmp.Or(p.Reason, fmt.Sprintf("It stands at offset %d.", p.Next)),
		}
		switch p.State {
		case "gap":
			a.Name, a.Summary = PartitionGap, fmt.Sprintf("Partition %d of %s has a gap", p.Partition, s.Topic)
		case "fatal":
			a.Name, a.Summary = PartitionFatal, fmt.Sprintf("Partition %d of %s stands still", p.Partition, s.Topic)
		case "tripped":
			a.Name, a.Summary = PartitionTripped, fmt.Sprintf("The breaker stopped partition %d of %s", p.Partition, s.Topic)
		default:
			continue
		}
		alerts = append(alerts, a)
	}
	if s.Lag != nil && *s.Lag >= LagLimit {
		alerts = append(alerts, Alert{
			Name: LagHigh, Severity: Warning, Summary: "Events are stored late",
			Detail: fmt.Sprintf("%d records are not accounted for; the limit is %d.", *s.Lag, LagLimit),
		})
	}
	if s.DeadLettersRecent >= DeadLetterLimit {
		alerts = append(alerts, Alert{
			Name: DeadLettersRising, Severity: Error, Summary: "Dead letters are rising",
			Detail: fmt.Sprintf("%d in the last 10 minutes; the limit is %d.", s.DeadLettersRecent, DeadLetterLimit),
		})
	}
	return alerts
}
