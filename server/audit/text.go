package audit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What is kept of each text. Those with an index are cut by bytes: an entry of a PostgreSQL index holds less
// than 2,700 of them.
const (
	maxReason = 500  // characters
	maxDetail = 2000 // characters
	maxTarget = 1000 // bytes
	maxActor  = 400  // bytes
	maxName   = 1000 // characters: ids of actors
	maxShort  = 200  // characters: roles, request ids, addresses
	maxRoles  = 50
	maxObject = 128 << 10 // bytes of before, and of after
)

// visible is s as valid text: newline and tab stay, other control characters become their pictures, characters
// that show nothing or turn the text around them become their numbers, and what is no UTF-8 becomes U+FFFD.
// PostgreSQL would refuse NUL and bad bytes, a terminal would obey the rest, and a reader be deceived.
func visible(s string) string {
	var b strings.Builder
	for _, r := range s { // an invalid byte comes as RuneError
		switch {
		case r == '\n' || r == '\t':
			b.WriteRune(r)
		case r < 0x20:
			b.WriteRune('␀' + r)
		case r == 0x7f:
			b.WriteRune('␡')
		case r > 0x7f && r < 0xa0:
			b.WriteRune(utf8.RuneError)
		case r == '\u200c' || r == '\u200d': // joiners belong to how some scripts, and emoji, are written
			b.WriteRune(r)
		case unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point):
			fmt.Fprintf(&b, "[%U]", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// cut keeps a visible text's first so many characters.
func cut(s string, most int) string {
	s = visible(s)
	if len(s) <= most || utf8.RuneCountInString(s) <= most {
		return s
	}
	n := 0
	for i := range s {
		if n++; n == most {
			return s[:i] + "…"
		}
	}
	return s
}

// cutBytes keeps a visible text's first so many bytes, whole characters.
func cutBytes(s string, most int) string {
	const mark = "…"
	s = visible(s)
	if len(s) <= most {
		return s
	}
	end := most - len(mark)
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + mark
}

// fieldEnd keeps a text that is searched for from reaching over two fields; visible never leaves one.
const fieldEnd = "\x1f"

// fold is how texts are compared without case.
func fold(texts ...string) string { return strings.ToLower(strings.Join(texts, fieldEnd)) }

// object encodes before or after; nil stays NULL.
func object(m map[string]any) ([]byte, error) {
	if m == nil {
		return nil, nil
	}
	text, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("encode an object of the record: %w", err)
	}
	if len(text) > maxObject {
		return json.Marshal(map[string]any{"omitted": fmt.Sprintf("%d bytes, of which %d are kept at most", len(text), maxObject)})
	}
	plain, err := decodeObject(text)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // a search by text looks in it too
	if err := e.Encode(visibleIn(plain)); err != nil {
		return nil, fmt.Errorf("encode an object of the record: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

func decodeObject(text []byte) (map[string]any, error) {
	if text == nil {
		return nil, nil //nolint:nilnil // there is none
	}
	var m map[string]any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&m); err != nil {
		return nil, fmt.Errorf("decode an object of the record: %w", err)
	}
	return m, nil
}

func visibleIn(v any) any {
	switch v := v.(type) {
	case string:
		return visible(v)
	case []any:
		for i := range v {
			v[i] = visibleIn(v[i])
		}
		return v
	case map[string]any:
		clean := make(map[string]any, len(v))
		for k, inner := range v {
			clean[visible(k)] = visibleIn(inner)
		}
		return clean
	}
	return v
}
