package httpapi

import (
	"context"
	"strconv"
	"time"

	"oriel/server/pipeline"
)

// GetPipeline says how far events are stored.
func (h *handlers) GetPipeline(ctx context.Context, _ GetPipelineRequestObject) (GetPipelineResponseObject, error) {
	s, err := h.s.deps.Pipeline.State(ctx)
	if err != nil {
		return nil, err
	}
	out := GetPipeline200JSONResponse{
		Topic: s.Topic, Consumer: s.Consumer, Partitions: make([]PipelinePartition, len(s.Partitions)), Lag: s.Lag,
		StoredPerSecond: s.StoredPerSecond, DeadLettersDay: s.DeadLettersDay, DeadLettersRecent: s.DeadLettersRecent,
		LastCommitTime: open(s.LastCommit), Time: instant(s.At),
	}
	for i, p := range s.Partitions {
		out.Partitions[i] = PipelinePartition{
			Partition: p.Partition, NextOffset: strconv.FormatInt(p.Next, 10), Lag: p.Lag(),
			State: PipelinePartitionState(p.State), Reason: some(p.Reason), UpdateTime: instant(p.Updated),
		}
		if p.End != nil {
			end := strconv.FormatInt(*p.End, 10)
			out.Partitions[i].EndOffset = &end
		}
	}
	return out, nil
}

// ListAlerts says which named conditions hold.
func (h *handlers) ListAlerts(ctx context.Context, _ ListAlertsRequestObject) (ListAlertsResponseObject, error) {
	found := h.s.deps.Pipeline.Alerts(ctx)
	out := ListAlerts200JSONResponse{Alerts: make([]Alert, len(found)), Time: instant(time.Now())}
	for i, a := range found {
		out.Alerts[i] = alert(a)
	}
	return out, nil
}

func alert(a pipeline.Alert) Alert {
	return Alert{
		Name: AlertName(a.Name), Severity: AlertSeverity(a.Severity), Summary: a.Summary, Detail: a.Detail,
		Target: some(a.Target), Since: open(a.Since),
	}
}
