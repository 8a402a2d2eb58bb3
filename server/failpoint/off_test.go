//go:build !failpoint

package failpoint

import "testing"

func TestWithoutTheTagNothingHappensAndNothingIsRead(t *testing.T) {
	t.Setenv(Env, "a:1:panic,b:1:error,nonsense")
	Hit("a")
	if err := Error("b"); err != nil {
		t.Error(err)
	}
	if n := testing.AllocsPerRun(100, func() { Hit("a"); _ = Error("b") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if Enabled {
		t.Error("says that the points are compiled in")
	}
}
