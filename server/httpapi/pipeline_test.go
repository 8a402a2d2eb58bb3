package httpapi

import (
	"encoding/json"
	"net/http"
	"testing"
)

func TestThePipelineSaysOffsetsAsTextAndLeavesOutWhatIsNotKnown(t *testing.T) {
	t.Parallel()
	p := startPeople(t)
	var got map[string]any
	answer := p.do(p.request("GET", "/v1/pipeline", reader))
	if err := json.Unmarshal(answer.body, &got); answer.StatusCode != http.StatusOK || err != nil {
		t.Fatalf("%d %s %v", answer.StatusCode, answer.body, err)
	}
	partitions, _ := got["partitions"].([]any)
	first, second := partitions[0].(map[string]any), partitions[1].(map[string]any)
	if first["nextOffset"] != "9007199254740993" || first["endOffset"] != "9007199254740995" || first["lag"] != 2.0 {
		t.Errorf("the first partition is %v", first)
	}
	if second["reason"] != "poison" || second["state"] != "fatal" {
		t.Errorf("the second partition is %v", second)
	}
	for _, absent := range []string{"endOffset", "lag"} {
		if _, there := second[absent]; there {
			t.Errorf("%s is said of a partition of which the broker says nothing", absent)
		}
	}
	if _, there := got["lag"]; there || got["lastCommitTime"] != nil {
		t.Errorf("what is not known is said: %s", answer.body)
	}
}

func TestAlertsSayWhatHoldsAndSinceWhen(t *testing.T) {
	t.Parallel()
	p := startPeople(t)
	var got AlertList
	answer := p.do(p.request("GET", "/v1/alerts", reader))
	if err := json.Unmarshal(answer.body, &got); answer.StatusCode != http.StatusOK || err != nil || len(got.Alerts) != 1 {
		t.Fatalf("%d %s %v", answer.StatusCode, answer.body, err)
	}
	a := got.Alerts[0]
	if a.Name != PartitionFatal || a.Severity != "critical" || a.Target != nil || a.Since == nil || *a.Since != "2026-11-30T15:02:11.000000Z" {
		t.Errorf("the alert is %+v", a)
	}
}
