package fault

import (
	"errors"
	"fmt"
	"testing"
)

func TestOfFindsThePublicSideAndHidesTheRest(t *testing.T) {
	t.Parallel()
	inner := Wrap(errors.New("dial tcp: refused"), Unavailable, ReasonBrokerUnavailable, "The broker does not answer.")
	got := Of(fmt.Errorf("publish: %w", inner))
	if got != inner || got.Kind.Code() != 503 || got.Kind.Status() != "UNAVAILABLE" {
		t.Fatalf("got %+v", got)
	}
	hidden := Of(errors.New("password=secret"))
	if hidden.Kind != Internal || hidden.Violations[0].Reason != ReasonInternal || hidden.Message == "password=secret" {
		t.Fatalf("got %+v", hidden)
	}
}

func TestEveryKindHasAStatus(t *testing.T) {
	t.Parallel()
	for k := Internal; k <= Unavailable; k++ {
		if k.Code() == 0 || k.Status() == "" {
			t.Errorf("kind %d has no status", k)
		}
	}
}
