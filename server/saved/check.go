package saved

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"oriel/server/fault"
	"oriel/server/query"
)

// violations are all that is wrong with what is to be kept.
type violations []fault.Violation

func (v *violations) add(field, message string, metadata ...string) {
	*v = append(*v, fault.Violation{
		Reason: fault.ReasonInvalidField, Message: message, Metadata: fault.Pairs(append([]string{"attribute", field}, metadata...)...),
	})
}

func (v *violations) err() error {
	if len(*v) == 0 {
		return nil
	}
	return fault.Many(fault.InvalidArgument, *v)
}

// canonical is the one spelling of URL parameters that say the same. What they say and no filter knows is
// wrong: it would be lost.
func (s *Store) canonical(params string, wrong *violations) string {
	values, err := url.ParseQuery(strings.TrimPrefix(params, "?"))
	if err != nil {
		wrong.add("params", "The parameters are malformed: percent-encode what is no letter, digit, '-', '.', '_' or '~', a ';' too.")
		return ""
	}
	f, found := query.Decode(s.schema, values, func(string) bool { return false }, "")
	if len(found) > 0 {
		*wrong = append(*wrong, found...)
		return ""
	}
	lasting("until", f.From, f.Until, time.Now(), wrong)
	if f.ArrivedFrom.Given() {
		lasting("arrivedUntil", f.ArrivedFrom, f.ArrivedUntil, time.Now(), wrong)
	}
	out := query.Encode(f).Encode()
	if len(out) > MaxParams {
		wrong.add("params", fmt.Sprintf("The filter has %d bytes as URL parameters; a search takes at most %d.", len(out), MaxParams),
			"value", strconv.Itoa(len(out))+" bytes", "limit", strconv.Itoa(MaxParams))
	}
	return out
}

// lasting refuses a range of time that is empty now and stays so, which every search would refuse. One that ends
// relative to now and begins at a fixed time may yet come to hold something.
func lasting(name string, from, until query.Bound, now time.Time, wrong *violations) {
	w, err := query.ResolveWindow(from, until, now)
	if err == nil || until.Relative() && from.At.Given {
		return
	}
	*wrong = append(*wrong, fault.Violation{
		Reason: fault.ReasonInvalidParameter, Message: "The time range is always empty: " + err.Error() + ".",
		Metadata: fault.Pairs("attribute", name, "value", w.Until.String(), "accepted", "a time after where it begins"),
	})
}

// checkName holds a name against what others can read and tell from other names.
func checkName(name string, wrong *violations) {
	const accepted = "1 to 200 characters, none a control character or an invisible one"
	switch {
	case strings.TrimSpace(name) == "":
		wrong.add("displayName", "A saved search needs a name.", "accepted", accepted)
	case utf8.RuneCountInString(name) > MaxName:
		wrong.add("displayName", fmt.Sprintf("The name has more than %d characters.", MaxName), "limit", strconv.Itoa(MaxName), "accepted", accepted)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		wrong.add("displayName", "The name has a control character or is not UTF-8.", "accepted", accepted)
	case strings.ContainsFunc(name, invisible):
		wrong.add("displayName", "The name has a character that nobody sees, or that turns the text around it.", "accepted", accepted)
	}
}

// invisible finds characters that show nothing or change how others show. Joiners and variation selectors are
// part of emoji and of some scripts.
func invisible(r rune) bool {
	const nonJoiner, joiner = 0x200c, 0x200d
	return r != nonJoiner && r != joiner && !unicode.Is(unicode.Variation_Selector, r) &&
		unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point)
}

func checkView(view string, wrong *violations) {
	switch {
	case len(view) > MaxView:
		wrong.add("view", fmt.Sprintf("The view has more than %d bytes.", MaxView), "limit", strconv.Itoa(MaxView))
	case !utf8.ValidString(view) || strings.ContainsRune(view, 0):
		wrong.add("view", "The view has a NUL or is not UTF-8.", "accepted", "text without NUL")
	}
}
