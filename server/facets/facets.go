// Package facets is the configuration of the fields that every event is sorted by: what they are called, where an
// event has their values, and of which of them counts are kept ahead. It reads what an operator wrote and says
// all that is wrong with it. It knows neither events nor the database.
package facets

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"oriel/server/lexicon"
	"oriel/server/query"
)

// The built-in fields. The values of Tag are an event's tags; Device is the subject where its path has nothing,
// and is never counted ahead, as there are as many values as devices.
const (
	Device = "device"
	Person = "person"
	Room   = "room"
	Tag    = "tag"
)

// Most is how many fields there can be: each costs every event.
const Most = 16

// The variables that messages name.
const (
	variableFields   = "ORIEL_FACETS"
	variableCounted  = "ORIEL_FACETS_COUNTED"
	variableSeverity = "ORIEL_SEVERITY_PATH"
)

// DefaultSeverity is the default of ORIEL_SEVERITY_PATH.
const DefaultSeverity = "data.severity"

// Field is one field of a configuration.
type Field struct {
	Name    string
	From    query.Field // a path of the data, or an extension
	Counted bool        // it has few values: rollups hold them
}

// Config is a configuration. The zero Config is none: Default is what there is without any settings.
type Config struct {
	Fields   []Field // by name
	Severity string  // the path in the data of an event's severity, where no extension names one
}

// Default is the configuration without any settings.
func Default() Config {
	c, err := Parse("", nil, DefaultSeverity)
	if err != nil {
		panic(err) // the defaults are constants
	}
	return c
}

// Parse reads the three settings. fields are name=data.path or name=ext.name (or the extension's name alone), comma
// separated: they are added to the built-in ones or take their place, and name= takes one away. counted are the
// names of those of few values, beside person, room and tag. The error joins everything that is wrong.
func Parse(fields string, counted []string, severity string) (Config, error) {
	c := Config{Fields: []Field{
		{Device, path("deviceId"), false}, {Person, path("personId"), true}, {Room, path("roomId"), true}, {Tag, path("tags"), true},
	}}
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	c.add(fields, bad)
	if len(c.Fields) > Most {
		bad("%s: there are %d fields, the built-in ones included, and at most %d can be", variableFields, len(c.Fields), Most)
	}
	c.count(counted, bad)
	from, err := source(severity)
	if err == nil && from.Kind != query.Data {
		err = errors.New("is no path of the data")
	}
	if err != nil {
		bad("%s: %q %w; accepted is a path such as data.level or data.log.severity", variableSeverity, severity, err)
	}
	c.Severity = from.Name
	slices.SortFunc(c.Fields, func(a, b Field) int { return cmp.Compare(a.Name, b.Name) })
	return c, errors.Join(errs...)
}

func path(name string) query.Field { return query.Field{Kind: query.Data, Name: name} }

// add reads the fields.
func (c *Config) add(fields string, bad func(string, ...any)) {
	given := map[string]bool{}
	for _, entry := range split(fields) {
		if entry == "" {
			continue
		}
		name, from, ok := strings.Cut(entry, "=")
		name, from = strings.TrimSpace(name), strings.TrimSpace(from)
		if !ok {
			bad("%s: %q is no field; accepted is name=data.path or name=ext.name", variableFields, entry)
			continue
		}
		if err := query.CheckFacet(name); err != nil {
			bad("%s: %q: %w", variableFields, name, err)
			continue
		}
		if given[name] {
			bad("%s: %q is given more than once", variableFields, name)
			continue
		}
		given[name] = true
		at := slices.IndexFunc(c.Fields, func(f Field) bool { return f.Name == name })
		if from == "" {
			if at < 0 {
				bad("%s: %q is no built-in field, so there is nothing to take away", variableFields, name)
				continue
			}
			c.Fields = slices.Delete(c.Fields, at, at+1)
			continue
		}
		of, err := source(from)
		switch {
		case err != nil:
			bad("%s: %s=%s: %q %w; accepted is a path such as data.order.zone or an extension such as ext.region", variableFields, name, from, from, err)
		case at >= 0:
			c.Fields[at].From = of
		default:
			c.Fields = append(c.Fields, Field{Name: name, From: of})
		}
	}
}

// count marks the fields of few values.
func (c *Config) count(counted []string, bad func(string, ...any)) {
	for _, name := range counted {
		name = strings.TrimSpace(name)
		at := slices.IndexFunc(c.Fields, func(f Field) bool { return f.Name == name })
		switch {
		case name == Device:
			bad("%s: device cannot be counted ahead, as it has as many values as there are devices; a field of another name can", variableCounted)
		case at < 0:
			bad("%s: %q is no facet field; there are %s", variableCounted, name, strings.Join(c.Names(), ", "))
		default:
			c.Fields[at].Counted = true
		}
	}
}

// source reads where values are: data.path, ext.name or the name of an extension.
func source(text string) (query.Field, error) {
	name := text
	if !strings.ContainsAny(text, ".[") && text != "data" {
		name = "ext." + text
	}
	f, err := query.FieldOf(query.Schema{}, name)
	switch {
	case err != nil:
		return f, fmt.Errorf("cannot be read: %w", err)
	case f.Kind == query.Extension && slices.Contains(attributes(), f.Name):
		return f, errors.New("is an attribute that every event can have, and no extension")
	case f.Kind == query.Extension:
		return f, nil
	case f.Kind != query.Data || f.Name == "":
		return f, errors.New("is neither a path of the data nor an extension")
	case lexicon.AnyElement(f.Name) != f.Name:
		return f, errors.New("names one element of an array; [*] is all of them")
	}
	return f, nil
}

// attributes are the names that extensions cannot have.
func attributes() []string {
	return []string{"id", "source", "type", "subject", "time", "datacontenttype", "dataschema", "specversion", "data"}
}

// split cuts at the commas that stand outside of quoted names, and trims.
func split(text string) (out []string) {
	from, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch {
		case quoted && text[i] == '\\':
			i++
		case text[i] == '"':
			quoted = !quoted
		case text[i] == ',' && !quoted:
			out, from = append(out, strings.TrimSpace(text[from:i])), i+1
		}
	}
	return append(out, strings.TrimSpace(text[from:]))
}

// Names are the names of the fields, in order.
func (c Config) Names() []string {
	names := make([]string, len(c.Fields))
	for i, f := range c.Fields {
		names[i] = f.Name
	}
	return names
}

// Counted are the names of the fields that rollups hold, in order.
func (c Config) Counted() []string {
	names := []string{}
	for _, f := range c.Fields {
		if f.Counted {
			names = append(names, f.Name)
		}
	}
	return names
}

// String is the configuration's one spelling: those that read alike derive alike.
func (c Config) String() string {
	var b strings.Builder
	for _, f := range c.Fields {
		b.WriteString(f.Name + "=" + f.From.String())
		if f.Counted {
			b.WriteString(" counted")
		}
		b.WriteByte(',')
	}
	b.WriteString("severity=" + path(c.Severity).String())
	return b.String()
}
