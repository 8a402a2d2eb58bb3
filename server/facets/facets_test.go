package facets

import (
	"fmt"
	"strings"
	"testing"
)

func TestAConfigurationHasOneSpelling(t *testing.T) {
	t.Parallel()
	const person, room, tag, level = "person=data.personId counted", "room=data.roomId counted", "tag=data.tags counted", "severity=data.severity"
	for name, c := range map[string]struct {
		fields, counted, severity string
		want                      []string
	}{
		"without settings":                   {"", "", DefaultSeverity, []string{"device=data.deviceId", person, room, tag, level}},
		"fields are added":                   {"area=data.place.area, order=ext.order,", "area", DefaultSeverity, []string{"area=data.place.area counted", "device=data.deviceId", "order=ext.order", person, room, tag, level}},
		"an extension by its name alone":     {"order=order", "", DefaultSeverity, []string{"device=data.deviceId", "order=ext.order", person, room, tag, level}},
		"a built-in one is somewhere else":   {"room=data.place.room,device=ext.device", "", DefaultSeverity, []string{"device=ext.device", person, "room=data.place.room counted", tag, level}},
		"a built-in one is taken away":       {"person=,tag=", "", DefaultSeverity, []string{"device=data.deviceId", room, level}},
		"names in quotes hold anything":      {`a=data."x,y=\"z".b[*],b=data[*].c`, "b", DefaultSeverity, []string{`a=data."x,y=\"z".b[*]`, "b=data[*].c counted", "device=data.deviceId", person, room, tag, level}},
		"quotes that are needless go":        {`a=data."b"."c d"`, "", DefaultSeverity, []string{`a=data.b."c d"`, "device=data.deviceId", person, room, tag, level}},
		"severity is somewhere else":         {"", "", `data.log."level"`, []string{"device=data.deviceId", person, room, tag, "severity=data.log.level"}},
		"what is counted anyway can be told": {"", "room", DefaultSeverity, []string{"device=data.deviceId", person, room, tag, level}},
	} {
		var counted []string
		if c.counted != "" {
			counted = strings.Split(c.counted, ",")
		}
		got, err := Parse(c.fields, counted, c.severity)
		if want := strings.Join(c.want, ","); err != nil || got.String() != want {
			t.Errorf("%s: %s, %v, want %s", name, got, err, want)
		}
	}
	if d := Default(); fmt.Sprint(d.Names(), d.Counted()) != "[device person room tag] [person room tag]" {
		t.Errorf("%v, %v", d.Names(), d.Counted())
	}
}

func TestEveryMistakeOfAConfigurationIsTold(t *testing.T) {
	t.Parallel()
	many := make([]string, 13)
	for i := range many {
		many[i] = fmt.Sprintf("f%d=data.f%d", i, i)
	}
	for name, c := range map[string]struct {
		fields, counted, severity string
		want                      []string
	}{
		"no field":                {"area", "", DefaultSeverity, []string{`ORIEL_FACETS: "area" is no field`}},
		"a name that is taken":    {"type=data.a,page=data.b,Area=data.c", "", DefaultSeverity, []string{`"type": type is the name of a field`, `"Area": the name of a facet field is`}},
		"a name of completion":    {"extension=data.a", "", DefaultSeverity, []string{`extension is the name of a field or parameter`}},
		"twice":                   {"area=data.a,area=data.b", "", DefaultSeverity, []string{`"area" is given more than once`}},
		"nothing to take away":    {"area=", "", DefaultSeverity, []string{`"area" is no built-in field`}},
		"no path":                 {"area=data..a", "", DefaultSeverity, []string{`area=data..a: "data..a" cannot be read: a path is names`}},
		"an open quote":           {`area=data."a,b`, "", DefaultSeverity, []string{`cannot be read: a path is names`}},
		"the data itself":         {"area=data", "", DefaultSeverity, []string{`"data" is neither a path of the data nor an extension`}},
		"one element":             {"area=data.a[0].b", "", DefaultSeverity, []string{`names one element of an array`}},
		"an attribute":            {"kind=ext.type,what=subject", "", DefaultSeverity, []string{`"ext.type" is an attribute`, `"subject" is an attribute`}},
		"no extension":            {"area=Some-Name", "", DefaultSeverity, []string{`the name of an extension is`}},
		"too many":                {strings.Join(many, ","), "", DefaultSeverity, []string{"there are 17 fields, the built-in ones included, and at most 16 can be"}},
		"counted and not there":   {"area=data.a", "order", DefaultSeverity, []string{`ORIEL_FACETS_COUNTED: "order" is no facet field; there are device, person, room, tag, area`}},
		"devices are not counted": {"", "device", DefaultSeverity, []string{`device cannot be counted ahead`}},
		"severity of no data":     {"", "", "ext.level", []string{`ORIEL_SEVERITY_PATH: "ext.level" is no path of the data`}},
		"severity of one element": {"", "", "data.a[1]", []string{`ORIEL_SEVERITY_PATH: "data.a[1]" names one element`}},
		"all at once":             {"area,x=data..", "y", "", []string{`"area" is no field`, `x=data..`, `"y" is no facet field`, "ORIEL_SEVERITY_PATH"}},
	} {
		var counted []string
		if c.counted != "" {
			counted = strings.Split(c.counted, ",")
		}
		_, err := Parse(c.fields, counted, c.severity)
		if err == nil {
			t.Errorf("%s: nothing was wrong", name)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v does not say %s", name, err, want)
			}
		}
	}
	if _, err := Parse(strings.Join(many[:12], ","), nil, DefaultSeverity); err != nil {
		t.Errorf("16 fields: %v", err)
	}
}
