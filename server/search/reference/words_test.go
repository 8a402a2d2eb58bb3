package reference_test

import (
	"strings"
	"testing"
	"time"
	"unicode"

	"oriel/server/cloudevents"
	"oriel/server/lexicon"
	"oriel/server/query"
	"oriel/server/search/reference"
	"oriel/server/search/reference/draw"
)

// text is an event whose data is a text.
func text(s string) *cloudevents.Event {
	return &cloudevents.Event{ID: "0", Source: "0", Type: "0", DataContentType: "text/plain", Data: []byte(s), Time: time.Unix(0, 0)}
}

func input(e *cloudevents.Event) *lexicon.Input {
	in := &lexicon.Input{Type: e.Type, Source: e.Source, ID: e.ID, Data: e.Data, Attributes: []string{"type", e.Type, "source", e.Source}}
	in.JSON, in.Text = cloudevents.Claims(e.DataContentType, cloudevents.ModeFlags(e.Mode))
	if e.Subject != "" {
		in.Attributes = append(in.Attributes, "subject", e.Subject)
	}
	for _, x := range e.Extensions {
		in.Attributes = append(in.Attributes, x.Name, x.Value)
	}
	return in
}

func TestEveryCharacterIsFoldedAndCutAlike(t *testing.T) {
	t.Parallel()
	step := rune(13)
	if *long {
		step = 1
	}
	wrong := 0
	for r := rune(1); r <= unicode.MaxRune && wrong < 40; r += step {
		if !unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z, unicode.Cc, unicode.Cf) {
			continue
		}
		for _, value := range []string{"k" + string(r) + "k", "5" + string(r) + "5", "क" + string(r) + "京", string(r)} {
			// Thai and Lao vowels of two parts: the first of them is a mark, which never stands on a Latin letter.
			if (r == 0x0E33 || r == 0x0EB3) && value[0] == 'k' {
				continue
			}
			e := text(value)
			ref := reference.New(e, nil, nil)
			for _, word := range []string{value, "kk", "k k", "k", "क", "京", string(r), "k" + string(r), strings.Join(reference.Leaves(value), " "), reference.Fold(value), strings.ToUpper(value)} {
				w := lexicon.Compile(lexicon.Key{}, word)
				if got, want := lexicon.Match(input(e), w), ref.Holds(query.Word{Text: word}); got != want {
					wrong++
					t.Errorf("%U: does %q match %q? the lexicon says %t, the reference %t; leaves %q and %q", r, word, value, got, want, reference.Leaves(word), reference.Leaves(value))
				}
			}
		}
	}
}

func TestTheLexiconMatchesTheWordsOfRandomEvents(t *testing.T) {
	t.Parallel()
	rounds := 40
	if *long {
		rounds = 2000
	}
	for seed := range uint64(rounds) {
		d := draw.New(seed, time.Unix(1790000000, 0))
		var events []*cloudevents.Event
		var refs []*reference.Event
		for range 20 {
			e := d.Event()
			events, refs = append(events, e), append(refs, reference.New(e, nil, reference.DefaultFacets()))
		}
		for range 100 {
			for _, n := range d.Where(refs) {
				w, ok := n.(query.Word)
				if !ok {
					continue
				}
				c := lexicon.Compile(lexicon.Key{}, w.Text)
				for i, e := range events {
					if got, want := lexicon.Match(input(e), c), refs[i].Holds(w); got != want {
						t.Fatalf("seed %d: does %q match %+v data %q? the lexicon says %t, the reference %t", seed, w.Text, e, e.Data, got, want)
					}
				}
			}
		}
	}
}
