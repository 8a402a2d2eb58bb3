package config

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/caarlos0/env/v11"
)

// Read reads the environment. file reads a secret's _FILE twin (os.ReadFile). What cannot be read is left
// out, and told by the error together: AllMistakes says what else is wrong.
func Read(environ []string, file func(string) ([]byte, error)) (Config, error) {
	var cfg Config
	vars := env.ToMap(environ)
	wrong := readSecretFiles(vars, file)
	if err := env.ParseWithOptions(&cfg, env.Options{Environment: vars}); err != nil {
		var all env.AggregateError
		if !errors.As(err, &all) {
			return cfg, err
		}
		for _, err := range all.Errors {
			wrong = append(wrong, named(err, vars))
		}
	}
	if cfg.Kafka.Group == "" {
		cfg.Kafka.Group = "oriel-store." + cfg.Kafka.Topic
	}
	if len(wrong) > 0 {
		return cfg, wrong
	}
	return cfg, nil
}

// unread are the variables that could not be read.
type unread []unreadable

type unreadable struct{ variable, text string }

func (u unread) Error() string {
	lines := make([]string, len(u))
	for i, one := range u {
		lines[i] = one.text
	}
	return strings.Join(lines, "\n")
}

// AllMistakes joins what Read could not read with what Validate finds in the rest. A mistake that speaks of
// a variable that was not read may be none, and is left out.
func (c Config) AllMistakes(read error) error {
	variable := regexp.MustCompile(`ORIEL_[A-Z_]+`)
	var names []string
	var wrong unread
	if errors.As(read, &wrong) {
		for _, one := range wrong {
			names = append(names, one.variable)
		}
	}
	errs := []error{read}
	for _, mistake := range c.mistakes() {
		words := variable.FindAllString(mistake.Error(), -1)
		if !slices.ContainsFunc(words, func(word string) bool { return slices.Contains(names, word) }) {
			errs = append(errs, mistake)
		}
	}
	return errors.Join(errs...)
}

// named says which variable could not be read, where the library says which field, and what is accepted.
func named(err error, vars map[string]string) unreadable {
	var parse env.ParseError
	if !errors.As(err, &parse) {
		return unreadable{text: err.Error()}
	}
	for _, f := range fields(&Config{}) {
		if f.field != parse.Name {
			continue
		}
		accepted := map[string]string{
			"time.Duration": "a duration such as 10s", "config.Days": acceptedDays,
			"bool": "true or false", "float64": "a number such as 0.5", "int": "a whole number", "int32": "a whole number", "int64": "a whole number",
			"netip.Prefix": "networks such as 10.0.0.0/8,192.0.2.7/32", "[]netip.Prefix": "networks such as 10.0.0.0/8,192.0.2.7/32",
		}[parse.Type.String()]
		problem := "cannot be read"
		if errors.Is(parse.Err, strconv.ErrRange) {
			problem = "is too large"
		}
		return unreadable{f.name, fmt.Sprintf("%s: %q %s; accepted is %s", f.name, vars[f.name], problem, accepted)}
	}
	return unreadable{text: err.Error()}
}

// readSecretFiles puts what the _FILE twins hold in place of them. Empty is unset, as for every variable.
func readSecretFiles(vars map[string]string, file func(string) ([]byte, error)) (wrong unread) {
	for _, f := range fields(&Config{}) {
		path := vars[f.name+fileSuffix]
		if f.secret == "" || path == "" {
			continue
		}
		if vars[f.name] != "" {
			wrong = append(wrong, unreadable{f.name, fmt.Sprintf("%s and %s%s are both set: keep one", f.name, f.name, fileSuffix)})
			continue
		}
		text, err := file(path)
		if err != nil {
			wrong = append(wrong, unreadable{f.name, fmt.Sprintf("%s%s: %v", f.name, fileSuffix, err)})
			continue
		}
		vars[f.name] = strings.TrimRight(string(text), "\r\n")
	}
	return wrong
}

// fileSuffix makes a secret's twin.
const fileSuffix = "_FILE"

// tools are variables of our own that the configuration is not made of: of make and the tests, and of the
// examples in the documentation. A name that ends in _ stands for all that begin so.
func tools() []string {
	return []string{
		"ORIEL_TEST_", "ORIEL_E2E_", "ORIEL_BENCH_", "ORIEL_CACHE_DIR", "ORIEL_CHROMIUM", "ORIEL_DEV_URL",
		"ORIEL_POSTGRES_NATIVE", "ORIEL_URL", "ORIEL_WEBHOOKS",
	}
}

// Unknown says which ORIEL_ variables nothing reads, such as a misspelt one, and what each may be meant for.
// Their values, which may be secrets, it does not say.
func Unknown(environ []string) (warnings []string) {
	var known []string
	for _, f := range fields(&Config{}) {
		known = append(known, f.name)
		if f.secret != "" {
			known = append(known, f.name+fileSuffix)
		}
	}
	for name := range maps.Keys(env.ToMap(environ)) {
		if strings.HasPrefix(name, "ORIEL_") && !isTool(name) {
			if near := nearest(name, known); near != name {
				warnings = append(warnings, fmt.Sprintf("%s is set, and nothing reads it: is %s meant?", name, near))
			}
		}
	}
	slices.Sort(warnings)
	return warnings
}

func isTool(name string) bool {
	for _, tool := range tools() {
		if name == tool || strings.HasSuffix(tool, "_") && strings.HasPrefix(name, tool) {
			return true
		}
	}
	return false
}

// nearest is the known name that the fewest edits make of a name.
func nearest(name string, known []string) (near string) {
	least := len(name) + 1
	for _, k := range known {
		if n := edits(name, k); n < least || near == "" {
			near, least = k, n
		}
	}
	return near
}

// edits counts the letters to insert, drop or change to make b of a.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := before
			if a[i] != b[j] {
				change++
			}
			before = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
