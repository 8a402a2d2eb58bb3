package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"oriel/server/cloudevents"
)

// historyEvents is how many events of the fleets make the history.
const historyEvents = 3000

// mark is what the marker file holds. Base is written before anything is sent: an interrupted history
// is made again from the same instant and seed, so that what was sent already is a duplicate.
type mark struct {
	Base time.Time `json:"base"`
	Seed uint64    `json:"seed"`
	Done bool      `json:"done"`
}

// history sends, once per data folder, a week of events, so that the first page has something to show.
func (d *driver) history(ctx context.Context) error {
	m, err := readMark(d.cfg.Marker)
	if err != nil {
		return err
	}
	if m.Done {
		return nil
	}
	if m.Base.IsZero() {
		m = mark{Base: d.cfg.Now().UTC().Truncate(time.Millisecond), Seed: d.cfg.Seed}
		if err := writeMark(d.cfg.Marker, m); err != nil {
			return err
		}
	}
	past := makeHistory(m.Seed, m.Base, d.hooks)
	if err := d.sender.sendBatch(ctx, past.fleet); err != nil {
		return err
	}
	for _, e := range past.single {
		if err := d.sender.send(ctx, e); err != nil {
			return err
		}
	}
	d.poison(ctx, poisons(m.Base, newRand(m.Seed, 4)))
	m.Done = true
	if err := writeMark(d.cfg.Marker, m); err != nil {
		return err
	}
	d.cfg.Log.Info("the sample history is sent", "events", len(past.fleet)+len(past.single))
	return nil
}

// past is the history: what travels in batches and what must keep its own mode.
type past struct{ fleet, single []*cloudevents.Event }

// makeHistory is a function of its arguments alone.
func makeHistory(seed uint64, base time.Time, hooks []webhook) past {
	rng := newRand(seed, 1)
	homes, shop := newHomes(rng), newShop(rng)
	var p past
	for _, at := range instants(rng, historyEvents, base) {
		if rng.IntN(5) < 3 {
			p.fleet = append(p.fleet, homes.next(at)...)
		} else {
			p.fleet = append(p.fleet, shop.next(at)...)
		}
	}
	rng = newRand(seed, 2)
	for i, at := range instants(rng, len(hooks), base) {
		p.single = append(p.single, hooks[i].event(at, identity(rng)))
	}
	odd := newOddities(newRand(seed, 3))
	for range oddityKinds() {
		p.single = append(p.single, odd.next(base)...)
	}
	return p
}

func readMark(path string) (mark, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return mark{}, nil
	}
	if err != nil {
		return mark{}, fmt.Errorf("read the demo's marker: %w", err)
	}
	var m mark
	if err := json.Unmarshal(text, &m); err != nil {
		return mark{}, fmt.Errorf("read the demo's marker %s: %w", path, err)
	}
	return m, nil
}

// writeMark replaces the file in one step, so that a kill leaves the old one or the new.
func writeMark(path string, m mark) error {
	text, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("write the demo's marker: %w", err)
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".marker-*")
	if err != nil {
		return fmt.Errorf("write the demo's marker: %w", err)
	}
	_, err = tmp.Write(text)
	err = errors.Join(err, tmp.Sync(), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(tmp.Name())
		return fmt.Errorf("write the demo's marker: %w", err)
	}
	return nil
}

func sortTimes(t []time.Time) { slices.SortFunc(t, time.Time.Compare) }
