package cloudevents

import "strings"

// transport is what the header oriel-transport says:
//
//	mode=binary|structured|batch [;ct=absent] [;types=name:boolean|integer,…]
//
// The parts come in this order, mode always, the others where they say something. A reader passes
// over parts that it does not know.
type transport struct {
	mode              Mode
	contentTypeAbsent bool
	types             string
}

func appendTransport(b []byte, e *Event, contentTypeAbsent bool) []byte {
	switch e.Mode {
	case Structured:
		b = append(b, "mode=structured"...)
	case Batch:
		b = append(b, "mode=batch"...)
	default:
		b = append(b, "mode=binary"...)
	}
	if contentTypeAbsent {
		b = append(b, ";ct=absent"...)
	}
	separator := ";types="
	for i := range e.Extensions {
		x := &e.Extensions[i]
		if x.Type == String {
			continue
		}
		b = append(append(b, separator...), x.Name...)
		if separator = ","; x.Type == Boolean {
			b = append(b, ":boolean"...)
		} else {
			b = append(b, ":integer"...)
		}
	}
	return b
}

// parseTransport reads the header; ok is false where it is not one that we wrote.
func parseTransport(value []byte) (t transport, ok bool) {
	first, rest, _ := strings.Cut(string(value), ";")
	switch first {
	case "mode=binary":
	case "mode=structured":
		t.mode = Structured
	case "mode=batch":
		t.mode = Batch
	default:
		return transport{}, false
	}
	for rest != "" {
		var part string
		part, rest, _ = strings.Cut(rest, ";")
		if part == "ct=absent" {
			t.contentTypeAbsent = true
		} else if types, found := strings.CutPrefix(part, "types="); found {
			t.types = types
		}
	}
	return t, true
}

// apply gives extensions their types back, where their text is of the type.
func (t *transport) apply(e *Event) {
	for rest := t.types; rest != ""; {
		var part string
		part, rest, _ = strings.Cut(rest, ",")
		name, kind, _ := strings.Cut(part, ":")
		for i := range e.Extensions {
			x := &e.Extensions[i]
			if x.Name != name {
				continue
			}
			if kind == "boolean" && (x.Value == "true" || x.Value == "false") {
				x.Type = Boolean
			} else if kind == "integer" && canonicalInteger(x.Value) {
				x.Type = Integer
			}
		}
	}
}
