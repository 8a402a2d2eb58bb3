package search

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"oriel/server/cloudevents"
	"oriel/server/query"
	"oriel/server/search/reference"
)

// export reads the events as NDJSON to the end.
func (a *inquiry) export(ctx context.Context) string {
	if a.choose("export", 4) != 0 {
		return ""
	}
	e, err := a.svc.Export(ctx, a.params("format", "ndjson"))
	if err != nil {
		if declined(err) {
			return ""
		}
		return fmt.Sprintf("export: %v", err)
	}
	defer e.Close()
	var out bytes.Buffer
	if err := e.Write(ctx, &out); err != nil {
		return fmt.Sprintf("export: %v", err)
	}
	want := a.truth()
	var got []string
	var trailer exportTrailer
	for n, d := 0, json.NewDecoder(&out); ; n++ {
		var line struct {
			exported
			exportTrailer
		}
		if err := d.Decode(&line); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return fmt.Sprintf("line %d of the export: %v", n, err)
		}
		trailer = line.exportTrailer
		if line.ID == "" {
			continue
		}
		offset, err := strconv.ParseInt(line.Position.Offset, 10, 64)
		if err != nil {
			return fmt.Sprintf("line %d of the export: %v", n, err)
		}
		got = append(got, placeOf(line.Position.Log, line.Position.Partition, offset))
		if p := sameData(&line.exported, want, len(got)-1); p != "" {
			return p
		}
	}
	if !trailer.Trailer.Complete || trailer.Trailer.Count != len(want) {
		return fmt.Sprintf("the export ends with %+v, and there are %d events", trailer.Trailer, len(want))
	}
	return a.differ("export", want, got)
}

// sameData compares the data of an exported event, byte for byte.
func sameData(e *exported, want []*reference.Event, i int) string {
	if i >= len(want) {
		return ""
	}
	var data []byte
	switch {
	case e.DataText != nil:
		data = []byte(*e.DataText)
	case e.DataBase64 != nil:
		var err error
		if data, err = base64.StdEncoding.DecodeString(*e.DataBase64); err != nil {
			return fmt.Sprintf("the exported data of %s: %v", e.ID, err)
		}
	}
	if !bytes.Equal(data, want[i].Data) || (e.DataText == nil && e.DataBase64 == nil) != (want[i].Data == nil) {
		return fmt.Sprintf("event %d of the export, %s, has the data %q instead of %q", i, e.ID, data, want[i].Data)
	}
	return ""
}

// around asks for the events around one of those that there are.
func (a *inquiry) around(ctx context.Context) string {
	if len(a.w.events) == 0 || a.choose("around", 3) != 0 {
		return ""
	}
	anchor := a.w.events[a.choose("anchor", len(a.w.events))]
	by := []string{"all", "source", "subject", "trace"}[a.choose("by", 4)]
	field := query.Field{Kind: query.Attribute, Name: by}
	common := map[string]string{"all": "*", "source": anchor.Source, "subject": anchor.Subject, "trace": anchor.TraceID}[by]
	if by == "trace" {
		field = query.Field{Kind: query.Trace}
	}
	where := slices.Clone(a.where)
	if by != "all" {
		where = append(where, query.Equal{Field: field, Value: common, Text: true})
	}
	var earlier, later []*reference.Event
	for _, e := range reference.Search(a.w.events, where, a.window) {
		switch c := reference.Compare(e, anchor); {
		case c > 0:
			earlier = append(earlier, e)
		case c < 0:
			later = append([]*reference.Event{e}, later...)
		}
	}
	most := 1 + a.choose("most", 12)
	asked := a.params("time", stamp(anchor.Micros), "by", by, "before", strconv.Itoa(most), "after", strconv.Itoa(most))
	name := cloudevents.EscapeName(anchor.Source, anchor.ID)
	n, err := a.svc.Context(ctx, name, asked)
	switch {
	case common == "" && err != nil, err != nil && declined(err):
		return ""
	case err != nil || common == "":
		return fmt.Sprintf("around %s by %s: %v", name, by, err)
	}
	// A walk that ended before there were enough goes on.
	follow := func(events []Event, token string, backward bool) ([]Event, string) {
		for len(events) < most && token != "" {
			asked.Set("pageToken", token)
			asked.Del("snapshot")
			p, err := a.svc.Context(ctx, name, asked)
			if err != nil {
				return nil, err.Error()
			}
			if backward {
				events, token = append(events, p.After...), p.AfterToken
			} else {
				events, token = append(events, p.Before...), p.BeforeToken
			}
		}
		return events[:min(len(events), most)], ""
	}
	for _, side := range []struct {
		what     string
		got      []Event
		token    string
		want     []*reference.Event
		backward bool
	}{{"before", n.Before, n.BeforeToken, earlier, false}, {"after", n.After, n.AfterToken, later, true}} {
		got, problem := follow(side.got, side.token, side.backward)
		if problem == "" {
			problem = a.differ("events", side.want[:min(most, len(side.want))], places(got))
		}
		if problem != "" {
			return fmt.Sprintf("%d %s %s by %s: %s", most, side.what, a.w.show(anchor), by, problem)
		}
	}
	return ""
}
