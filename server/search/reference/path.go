package reference

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// step is one step of a path: a name, an element by its index, or any element (index -1).
type step struct {
	name    string
	element bool
	index   int
}

// steps reads a path: names joined by dots, in quotes where they are no plain ones, [*] and [n].
func steps(path string) (out []step) {
	for i := 0; path != ""; i++ {
		if path[0] == '[' {
			inner, rest, _ := strings.Cut(path[1:], "]")
			n, err := strconv.Atoi(inner)
			if err != nil {
				n = -1
			}
			out, path = append(out, step{element: true, index: n}), rest
			continue
		}
		if i > 0 {
			path = strings.TrimPrefix(path, ".")
		}
		if path[0] != '"' {
			end := strings.IndexAny(path, ".[")
			if end < 0 {
				end = len(path)
			}
			out, path = append(out, step{name: path[:end]}), path[end:]
			continue
		}
		name := ""
		for path = path[1:]; path[0] != '"'; {
			if path[0] == '\\' {
				path = path[1:]
			}
			_, n := utf8.DecodeRuneInString(path)
			name, path = name+path[:n], path[n:]
		}
		out, path = append(out, step{name: name}), path[1:]
	}
	return out
}

// at is all values at a path.
func (v *value) at(path []step) []*value {
	if v == nil {
		return nil
	}
	if len(path) == 0 {
		return []*value{v}
	}
	var out []*value
	s, rest := path[0], path[1:]
	if !s.element {
		for _, m := range v.members {
			if m.name == s.name {
				out = append(out, m.of.at(rest)...)
			}
		}
		return out
	}
	for i, e := range v.elements {
		if s.index == -1 || s.index == i {
			out = append(out, e.at(rest)...)
		}
	}
	return out
}

// quoted is a name as paths spell it: bare if it is letters, digits, _ - $ and @, else in quotes.
func quoted(name string) string {
	bare := name != "" && utf8.ValidString(name)
	for _, r := range name {
		bare = bare && r != utf8.RuneError && (strings.ContainsRune("_-$@", r) || unicode.In(r, unicode.L, unicode.N, unicode.M))
	}
	if bare {
		return name
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(name) + `"`
}
