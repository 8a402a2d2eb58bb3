package fault

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestEveryTestThatTheTableNamesExists(t *testing.T) {
	t.Parallel()
	table, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`(\\w+)\\.(Test\\w+)`").FindAllStringSubmatch(string(table), -1)
	for _, n := range named {
		dir := filepath.Join("..", "server", n[1])
		if n[1] == "fault" {
			dir = "."
		}
		if source := testSource(t, dir); !strings.Contains(source, "\nfunc "+n[2]+"(t *testing.T) {") {
			t.Errorf("the table names %s.%s, which does not exist", n[1], n[2])
		}
	}
	// Every row names at least one, and what is written here for the table is in it.
	for line := range strings.Lines(string(table)) {
		if strings.HasPrefix(line, "| ") && !strings.HasPrefix(line, "| What happens") && !strings.Contains(line, "Test") {
			t.Errorf("no test shows: %s", line)
		}
	}
	scenarios, err := filepath.Glob("scenario_*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range scenarios {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllStringSubmatch(string(text), -1) {
			if f[1] != t.Name() && !strings.Contains(string(table), "`fault."+f[1]+"`") {
				t.Errorf("the table does not have %s", f[1])
			}
		}
	}
}

// testSource is the text of a package's tests.
func testSource(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no tests in %s: %v", dir, err)
	}
	var all strings.Builder
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}
