package cloudevents_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"
)

// reasonsOf are the values of the constants of a file whose names begin with prefix.
func reasonsOf(t *testing.T, file, prefix string) map[string]string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	ast.Inspect(parsed, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 || !strings.HasPrefix(spec.Names[0].Name, prefix) {
			return true
		}
		if literal, ok := spec.Values[0].(*ast.BasicLit); ok {
			if value, err := strconv.Unquote(literal.Value); err == nil {
				found[value] = spec.Names[0].Name
			}
		}
		return true
	})
	return found
}

func TestEveryReasonIsOfTheClosedSetAndDocumented(t *testing.T) {
	t.Parallel()
	known := reasonsOf(t, "../fault/reason.go", "Reason")
	own := reasonsOf(t, "violation.go", "reason")
	if len(known) < 40 || len(own) != 12 {
		t.Fatalf("found %d reasons of package fault and %d of this one", len(known), len(own))
	}
	docs, err := os.ReadFile("../../docs/events.md")
	if err != nil {
		t.Fatal(err)
	}
	for reason, name := range own {
		if known[reason] == "" {
			t.Errorf("%s = %q is not in package fault", name, reason)
		}
	}
	for reason := range known {
		if !strings.Contains(string(docs), "\n| `"+reason+"` |") {
			t.Errorf("docs/events.md does not explain %s", reason)
		}
	}
}
