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

func TestClaimsSayWhatTheDataIsToBe(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		contentType string
		flags       Flags
		json, text  bool
	}{
		"application/json":                     {"application/json", 0, true, false},
		"case and parameters do not count":     {" Application/JSON ; charset=utf-8", 0, true, false},
		"text/json is JSON":                    {"text/json", 0, true, false},
		"a +json suffix":                       {"application/vnd.x+json; v=1", 0, true, false},
		"text of any kind":                     {"text/html;charset=latin1", 0, false, true},
		"an image is opaque":                   {"image/png", 0, false, false},
		"none in binary mode is opaque":        {"", FlagContentTypeAbsent, false, false},
		"none in structured mode is JSON":      {"", FlagContentTypeAbsent | FlagModeStructured, true, false},
		"none in a batch is JSON":              {"", FlagContentTypeAbsent | FlagModeBatch, true, false},
		"lines of JSON are no JSON text":       {"application/x-ndjson", 0, false, false},
		"a type that only starts like text is": {"textile/x", 0, false, false},
	} {
		if j, x := Claims(c.contentType, c.flags); j != c.json || x != c.text {
			t.Errorf("%s: json %v, text %v", name, j, x)
		}
	}
}
