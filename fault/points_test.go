package fault

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// points finds every failpoint of the program in its source, by name. A name must be a literal and belong to
// one place: a crash there is then a crash at one moment.
func points(root string) ([]string, error) {
	found := map[string]token.Position{}
	files := token.NewFileSet()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		parsed, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		var bad error
		ast.Inspect(parsed, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || !isPoint(call.Fun) {
				return true
			}
			at := files.Position(call.Pos())
			name, err := literal(call.Args)
			switch before, twice := found[name]; {
			case err != nil:
				bad = fmt.Errorf("%s: %w", at, err)
			case twice:
				bad = fmt.Errorf("%s: the failpoint %s is at %s too", at, name, before)
			}
			found[name] = at
			return true
		})
		return bad
	})
	return slices.Sorted(maps.Keys(found)), err
}

func isPoint(fun ast.Expr) bool {
	sel, ok := fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	pkg, ok := sel.X.(*ast.Ident)
	return ok && pkg.Name == "failpoint" && (sel.Sel.Name == "Hit" || sel.Sel.Name == "Error")
}

func literal(args []ast.Expr) (string, error) {
	if len(args) == 1 {
		if lit, ok := args[0].(*ast.BasicLit); ok && lit.Kind == token.STRING {
			return strconv.Unquote(lit.Value)
		}
	}
	return "", fmt.Errorf("the name of a failpoint is not one literal")
}

func TestEveryFailpointIsFoundInTheSource(t *testing.T) {
	t.Parallel()
	got, err := points("../server")
	if err != nil {
		t.Fatal(err)
	}
	// One of each part, and the whole of none: that the list is whole is what the scan is for.
	for _, want := range []string{"ing.after_ack", "con.after_poll", "con.before_commit", "dlq.after_insert"} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is missing in %v", want, got)
		}
	}
}

func TestAFailpointWithoutANameOfItsOwnIsRefused(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"a name that is computed":  `name := "a"; failpoint.Hit(name)`,
		"a name of two places":     `failpoint.Hit("a"); _ = failpoint.Error("a")`,
		"a name joined from parts": `failpoint.Hit("a" + "b")`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "a.go"), []byte("package a\nfunc f() { "+body+" }\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			if got, err := points(dir); err == nil {
				t.Errorf("found %v", got)
			}
		})
	}
}
