// Package goal prints what a benchmark measured beside what was asked of it, one line a goal, and
// remembers what was missed. It knows no benchmark.
package goal

import (
	"fmt"
	"io"
	"strings"
)

// Sheet is the goals of one run. One goroutine at a time.
type Sheet struct {
	out    io.Writer
	missed []string
}

// NewSheet makes a sheet that prints to out.
func NewSheet(out io.Writer) *Sheet { return &Sheet{out: out} }

// AtLeast asks for figure ≥ want. unit follows both numbers as it is.
func (s *Sheet) AtLeast(what string, figure, want float64, unit string) {
	s.line(what, show(figure, unit), "at least "+show(want, unit), figure >= want)
}

// AtMost asks for figure ≤ want.
func (s *Sheet) AtMost(what string, figure, want float64, unit string) {
	s.line(what, show(figure, unit), "at most "+show(want, unit), figure <= want)
}

// Below asks for figure < want.
func (s *Sheet) Below(what string, figure, want float64, unit string) {
	s.line(what, show(figure, unit), "below "+show(want, unit), figure < want)
}

// Unmeasured is a goal of which the run says nothing: it is missed.
func (s *Sheet) Unmeasured(what, why string) {
	s.line(what, "not measured", why, false)
}

func (s *Sheet) line(what, figure, want string, met bool) {
	word := "met"
	if !met { // what is not a number meets nothing
		word = "MISSED"
		s.missed = append(s.missed, what)
	}
	fmt.Fprintf(s.out, "goal: %s %s (%s) %s\n", what, figure, want, word)
}

// Err names the goals that were missed, where they are enforced.
func (s *Sheet) Err(enforce bool) error {
	if !enforce || len(s.missed) == 0 {
		return nil
	}
	return fmt.Errorf("goals missed: %s", strings.Join(s.missed, "; "))
}

// show prints three figures or so: 0.72, 4.31, 41.5, 388.
func show(v float64, unit string) string {
	decimals := 0
	switch {
	case v < 10:
		decimals = 2
	case v < 100:
		decimals = 1
	}
	return fmt.Sprintf("%.*f%s", decimals, v, unit)
}
