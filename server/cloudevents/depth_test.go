package cloudevents_test

import (
	"strings"
	"testing"

	"oriel/server/cloudevents"
)

func TestDataOf512LevelsIsAccepted(t *testing.T) {
	t.Parallel()
	for sentence, data := range map[string]string{
		"arrays":                     strings.Repeat("[", 512) + strings.Repeat("]", 512),
		"objects":                    strings.Repeat(`{"a":`, 512) + "1" + strings.Repeat("}", 512),
		"many brackets side by side": "[" + strings.Repeat("[[]],", 5000) + "[]]",
		"brackets within strings":    `["` + strings.Repeat(`[{\"`, 5000) + `"]`,
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			mustStructured(t, structured(`,"data":`+data))
			mustBinary(t, required("content-type", "application/json"), []byte(data))
			if cloudevents.DepthExceeded([]byte(data)) {
				t.Error("DepthExceeded differs")
			}
		})
	}
}

func TestDepthIsJudgedInWhatIsNoJSONToo(t *testing.T) {
	t.Parallel()
	for sentence, c := range map[string]struct {
		data string
		want bool
	}{
		"malformed and shallow":             {`{"a":[1,2`, false},
		"no JSON at all":                    {strings.Repeat("]}", 2000), false},
		"an open string":                    {`"` + strings.Repeat("[", 2000), false},
		"a string that ends in a backslash": {`"` + strings.Repeat("[", 2000) + `\`, false},
		"513 opened and never closed":       {strings.Repeat("[", 513), true},
		"513 after a string":                {`["\"",` + strings.Repeat("{", 512), true},
		"closing brackets buy nothing":      {strings.Repeat("]", 600) + strings.Repeat("[", 513), true},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			if got := cloudevents.DepthExceeded([]byte(c.data)); got != c.want {
				t.Errorf("got %v", got)
			}
		})
	}
}
