package query

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"oriel/server/cloudevents"
	"oriel/server/lexicon"
)

// facetTag is the facet field whose values are the event's tags.
const facetTag = "tag"

// Schema is what fields there are beside the built-in ones.
type Schema struct {
	Facets []string // names of the facet fields, device, room, person and tag included where they are configured
}

// CheckFacet says why a facet field cannot have a name: names are those of parameters and of fields of the
// language, where some are taken.
func CheckFacet(name string) error {
	if !facetName.MatchString(name) {
		return errors.New("the name of a facet field is a letter of a-z and up to 39 more letters, digits, _ and -")
	}
	if slices.Contains(attributes(), name) || slices.Contains(reserved(), name) {
		return fmt.Errorf("%s is the name of a field or parameter that there is already", name)
	}
	return nil
}

var facetName = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,39}$`)

// reserved are names of other parameters and fields, and the schemes of URIs that are words of a query.
func reserved() []string {
	return []string{
		"severity", "trace", "time", "data", "ext", "extension", "q", "v", "from", "until",
		"snapshot", "field", "limit", "contains", "zone", "buckets", "interval", "text", "position", "format", "columns",
		"by", "before", "after",
		"http", "https", "urn", "mailto", "tel", "arn",
	}
}

// attributes are the attributes that are fields, in their canonical order.
func attributes() []string {
	return []string{"type", "source", "subject", "id", "datacontenttype", "dataschema"}
}

var errUnknownField = errors.New("there is no such field")

// FieldOf reads a field's name as the language and parameters write it: type, severity, room, ext.name,
// data.path, trace, id. String of the field is its canonical spelling.
func FieldOf(s Schema, name string) (Field, error) {
	switch {
	case slices.Contains(attributes(), name):
		return Field{Attribute, name}, nil
	case name == "severity":
		return Field{Kind: Severity}, nil
	case name == "trace":
		return Field{Kind: Trace}, nil
	case slices.Contains(s.Facets, name) && CheckFacet(name) == nil:
		return Field{Facet, name}, nil
	}
	if ext, ok := strings.CutPrefix(name, "ext."); ok {
		if !extensionName(ext) {
			return Field{}, errors.New("the name of an extension is 1 to 20 characters of a-z and 0-9")
		}
		return Field{Extension, ext}, nil
	}
	path, ok := strings.CutPrefix(name, "data")
	if !ok || path != "" && path[0] != '.' && path[0] != '[' {
		return Field{}, errUnknownField
	}
	if path != "" && path[0] == '.' {
		path = path[1:]
		if path == "" || path[0] == '[' {
			return Field{}, errPath
		}
	}
	steps, err := lexicon.ParsePath(path)
	if err != nil {
		return Field{}, errPath
	}
	return Field{Data, string(lexicon.AppendPath(nil, steps))}, nil
}

var errPath = errors.New(`a path is names joined by dots, quoted where they hold anything but letters, digits and _ - $ @, and [*] or [0] for elements of arrays, such as data.items[*]."unit price"`)

func extensionName(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return s != "" && len(s) <= cloudevents.MaxName
}

// String is the canonical spelling of the field.
func (f Field) String() string {
	switch f.Kind {
	case Attribute, Facet:
		return f.Name
	case Severity:
		return "severity"
	case Trace:
		return "trace"
	case Extension:
		return "ext." + f.Name
	case Data:
		if f.Name == "" || f.Name[0] == '[' {
			return "data" + f.Name
		}
		return "data." + f.Name
	default:
		return ""
	}
}

// compared says whether the field has an order for < and > .
func (f Field) compared() bool { return f.Kind == Severity || f.Kind == Extension || f.Kind == Data }

func (f Field) compare(o Field) int {
	if f.Kind == Attribute && o.Kind == Attribute {
		return cmp.Compare(slices.Index(attributes(), f.Name), slices.Index(attributes(), o.Name))
	}
	return cmp.Or(cmp.Compare(f.Kind, o.Kind), cmp.Compare(f.Name, o.Name))
}

const maxSuggestions = 5

// suggestions are the fields nearest to a name that is none: those spelled almost so, then the member of the
// data and the extension of that name.
func suggestions(s Schema, name string) []string {
	type near struct {
		name string
		far  int
	}
	var found []near
	lower := strings.ToLower(name)
	for _, known := range slices.Concat(attributes(), []string{"severity", "trace"}, s.Facets) {
		far := distance(lower, known)
		if far <= max(1, len(known)/3) || len(lower) > 2 && strings.HasPrefix(known, lower) {
			found = append(found, near{known, far})
		}
	}
	slices.SortStableFunc(found, func(a, b near) int { return cmp.Compare(a.far, b.far) })
	var out []string
	for _, n := range found {
		out = append(out, n.name)
	}
	for _, guess := range []string{"data." + name, "ext." + lower} {
		if f, err := FieldOf(s, guess); err == nil && f.String() == guess {
			out = append(out, guess)
		}
	}
	return out[:min(len(out), maxSuggestions)]
}

// distance is the number of characters to change, add, leave out or exchange with their neighbour between
// two names (optimal string alignment); of long names, more than any that is near.
func distance(a, b string) int {
	const long = 40
	x, y := []rune(a), []rune(b)
	if len(x) > long || len(y) > long {
		return long
	}
	rows := make([][]int, len(x)+1)
	for i := range rows {
		rows[i] = make([]int, len(y)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(x); i++ {
		for j := 1; j <= len(y); j++ {
			change := rows[i-1][j-1]
			if x[i-1] != y[j-1] {
				change++
			}
			rows[i][j] = min(change, rows[i-1][j]+1, rows[i][j-1]+1)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(x)][len(y)]
}

// SeverityName is the name of a rank, 1 to 8; "" for any other.
func SeverityName(rank int16) string {
	names := [...]string{"", "trace", "debug", "info", "notice", "warning", "error", "critical", "emergency"}
	if rank < 0 || int(rank) >= len(names) {
		return ""
	}
	return names[rank]
}

// SeverityRank is the rank of a severity's name, without regard to case; warn is warning.
func SeverityRank(name string) (int16, bool) {
	name = strings.ToLower(name)
	if name == "warn" {
		name = "warning"
	}
	for rank := int16(1); SeverityName(rank) != ""; rank++ {
		if SeverityName(rank) == name {
			return rank, true
		}
	}
	return 0, false
}
