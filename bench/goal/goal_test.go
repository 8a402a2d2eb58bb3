package goal_test

import (
	"math"
	"strings"
	"testing"

	"oriel/bench/goal"
)

func TestSheet(t *testing.T) {
	t.Parallel()
	for sentence, c := range map[string]struct {
		ask    func(*goal.Sheet)
		line   string
		missed bool
	}{
		"a figure at its lower bound meets it": {
			func(s *goal.Sheet) { s.AtLeast("ratio", 0.70, 0.70, "") }, "goal: ratio 0.70 (at least 0.70) met\n", false,
		},
		"a figure under its lower bound misses it": {
			func(s *goal.Sheet) { s.AtLeast("ratio", 2.9, 3, " x") }, "goal: ratio 2.90 x (at least 3.00 x) MISSED\n", true,
		},
		"a figure at its upper bound meets it": {
			func(s *goal.Sheet) { s.AtMost("lexing", 60, 60, " µs") }, "goal: lexing 60.0 µs (at most 60.0 µs) met\n", false,
		},
		"a figure over its upper bound misses it": {
			func(s *goal.Sheet) { s.AtMost("disk", 0.61, 0.6, "") }, "goal: disk 0.61 (at most 0.60) MISSED\n", true,
		},
		"a figure at a bound to stay below misses it": {
			func(s *goal.Sheet) { s.Below("median", 400, 400, " ms") }, "goal: median 400 ms (below 400 ms) MISSED\n", true,
		},
		"a figure below its bound meets it": {
			func(s *goal.Sheet) { s.Below("median", 123.4, 400, " ms") }, "goal: median 123 ms (below 400 ms) met\n", false,
		},
		"no number meets nothing": {
			func(s *goal.Sheet) { s.AtMost("disk", math.NaN(), 0.6, "") }, "goal: disk NaN (at most 0.60) MISSED\n", true,
		},
		"what was not measured is missed": {
			func(s *goal.Sheet) { s.Unmeasured("memory", "the rate was not held") },
			"goal: memory not measured (the rate was not held) MISSED\n", true,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			s := goal.NewSheet(&out)
			c.ask(s)
			if out.String() != c.line {
				t.Errorf("printed %q, want %q", out.String(), c.line)
			}
			if err := s.Err(true); (err != nil) != c.missed {
				t.Errorf("enforced: %v", err)
			}
			if err := s.Err(false); err != nil {
				t.Errorf("not enforced: %v", err)
			}
		})
	}
}
