package cloudevents

// Flags is what a stored event needs to come back as it was sent and that no other column says.
// The bits are stored: they keep their meaning for ever, and new ones are only added.
type Flags int16

// The bits. The content mode is the lowest two: 0 binary, 1 structured, 2 batch.
const (
	FlagModeStructured    Flags = 1 << 0 // content mode structured
	FlagModeBatch         Flags = 1 << 1 // content mode batch
	FlagContentTypeAbsent Flags = 1 << 2 // no datacontenttype was sent
	FlagDataInvalid       Flags = 1 << 3 // claimed JSON or text, and is not: its words are not indexed

	flagModes = FlagModeStructured | FlagModeBatch
)

// ModeFlags is the bits of a content mode.
func ModeFlags(m Mode) Flags {
	switch m {
	case Structured:
		return FlagModeStructured
	case Batch:
		return FlagModeBatch
	default:
		return 0
	}
}

// Mode is the content mode that the bits say.
func (f Flags) Mode() Mode {
	switch f & flagModes {
	case FlagModeStructured:
		return Structured
	case FlagModeBatch:
		return Batch
	default:
		return Binary
	}
}

// Has says whether every bit of want is set.
func (f Flags) Has(want Flags) bool { return f&want == want }

// Claims is what an event says its data is, one rule for indexing, searching and showing: json by its
// media type (*/json, */*+json), or by the JSON format's rule where a structured
// event names none; text for any other text/*. Neither is opaque.
func Claims(contentType string, f Flags) (json, text bool) {
	media := mediaType(contentType)
	switch {
	case media == "":
		return f.Mode() != Binary, false
	case IsJSON(media):
		return true, false
	default:
		_, text = cutFold(media, "text/")
		return false, text
	}
}
