package kafkatest

import (
	"context"
	"testing"
	"time"
)

// patience bounds a start or a stop.
const patience = 5 * time.Minute

// New is Start for a test: the cluster is the test's own and ends with it.
func New(t testing.TB, brokers int) *Cluster {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	c, err := Start(ctx, brokers)
	if err != nil {
		t.Fatalf("start apache kafka: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := c.Stop(ctx); err != nil {
			t.Errorf("stop apache kafka: %v", err)
		}
	})
	return c
}
