//go:build !failpoint

package failpoint

// Enabled says whether this program was built with the tag.
const Enabled = false

// Hit is a pass of a point.
func Hit(string) {}

// Error is a pass of a point at which a failure is possible; nil where none is wanted.
func Error(string) error { return nil }
