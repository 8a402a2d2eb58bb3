package httpapi

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/gofiber/fiber/v2"

	"oriel/server/fault"
)

// checkParameters holds the path's and the query's parameters against openapi.yaml: names, repeats and
// values, every violation at once. What passes, the generated code binds.
func (r *route) checkParameters(c *fiber.Ctx, call *call) error {
	query, err := call.params()
	if err != nil {
		return err
	}
	known := map[string]*openapi3.Parameter{}
	found := &findings{reason: fault.ReasonInvalidParameter}
	for _, p := range r.operation.Parameters {
		if p.Value.In == openapi3.ParameterInPath {
			check(p.Value.Schema.Value, strings.Clone(c.Params(p.Value.Name)), p.Value.Name, found)
			continue
		}
		known[p.Value.Name] = p.Value
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		p, ok := known[name]
		if !ok {
			found.unknown(name, slices.Sorted(maps.Keys(known)))
			continue
		}
		checkParameter(p, query[name], found)
	}
	if r.also != nil {
		r.also(query, found)
	}
	return found.err()
}

func (f *findings) unknown(name string, known []string) {
	accepted := strings.Join(known, ", ")
	if accepted == "" {
		accepted = "none"
	}
	f.add(name, "There is no parameter "+shown(name)+" here; accepted: "+accepted+".", "accepted", accepted)
	f.all[len(f.all)-1].Reason = fault.ReasonUnknownParameter
}

func checkParameter(p *openapi3.Parameter, values []string, found *findings) {
	s := p.Schema.Value
	for _, v := range values {
		if !utf8.ValidString(v) {
			found.add(p.Name, p.Name+" is not UTF-8.")
			return
		}
	}
	switch {
	case s.Type.Is("array"):
		list := make([]any, len(values))
		for i, v := range values {
			list[i] = v
		}
		checkArray(s, list, p.Name, found)
	case len(values) > 1:
		found.add(p.Name, p.Name+" is given "+timesOf(len(values))+"; give it once.")
	case s.Type.Is("integer"):
		checkInteger(s, values[0], p.Name, found)
	default:
		checkString(s, values[0], p.Name, found)
	}
}

func timesOf(n int) string {
	if n == 2 {
		return "twice"
	}
	return "several times"
}
