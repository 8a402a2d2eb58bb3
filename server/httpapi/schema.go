package httpapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/getkin/kin-openapi/openapi3"
)

// checkable refuses a schema with what check does not know, so that nothing of openapi.yaml is passed over.
func checkable(s *openapi3.Schema) error {
	if s.OneOf != nil || s.AnyOf != nil || s.AllOf != nil || s.Not != nil || s.MultipleOf != nil || s.Nullable ||
		s.MinProps != 0 || s.MaxProps != nil || s.Discriminator != nil || s.ExclusiveMin.IsSet() || s.ExclusiveMax.IsSet() || len(s.Type.Slice()) != 1 {
		return errors.New("a schema has a keyword that requests are not checked for")
	}
	if s.Format != "" && s.Format != "date-time" && s.Format != "int32" {
		return fmt.Errorf("requests are not checked for the format %s", s.Format)
	}
	if s.Type.Is("object") && (s.AdditionalProperties.Has == nil || *s.AdditionalProperties.Has) {
		return errors.New("an object takes properties that nobody knows")
	}
	if s.Pattern != "" {
		if _, err := regexp.Compile(s.Pattern); err != nil {
			return fmt.Errorf("pattern: %w", err)
		}
	}
	for _, p := range s.Properties {
		if err := checkable(p.Value); err != nil {
			return err
		}
	}
	if s.Items != nil {
		return checkable(s.Items.Value)
	}
	return nil
}

// check holds a value against the keywords that checkable lets through.
func check(s *openapi3.Schema, value any, path string, found *findings) {
	ok := false
	switch v := value.(type) {
	case map[string]any:
		if ok = s.Type.Is("object"); ok {
			checkObject(s, v, path, found)
		}
	case []any:
		if ok = s.Type.Is("array"); ok {
			checkArray(s, v, path, found)
		}
	case string:
		if ok = s.Type.Is("string"); ok {
			checkString(s, v, path, found)
		}
	case json.Number:
		if ok = s.Type.Is("integer"); ok {
			checkInteger(s, v.String(), path, found)
		}
	case bool:
		ok = s.Type.Is("boolean")
	}
	if !ok {
		accepted := map[string]string{
			"object": "an object", "array": "a list", "string": "text", "integer": "a whole number", "boolean": "true or false",
		}[s.Type.Slice()[0]]
		found.add(path, shown(path)+" must be "+accepted+".", "accepted", accepted)
	}
}

func checkObject(s *openapi3.Schema, object map[string]any, path string, found *findings) {
	accepted := strings.Join(slices.Sorted(maps.Keys(s.Properties)), ", ")
	for _, key := range slices.Sorted(maps.Keys(object)) {
		field := fieldOf(path, key)
		if p, known := s.Properties[key]; known {
			check(p.Value, object[key], field, found)
		} else {
			found.add(field, "There is no field "+shown(field)+" here; accepted: "+accepted+".", "accepted", accepted)
		}
	}
	for _, key := range s.Required {
		if _, given := object[key]; !given {
			field := fieldOf(path, key)
			found.add(field, field+" is missing.")
		}
	}
}

func checkArray(s *openapi3.Schema, list []any, path string, found *findings) {
	if n := uint64(len(list)); n < s.MinItems {
		found.add(path, fmt.Sprintf("%s needs at least %d.", shown(path), s.MinItems), "accepted", "at least "+strconv.FormatUint(s.MinItems, 10))
	} else if s.MaxItems != nil && n > *s.MaxItems {
		found.add(path, fmt.Sprintf("%s takes at most %d.", shown(path), *s.MaxItems), "limit", strconv.FormatUint(*s.MaxItems, 10))
		return // the rest would only repeat it
	}
	seen := map[any]bool{}
	for i, v := range list {
		element := path + "[" + strconv.Itoa(i) + "]"
		check(s.Items.Value, v, element, found)
		if text, ok := v.(string); ok && s.UniqueItems {
			if seen[text] {
				found.add(element, shown(element)+" repeats another.", "value", cut(text))
			}
			seen[text] = true
		}
	}
}

func checkString(s *openapi3.Schema, text, path string, found *findings) {
	length := uint64(utf8.RuneCountInString(text))
	switch {
	case strings.ContainsFunc(text, unprintable):
		found.add(path, shown(path)+" has a control character; only line feeds and tabs may be in it.", "accepted", "text without control characters")
	case length == 0 && s.MinLength > 0:
		found.add(path, shown(path)+" must not be empty.")
	case length < s.MinLength:
		found.add(path, fmt.Sprintf("%s is shorter than %d characters.", shown(path), s.MinLength), "limit", strconv.FormatUint(s.MinLength, 10))
	case s.MaxLength != nil && length > *s.MaxLength:
		found.add(path, fmt.Sprintf("%s is longer than %d characters.", shown(path), *s.MaxLength), "limit", strconv.FormatUint(*s.MaxLength, 10))
	case s.Pattern == blank && strings.TrimSpace(text) == "":
		found.add(path, shown(path)+" must not be blank.")
	case s.Pattern != "" && s.Pattern != blank && !regexp.MustCompile(s.Pattern).MatchString(text):
		found.add(path, shown(path)+" has a form that is not accepted.", "value", cut(text))
	case s.Format == "date-time" && !isInstant(text):
		found.add(path, shown(path)+" is no time such as 2026-11-30T10:00:00Z.", "value", cut(text), "accepted", "RFC 3339")
	case len(s.Enum) > 0 && !slices.Contains(s.Enum, any(text)):
		texts := make([]string, len(s.Enum))
		for i, e := range s.Enum {
			texts[i] = fmt.Sprint(e)
		}
		accepted := strings.Join(texts, ", ")
		found.add(path, shown(path)+" must be one of "+accepted+".", "value", cut(text), "accepted", accepted)
	}
}

// blank is the pattern of a text in which something is to be read.
const blank = `\S`

// unprintable finds what the database or a terminal would stumble over.
func unprintable(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }

func isInstant(text string) bool {
	_, err := time.Parse(time.RFC3339Nano, text)
	return err == nil
}

func checkInteger(s *openapi3.Schema, text, path string, found *findings) {
	n, err := strconv.ParseInt(text, 10, 32)
	low, high := s.Min != nil && float64(n) < *s.Min, s.Max != nil && float64(n) > *s.Max
	if err == nil && !low && !high && strconv.FormatInt(n, 10) == text {
		return
	}
	accepted := "a whole number"
	if s.Min != nil && s.Max != nil {
		accepted = fmt.Sprintf("a whole number from %.0f to %.0f", *s.Min, *s.Max)
	}
	found.add(path, shown(path)+" must be "+accepted+".", "value", cut(text), "accepted", accepted)
}
