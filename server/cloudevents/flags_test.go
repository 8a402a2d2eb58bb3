package cloudevents

import "testing"

func TestFlagsKeepTheContentModeBesideTheOtherBits(t *testing.T) {
	t.Parallel()
	for _, m := range []Mode{Binary, Structured, Batch} {
		f := ModeFlags(m) | FlagContentTypeAbsent | FlagDataInvalid
		if f.Mode() != m || !f.Has(FlagContentTypeAbsent|FlagDataInvalid) {
			t.Errorf("mode %d came back as %d with flags %b", m, f.Mode(), f)
		}
		if ModeFlags(m).Has(FlagDataInvalid) {
			t.Errorf("mode %d sets a bit that is not its own", m)
		}
	}
}

func TestStoredBitsNeverMove(t *testing.T) {
	t.Parallel()
	got := [...]Flags{FlagModeStructured, FlagModeBatch, FlagContentTypeAbsent, FlagDataInvalid}
	if got != [...]Flags{1, 2, 4, 8} {
		t.Fatalf("stored rows would change their meaning: %v", got)
	}
}
