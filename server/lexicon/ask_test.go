package lexicon

import (
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestTheOrderOfNumbersIsExact(t *testing.T) {
	t.Parallel()
	number := rapid.OneOf(rapid.StringMatching(`-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,20})?([eE][+-]?0*[0-9]{1,2})?`),
		rapid.SampledFrom([]string{"0", "-0", "0.00", "0e5", "9007199254740993", "9007199254740992", "9007199254740992.5", "1e2", "100", "1E+2", "100.0e0", "0.001e5"}))
	rapid.Check(t, func(t *rapid.T) {
		a, b := number.Draw(t, "a"), number.Draw(t, "b")
		x, _ := new(big.Rat).SetString(a)
		y, _ := new(big.Rat).SetString(b)
		if got := CompareNumbers([]byte(a), []byte(b)); got != x.Cmp(y) {
			t.Fatalf("%s and %s compare as %d", a, b, got)
		}
	})
}

func TestTheOrderOfEnormousNumbers(t *testing.T) {
	t.Parallel()
	ordered := []string{
		"-1e99999999999999999999", "-2e401", "-1e401", "-1e-999999", "0e99999999999999999999", "1e-99999999999999999999", "1e-401", "0." + strings.Repeat("0", 500) + "1e120",
		"1", strings.Repeat("9", 70), "1" + strings.Repeat("0", 70), "1e400", "1e401", "1e999999999", "1e99999999999999999999",
	}
	for i, a := range ordered {
		for j, b := range ordered {
			want := 0
			if i != j {
				want = 1
				if i < j {
					want = -1
				}
			}
			if got := CompareNumbers([]byte(a), []byte(b)); got != want {
				t.Errorf("%.30s and %.30s compare as %d", a, b, got)
			}
		}
	}
}

func TestAFolderFoldsAsWordsAreFolded(t *testing.T) {
	t.Parallel()
	var f Folder
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(text(), rapid.StringMatching(`[ -~]{0,40}`)).Draw(t, "text")
		var sp splitter
		want := string(sp.text([]byte(s)))
		if got := string(f.AppendFolded([]byte("before"), []byte(s))); got != "before"+want {
			t.Fatalf("%q is folded to %q, in words to %q", s, got, want)
		}
	})
}

func TestElementsHaveNumbersInQuestionsAlone(t *testing.T) {
	t.Parallel()
	for path, any := range map[string]string{"a[0].b": "a[*].b", "[12][*]": "[*][*]", `"[1]"`: `"[1]"`, "a": "a", "": "", "a[": "a["} {
		if got := AnyElement(path); got != any {
			t.Errorf("%s is listed as %s, not %s", path, got, any)
		}
	}
	steps, err := ParsePath("a[3].b")
	if err != nil || len(steps) != 3 || steps[1] != (Step{Element: true, Index: 3}) || string(AppendPath([]byte("data."), steps)) != "data.a[3].b" {
		t.Errorf("%+v, %v", steps, err)
	}
	// The condition of one element is that of any, a superset; and no pick is of one element.
	in := jsonInput(`{"a":["red","blue"]}`)
	out := New(testKey, []string{"a[1]", "a"}).Analyze(in, nil)
	if out.Picked[0] != "" || out.Picked[1] != "red" {
		t.Errorf("picked %v", out.Picked)
	}
	c, err := CompileValue(testKey, "a[0]", "blue")
	if err != nil || !holds(out, Word{Conditions: c}) {
		t.Errorf("the superset of an element does not hold: %v", err)
	}
}

func TestPrefixes(t *testing.T) {
	t.Parallel()
	const data = `{"a":"Order-7712 kettle","b":3.14,"c":-50,"d":"日本語","e":"left","f":"right","g":1e2}`
	for prefix, want := range map[string]bool{
		"ord": true, "order": true, "order-": true, "orde-": false, "order-77": true, "order 77": true, "rder": false, "order-7712 ket": true, "order ket": false,
		"7712-": true, "771-": false, "3": true, "3.1": true, "3.14": true, "3.2": false, "-5": true, "-50": true, "-51": false, "日": true, "日本": true, "日語": false,
		"left ri": false, "lef": true, "10": true, "1e2": false, "-": false, "": false, "KETT": true,
	} {
		var m Matcher
		m.Load(jsonInput(data))
		if got := m.Begins(CompileBeginning(prefix)); got != want {
			t.Errorf("%q: %v", prefix, got)
		}
	}
}

// heard writes down what it is told.
type heard struct{ strings.Builder }

func (h *heard) Open(array bool) { h.WriteString(map[bool]string{true: "[", false: "{"}[array]) }
func (h *heard) Close()          { h.WriteByte('.') }
func (h *heard) Key(n []byte)    { h.WriteString("k" + string(n)) }
func (h *heard) Text(v []byte)   { h.WriteString("t" + string(v)) }
func (h *heard) Number(r []byte) { h.WriteString("n" + string(r)) }
func (h *heard) Truth(v bool)    { h.WriteString(map[bool]string{true: "T", false: "F"}[v]) }
func (h *heard) Null()           { h.WriteByte('0') }

func TestAReaderTellsEveryPart(t *testing.T) {
	t.Parallel()
	for data, want := range map[string]string{
		`{"b":1E2,"b":[true,false,null,"\u00e9\ud800"]}`: "{kbn1E2kb[TF0té\ufffd..", `-0`: "n-0", `"x`: "!", `[1}`: "![n1", strings.Repeat("[", MaxDepth+1): "!" + strings.Repeat("[", MaxDepth),
	} {
		var r Reader
		var h heard
		got := ""
		if !r.Read([]byte(data), &h) {
			got = "!"
		}
		if got += h.String(); got != want {
			t.Errorf("%s tells %s, not %s", data, got, want)
		}
	}
}
