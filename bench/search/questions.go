package main

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"oriel/server/cloudevents"
	"oriel/server/query"
)

// how is one of the analyst's ways to ask with parameters.
type how func(a *analyst, ctx context.Context, params url.Values) (string, error)

// with makes a question of parameters.
func with(name string, goal float64, ask how, params func(a *analyst) url.Values) question {
	return question{name, goal, func(ctx context.Context, a *analyst) (string, error) { return ask(a, ctx, params(a)) }}
}

// common is words that most short events have.
func (a *analyst) common() string {
	return a.apart()[0]
}

// apart are those words in some order: the first two are different.
func (a *analyst) apart() []string {
	words := []string{"sensor", "value", "above", "below", "limit", "after", "restart"}
	a.rng.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
	return words
}

// unheard is an identifier that no event has.
func (a *analyst) unheard() string {
	return fmt.Sprintf("%08x-%04x-4%03x-b%03x-%012x", a.rng.Uint32(), a.rng.IntN(1<<16), a.rng.IntN(1<<12), a.rng.IntN(1<<12), a.rng.Int64N(1<<48))
}

// middle is a moment some days back, so that no two questions are the same.
func (a *analyst) middle() time.Time { return a.f.from.Add(time.Duration(a.rng.Int64N(int64(span)))) }

func questions() []question {
	all := append(pages(), words()...)
	all = append(all, identifiers()...)
	all = append(all, numbers()...)
	return append(all, anything()...)
}

func pages() []question {
	list := (*analyst).list
	return []question{
		with("newest page, no filter, 30 days", goalPage, list, func(a *analyst) url.Values { return a.month() }),
		with("newest page, type, 30 days", goalPage, list, func(a *analyst) url.Values { return a.month("type", a.one().kind) }),
		with("newest page, subject, 30 days", goalPage, list, func(a *analyst) url.Values { return a.month("subject", a.one().subject) }),
		with("newest page, room, 30 days", goalPage, list, func(a *analyst) url.Values {
			return a.month("room", fmt.Sprintf("room-%d", a.rng.IntN(40)))
		}),
		with("newest page, type, source and severity, 30 days", goalPage, list, func(a *analyst) url.Values {
			k := a.one()
			return a.month("type", k.kind, "source", k.source, "severity", "info")
		}),
		with("newest page, severity of error and above, 30 days", goalPage, list, func(a *analyst) url.Values { return a.month("severity", "error") }),
		with("page before a moment days ago", goalPage, list, func(a *analyst) url.Values {
			return parameters("from", query.FormatTime(a.f.from), "until", query.FormatTime(a.middle()))
		}),
	}
}

func words() []question {
	list := (*analyst).list
	return []question{
		with("common word, 30 days", goalWord, list, func(a *analyst) url.Values { return a.month("q", a.common()) }),
		with("scarce word (1 in 500), 30 days", goalWord, list, func(a *analyst) url.Values { return a.month("q", wordScarce) }),
		with("rare word (1 in 10,000), 30 days", goalWord, list, func(a *analyst) url.Values { return a.month("q", wordRare) }),
		with("absent word, 30 days", goalWord, list, func(a *analyst) url.Values { return a.month("q", wordAbsent) }),
		with("two common words, 30 days", goalWord, list, func(a *analyst) url.Values { return a.month("q", a.common()+" "+a.common()) }),
		with("rare word and a type, 30 days", goalWord, list, func(a *analyst) url.Values { return a.month("q", wordRare, "type", a.one().kind) }),
		with("phrase, 30 days", goalWord, list, func(a *analyst) url.Values { return a.month("q", `"`+a.common()+" "+a.common()+`"`) }),
		with("common word but for another, 30 days", goalWord, list, func(a *analyst) url.Values {
			words := a.apart()
			return a.month("q", words[0]+" -"+words[1])
		}),
		with("one of two rare words, 30 days", goalWord, list, func(a *analyst) url.Values { return a.month("q", wordRare+" OR "+wordScarce) }),
		with("name of a webhooks' repository, 30 days", goalWord, list, func(a *analyst) url.Values { return a.month("q", `"`+a.hook().subject+`"`) }),
	}
}

func identifiers() []question {
	list := (*analyst).list
	return []question{
		with("identifier that is there, 30 days", goalIdentifier, list, func(a *analyst) url.Values { return a.month("q", `"`+a.one().correlation+`"`) }),
		with("identifier's part that is there, 30 days", goalIdentifier, list, func(a *analyst) url.Values { return a.month("q", a.one().correlation[24:]) }),
		with("identifier that is absent, 30 days", goalIdentifier, list, func(a *analyst) url.Values { return a.month("q", `"`+a.unheard()+`"`) }),
		with("id of an event, 30 days", goalIdentifier, list, func(a *analyst) url.Values { return a.month("q", a.one().id) }),
		with("id of a webhook, 30 days", goalIdentifier, list, func(a *analyst) url.Values { return a.month("q", `"`+a.hook().id+`"`) }),
		with("order number of few events, 30 days", goalIdentifier, list, func(a *analyst) url.Values { return a.month("q", `"`+a.one().order+`"`) }),
		with("identifier at a path, 30 days", goalIdentifier, list, func(a *analyst) url.Values { return a.month("data.correlationId", `"`+a.one().correlation+`"`) }),
		with("identifier that is there, its day", goalOfADay, list, func(a *analyst) url.Values {
			k := a.one()
			return a.day(k.at, "q", `"`+k.correlation+`"`)
		}),
		with("identifier that is absent, one day", goalOfADay, list, func(a *analyst) url.Values { return a.day(a.middle(), "q", `"`+a.unheard()+`"`) }),
		with("identifier or a rare word, 30 days", goalAnything, list, func(a *analyst) url.Values {
			return a.month("q", `"`+a.one().correlation+`" OR `+wordRare)
		}),
		{"event by its name and time", goalOfADay, func(ctx context.Context, a *analyst) (string, error) {
			k := a.one()
			_, err := a.svc.Get(ctx, cloudevents.EscapeName(k.source, k.id), parameters("time", query.FormatTime(k.at)))
			return "found", err
		}},
		{"event by its name alone", goalAnything, func(ctx context.Context, a *analyst) (string, error) {
			k := a.one()
			_, err := a.svc.Get(ctx, cloudevents.EscapeName(k.source, k.id), url.Values{})
			return "found", err
		}},
	}
}

func numbers() []question {
	count, facets, histogram := (*analyst).count, (*analyst).facets, (*analyst).histogram
	return []question{
		with("count, no filter, 30 days", goalRollup, count, func(a *analyst) url.Values { return a.month() }),
		with("count, type, 30 days", goalRollup, count, func(a *analyst) url.Values { return a.month("type", a.one().kind) }),
		with("count, rare word, 30 days", goalWord, count, func(a *analyst) url.Values { return a.month("q", wordRare) }),
		with("count, common word, 30 days", goalAnything, count, func(a *analyst) url.Values { return a.month("q", a.common()) }),
		with("facets, no filter, 30 days", goalRollup, facets, func(a *analyst) url.Values {
			return a.month("field", "type", "field", "source", "field", "room", "field", "person", "field", "tag", "field", "severity")
		}),
		with("facets, type, 30 days", goalRollup, facets, func(a *analyst) url.Values {
			return a.month("type", a.one().kind, "field", "type")
		}),
		with("facets of every field, type, 30 days", goalPayload, facets, func(a *analyst) url.Values { return a.month("type", a.one().kind) }),
		with("facets, payload value, 30 days", goalPayload, facets, func(a *analyst) url.Values {
			return a.month("data.reading.unit", []string{"celsius", "percent", "watt", "lux"}[a.rng.IntN(4)], "data.reading.value", fmt.Sprint(a.rng.IntN(40)))
		}),
		with("facets, rare word, 30 days", goalPayload, facets, func(a *analyst) url.Values { return a.month("q", wordRare) }),
		with("facets, common word, 30 days", goalPayload, facets, func(a *analyst) url.Values { return a.month("q", a.common()) }),
		with("histogram, no filter, 30 days", goalRollup, histogram, func(a *analyst) url.Values { return a.month() }),
		with("histogram, no filter, 30 days, another zone", goalRollup, histogram, func(a *analyst) url.Values { return a.month("zone", "Asia/Kolkata") }),
		with("histogram, type, 30 days", goalRollup, histogram, func(a *analyst) url.Values { return a.month("type", a.one().kind) }),
		with("histogram by severity, no filter, 30 days", goalRollup, histogram, func(a *analyst) url.Values { return a.month("splitBy", "severity") }),
		with("histogram, no filter, one day", goalRollup, histogram, func(a *analyst) url.Values { return a.day(a.middle()) }),
		with("histogram, rare word, 30 days", goalPayload, histogram, func(a *analyst) url.Values { return a.month("q", wordRare) }),
		with("histogram, common word, 30 days", goalAnything, histogram, func(a *analyst) url.Values { return a.month("q", a.common()) }),
	}
}

func anything() []question {
	list := (*analyst).list
	return []question{
		with("number's range in the payload, 30 days", goalAnything, list, func(a *analyst) url.Values { return a.month("q", "data.reading.value>37") }),
		with("number's range that nothing has, 30 days", goalAnything, list, func(a *analyst) url.Values { return a.month("q", "data.reading.value>1000") }),
		with("prefix, 30 days", goalAnything, list, func(a *analyst) url.Values { return a.month("q", "calcif*") }),
		with("part of a text, 30 days", goalAnything, list, func(a *analyst) url.Values { return a.month("q", `~"eakag"`) }),
		with("path that exists, 30 days", goalAnything, list, func(a *analyst) url.Values { return a.month("q", "data.reading.unit:*") }),
		with("path that few types have, 30 days", goalAnything, list, func(a *analyst) url.Values { return a.month("q", "data.pull_request:*") }),
		with("path that is null, 30 days", goalAnything, list, func(a *analyst) url.Values { return a.month("q", "data.pull_request.milestone:null") }),
		with("all but a type, 30 days", goalAnything, list, func(a *analyst) url.Values { return a.month("type!", a.one().kind) }),
		with("absent word and a range, 30 days", goalAnything, list, func(a *analyst) url.Values { return a.month("q", wordAbsent+" data.reading.value>3") }),
		with("fields, no filter, 30 days", goalAnything, func(a *analyst, ctx context.Context, params url.Values) (string, error) {
			f, err := a.svc.Fields(ctx, params)
			if err != nil {
				return "", err
			}
			return fmt.Sprintf("%d fields of %d events", len(f.Fields), f.Sample), nil
		}, func(a *analyst) url.Values { return a.month() }),
		with("completion of a word", goalWord, func(a *analyst, ctx context.Context, params url.Values) (string, error) {
			c, err := a.svc.Suggest(ctx, params)
			if err != nil {
				return "", err
			}
			return fmt.Sprintf("%d suggestions", len(c.Items)), nil
		}, func(a *analyst) url.Values { return parameters("text", a.common()[:3]) }),
		with("completion of a value", goalWord, func(a *analyst, ctx context.Context, params url.Values) (string, error) {
			c, err := a.svc.Suggest(ctx, params)
			if err != nil {
				return "", err
			}
			return fmt.Sprintf("%d suggestions", len(c.Items)), nil
		}, func(a *analyst) url.Values { return parameters("text", "type:example.d") }),
		{"neighbours by subject", goalAnything, func(ctx context.Context, a *analyst) (string, error) {
			k := a.one()
			n, err := a.svc.Context(ctx, cloudevents.EscapeName(k.source, k.id), parameters("time", query.FormatTime(k.at), "by", "subject"))
			if err != nil {
				return "", err
			}
			return fmt.Sprintf("%d before, %d after", len(n.Before), len(n.After)), nil
		}},
	}
}
