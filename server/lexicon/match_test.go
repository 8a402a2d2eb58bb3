package lexicon

import "testing"

var testKey = Key{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}

func jsonInput(data string) *Input {
	return &Input{Type: "t", ID: "i", Source: "s", JSON: true, Data: []byte(data)}
}

// holds reports whether an event's output satisfies a word's conditions.
func holds(out *Output, w Word) bool {
	has := func(c Condition) bool {
		if c.Vocabulary {
			for _, h := range out.Lexemes {
				if h == c.Hash {
					return true
				}
			}
			return false
		}
		for _, h := range out.Identifiers {
			if h == uint64(c.Hash) {
				return true
			}
		}
		return false
	}
	for _, c := range w.Conditions {
		if !has(c) {
			return false
		}
	}
	for _, c := range w.Any {
		if has(c) {
			return true
		}
	}
	return len(w.Any) == 0
}

// agrees fails where the promises of the package do not hold for an event and a word.
func agrees(t testing.TB, in *Input, out *Output, w Word) {
	t.Helper()
	matched := Match(in, w)
	switch {
	case out.Over:
	case matched && !holds(out, w):
		t.Fatalf("word %q matches %q but its conditions do not hold", w.Text, in.Data)
	case w.Exact && !matched && holds(out, w):
		t.Fatalf("exact word %q: its condition holds for %q but it does not match", w.Text, in.Data)
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	const uuid = `{"id":"550e8400-e29b-41d4-a716-446655440000"}`
	const stamp = `{"at":"2019-05-15T15:20:18.678Z"}`
	for name, c := range map[string]struct {
		data, word string
		want       bool
	}{
		"a word of a string":                            {`{"a":"Hello World"}`, "world", true},
		"a part of a word is no word":                   {`{"a":"Hello World"}`, "wor", false},
		"a member name is no word":                      {`{"colour":"red"}`, "colour", false},
		"case does not matter":                          {`{"a":"STRASSE"}`, "straße", true},
		"capital sharp s is ss":                         {`{"a":"STRAẞE"}`, "strasse", true},
		"accents do not matter in Latin":                {`{"a":"Crème"}`, "creme", true},
		"decomposed accents do not matter":              {`{"a":"Cre\u0300me"}`, "crème", true},
		"accents do not matter in Greek":                {`{"a":"Αθήνα"}`, "αθηνα", true},
		"accents do not matter in Cyrillic":             {`{"a":"Ёлка"}`, "елка", true},
		"final sigma is sigma":                          {`{"a":"ΟΔΟΣ"}`, "οδος", true},
		"vowels of Devanagari matter":                   {`{"a":"किताब"}`, "कतब", false},
		"full width forms are the plain ones":           {`{"a":"ＡＢＣ１２"}`, "abc12", true},
		"a ligature is its letters":                     {`{"a":"ﬁle"}`, "file", true},
		"a soft hyphen is nothing":                      {`{"a":"co\u00adop"}`, "coop", true},
		"a compound is the phrase of its parts":         {`{"a":"see foo-bar now"}`, "foo-bar", true},
		"a joiner does not matter":                      {`{"a":"foo bar"}`, "foo_bar", true},
		"the order of parts matters":                    {`{"a":"bar-foo"}`, "foo-bar", false},
		"parts must be neighbours":                      {`{"a":"foo x bar"}`, "foo-bar", false},
		"parts of two values are no phrase":             {`["foo","bar"]`, "foo-bar", false},
		"a UUID whole":                                  {uuid, "550E8400-E29B-41D4-A716-446655440000", true},
		"a UUID without its hyphens is another word":    {uuid, "550e8400e29b41d4a716446655440000", false},
		"a part of a UUID":                              {uuid, "41d4", true},
		"neighbouring parts of a UUID":                  {uuid, "e29b-41d4", true},
		"an e-mail address":                             {`{"m":"<Jo.Doe@Example.com>"}`, "jo.doe@example.com", true},
		"an address of the network":                     {`{"m":"from 10.0.12.7:443"}`, "10.0.12.7", true},
		"another address of the same parts":             {`{"m":"from 7.12.0.10"}`, "10.0.12.7", false},
		"a timestamp whole":                             {stamp, "2019-05-15T15:20:18.678Z", true},
		"the day of a timestamp":                        {stamp, "2019-05", true},
		"a host name inside a longer one":               {`{"h":"db.eu-west-1.example.com"}`, "eu-west-1.example", true},
		"a Han word by its characters":                  {`{"a":"私は東京都に住む"}`, "東京", true},
		"a longer Han word":                             {`{"a":"私は東京都に住む"}`, "東京都", true},
		"one Han character":                             {`{"a":"私は東京都に住む"}`, "京", true},
		"Han characters that are not neighbours":        {`{"a":"東の京"}`, "東京", false},
		"Hangul inside a word":                          {`{"a":"한국어입니다"}`, "국어", true},
		"half width Kana":                               {`{"a":"ｶﾞｲﾄﾞ"}`, "ガイド", true},
		"Thai":                                          {`{"a":"ภาษาไทยง่าย"}`, "ไทย", true},
		"Latin beside Han":                              {`{"a":"iPhone手机壳"}`, "iphone手机", true},
		"a number":                                      {`{"n":42}`, "42", true},
		"1.0 is 1":                                      {`{"n":1.0}`, "1", true},
		"1 is 1.0":                                      {`{"n":1}`, "1.0", true},
		"1e0 is 1":                                      {`{"n":1e0}`, "1", true},
		"1000 is 1e3":                                   {`{"n":1000}`, "1e3", true},
		"0.1e4 is 1E3":                                  {`{"n":0.1e4}`, "1E3", true},
		"minus zero is zero":                            {`{"n":-0}`, "0", true},
		"zero is minus zero":                            {`{"n":0.00}`, "-0", true},
		"a number is not its part":                      {`{"n":3.14}`, "3", false},
		"a decimal number":                              {`{"n":3.140}`, "3.14", true},
		"a negative number":                             {`{"n":-5}`, "-5", true},
		"a negative number is not its magnitude":        {`{"n":-5}`, "5", false},
		"a minus before a word is no part of it":        {`{"n":5}`, "-5", true},
		"text that looks like a number, as spelled":     {`{"n":"release 1.10"}`, "1.10", true},
		"text that looks like a number, not by value":   {`{"n":"release 1.1"}`, "1.10", false},
		"a number finds its text":                       {`{"n":"1"}`, "1", true},
		"big integers keep every digit":                 {`{"n":9007199254740993}`, "9007199254740993", true},
		"neighbouring big integers differ":              {`{"n":9007199254740993}`, "9007199254740992", false},
		"twenty digits":                                 {`{"n":-92227423753207711889}`, "-92227423753207711889", true},
		"beyond the exponent bound the spelling counts": {`{"n":1E999999}`, "1e999999", true},
		"beyond the bound another spelling differs":     {`{"n":10e999998}`, "1e999999", false},
		"true":                                  {`{"b":true}`, "TRUE", true},
		"null is no word":                       {`{"b":null}`, "null", false},
		"the neighbours of NUL":                 {`{"a":"x\u0000y"}`, "y", true},
		"backslash and u are text":              {`{"a":"x\\u0000y"}`, "u0000y", true},
		"a lone surrogate separates":            {`{"a":"x\ud800y"}`, "y", true},
		"a lone low surrogate separates":        {`{"a":"x\udc00y"}`, "x", true},
		"a pair of surrogates is one character": {`{"a":"\ud83d\ude00ok"}`, "ok", true},
		"a surrogate pair that is a letter":     {`{"a":"\ud801\udc00"}`, "𐐨", true},
		"the first of two members of one name":  {`{"b":"one","b":"two"}`, "one", true},
		"the second of two members of one name": {`{"b":"one","b":"two"}`, "two", true},
		"malformed data has no words":           {`{"a":"one"`, "one", false},
		"data after the value is malformed":     {`{"a":"one"} x`, "one", false},
		"invalid UTF-8 has no words":            {"{\"a\":\"one \xff\"}", "one", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in, w := jsonInput(c.data), Compile(testKey, c.word)
			if got := Match(in, w); got != c.want {
				t.Errorf("%q in %s: %v", c.word, c.data, got)
			}
			agrees(t, in, New(testKey, nil).Analyze(in, nil), w)
		})
	}
}

func TestExactWords(t *testing.T) {
	t.Parallel()
	for word, exact := range map[string]bool{
		"error": true, "Straße": true, "42": true, "true": true, "京": true, "東京": true, "room12": true,
		"東京都": false, "foo-bar": false, "1.0": false, "-5": false, "1e3": false, "123456": false,
		"da39a3ee5e6b4b0d3255bfef95601890afd80709": false, "": false, "!?": false,
	} {
		w := Compile(testKey, word)
		if w.Exact != exact {
			t.Errorf("%q: exact is %v", word, w.Exact)
		}
		if w.Empty != (word == "" || word == "!?") {
			t.Errorf("%q: empty is %v", word, w.Empty)
		}
	}
}
