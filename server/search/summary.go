package search

import (
	"encoding/hex"
	"strconv"
	"strings"
	"unicode/utf8"

	"oriel/server/cloudevents"
)

// The kinds of data.
const (
	dataJSON    = "json"
	dataText    = "text"
	dataBinary  = "binary"
	dataInvalid = "invalid" // claimed to be JSON or text, and is not
	dataEmpty   = "empty"
	dataAbsent  = "absent"
)

const (
	summaryRunes = 200
	summaryBytes = 16 // of binary data, in hex
)

// describe says what kind of data an event has and sums it up in one line of at most 200 characters
// for a list. size -1 is absent; preview is the data's first previewBytes. Declared data is what it is
// declared to be; where no content type says, and where it names a format that is written as text, it is
// text if those are printable UTF-8. The summary of JSON keeps every spelling: white space between tokens
// is left out, nothing else. It never holds a control character.
func describe(contentType string, flags cloudevents.Flags, size int, preview []byte) (kind, summary string) {
	switch {
	case size < 0:
		return dataAbsent, "no data"
	case size == 0:
		return dataEmpty, "empty data"
	}
	cut := len(preview) < size
	if cut {
		preview = wholeRunes(preview)
	}
	json, text := cloudevents.Claims(contentType, flags)
	switch {
	case flags.Has(cloudevents.FlagDataInvalid):
		if !json && !text {
			return dataInvalid, binarySummary(contentType, size, preview)
		}
		return dataInvalid, line(preview, json, cut)
	case json:
		return dataJSON, line(preview, true, cut)
	case text, mayBeText(contentType) && readable(preview):
		return dataText, line(preview, false, cut)
	default:
		return dataBinary, binarySummary(contentType, size, preview)
	}
}

// mayBeText says whether data of a content type outside text/* and JSON is text where its bytes are:
// formats that are written as text, and no declaration at all.
func mayBeText(contentType string) bool {
	media, _, _ := strings.Cut(contentType, ";")
	_, subtype, _ := strings.Cut(strings.ToLower(strings.TrimSpace(media)), "/")
	if plus := strings.LastIndexByte(subtype, '+'); plus >= 0 {
		subtype = subtype[plus+1:]
	}
	switch strings.TrimPrefix(subtype, "x-") {
	case "xml", "yaml", "toml", "csv", "ndjson", "jsonl", "json-seq", "javascript", "sql", "graphql", "www-form-urlencoded":
		return true
	default:
		return media == ""
	}
}

func binarySummary(contentType string, size int, preview []byte) string {
	if contentType == "" {
		contentType = "no content type"
	}
	var b builder
	b.text("binary, " + contentType + ", " + strconv.Itoa(size) + " bytes, ")
	b.text(hex.EncodeToString(preview[:min(len(preview), summaryBytes)]))
	return b.done(size > summaryBytes)
}

// wholeRunes drops the part of a character that the end of the preview cut.
func wholeRunes(b []byte) []byte {
	for i := 1; i < utf8.UTFMax && i <= len(b); i++ {
		if c := b[len(b)-i]; utf8.RuneStart(c) {
			if !utf8.FullRune(b[len(b)-i:]) {
				return b[:len(b)-i]
			}
			return b
		}
	}
	return b
}

// readable says whether b is UTF-8 text without control characters other than white space.
func readable(b []byte) bool {
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n == 1 || isControl(r) && !strings.ContainsRune("\t\n\r", r) {
			return false
		}
		b = b[n:]
	}
	return true
}

func isControl(r rune) bool { return r < 0x20 || r >= 0x7f && r < 0xa0 }

// line writes data in one line: JSON without the white space between its tokens; text from its first
// line that is not blank.
func line(data []byte, json, cut bool) string {
	var b builder
	inString, escaped := false, false
	if !json {
		data = []byte(strings.TrimLeft(string(data), " \t\r\n"))
	}
	for len(data) > 0 && !b.full() {
		r, n := utf8.DecodeRune(data)
		invalid := r == utf8.RuneError && n == 1
		data = data[n:]
		if json && !inString && !invalid && (r == ' ' || r == '\t' || r == '\r' || r == '\n') {
			continue
		}
		switch {
		case escaped:
			escaped = false
		case inString && r == '\\':
			escaped = true
		case r == '"':
			inString = json && !inString
		}
		b.add(r)
	}
	if s := b.done(cut || len(data) > 0); s != "" {
		return s
	}
	return "white space only"
}

// builder collects the characters of a summary.
type builder struct {
	runes []rune
}

// full says whether there is one more than fits.
func (b *builder) full() bool { return len(b.runes) > summaryRunes }

func (b *builder) text(s string) {
	for _, r := range s {
		b.add(r)
	}
}

// add writes a character, a control character as its symbol: U+2400 and what follows for C0, U+2421 for
// DEL, U+2426 for C1, and the same for the two separators that break lines.
func (b *builder) add(r rune) {
	switch {
	case r < 0x20:
		r += 0x2400
	case r == 0x7f:
		r = 0x2421
	case isControl(r), r == 0x2028, r == 0x2029:
		r = 0x2426
	}
	b.runes = append(b.runes, r)
}

// done is the summary; more says that it is not all.
func (b *builder) done(more bool) string {
	if len(b.runes) > summaryRunes || more && len(b.runes) == summaryRunes {
		b.runes, more = b.runes[:summaryRunes-1], true
	}
	if more {
		return string(b.runes) + "…"
	}
	return string(b.runes)
}
