package oidc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"
)

const (
	keysApart    = 5 * time.Second  // between two fetches, whoever asks and for whatever key
	keysOld      = 10 * time.Minute // after it they are fetched again in the background
	keysStale    = 20 * time.Minute // after it a caller waits for that: a removed key must stop working
	keysPatience = 2 * time.Second  // that long, and is then served by the old ones
	keysDead     = 24 * time.Hour   // after it they are not used any more
)

// keySet remembers the provider's keys: one fetch for everybody, at most one in keysApart, so that made-up
// key ids cost the provider nothing. A provider that is away leaves the old keys in use for a day.
type keySet struct {
	discovery *discovery
	client    *http.Client
	now       func() time.Time
	log       *slog.Logger
	metrics   *metrics
	asker     *asker
	apart     time.Duration
	known     atomic.Pointer[keys]
}

// keys are what the provider published at a time; they never change.
type keys struct {
	at  time.Time // when they were asked for
	all []key
}

func newKeySet(d *discovery, client *http.Client, now func() time.Time, log *slog.Logger, m *metrics) *keySet {
	s := &keySet{discovery: d, client: client, now: now, log: log, metrics: m, apart: keysApart}
	s.asker = newAsker(now, s.fetch)
	return s
}

// current are the keys to use now.
func (s *keySet) current(ctx context.Context) (*keys, error) {
	known := s.known.Load()
	age := keysDead
	if known != nil {
		age = s.now().Sub(known.at)
	}
	switch {
	case age < keysOld:
		return known, nil
	case age < keysStale:
		s.asker.ask(s.apart)
		return known, nil
	case age < keysDead:
		if done := s.asker.ask(s.apart); done != nil {
			short, cancel := context.WithTimeout(ctx, keysPatience)
			defer cancel()
			_ = wait(short, done) // the old keys serve where it takes longer
		}
		return s.known.Load(), nil
	}
	if done := s.asker.ask(0); done != nil {
		if err := wait(ctx, done); err != nil {
			return nil, fmt.Errorf("wait for the provider's keys: %w", err)
		}
	}
	if known = s.known.Load(); known != nil && s.now().Sub(known.at) < keysDead {
		return known, nil
	}
	if err := s.asker.failure(); err != nil {
		return nil, err
	}
	return nil, errClosed
}

// errNotYet says that the keys were fetched a moment ago, and whether there are newer ones nobody knows.
var errNotYet = errors.New("the provider's keys were fetched a moment ago and are not fetched again yet")

// newer fetches the keys because those seen lack one; errNotYet where they may not be fetched yet. A patient
// caller waits until they may.
func (s *keySet) newer(ctx context.Context, seen *keys, patient bool) (*keys, error) {
	done := s.asker.ask(s.apart)
	if done == nil && patient {
		pause := time.NewTimer(s.asker.until(s.apart))
		defer pause.Stop()
		select {
		case <-pause.C:
			done = s.asker.ask(s.apart)
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for the provider's keys: %w", ctx.Err())
		}
	}
	if done != nil {
		if err := wait(ctx, done); err != nil {
			return nil, fmt.Errorf("wait for the provider's keys: %w", err)
		}
	}
	if known := s.known.Load(); known != seen {
		return known, nil
	}
	if err := s.asker.failure(); err != nil {
		return nil, err
	}
	return nil, errNotYet
}

func (s *keySet) fetch(ctx context.Context) error {
	at := s.now()
	all, err := s.read(ctx)
	if err != nil {
		s.metrics.fetches.WithLabelValues(failed).Inc()
		s.discovery.doubt()
		s.log.Warn("identity provider's keys not fetched", "error", err)
		return err
	}
	s.metrics.fetches.WithLabelValues(done).Inc()
	s.known.Store(&keys{at: at, all: all})
	return nil
}

func (s *keySet) read(ctx context.Context) ([]key, error) {
	m, err := s.discovery.metadata(ctx)
	if err != nil {
		return nil, err
	}
	answer, err := get(ctx, s.client, m.keys, "", "application/jwk-set+json, application/json")
	if err != nil {
		return nil, fmt.Errorf("fetch keys: %w", err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, fmt.Errorf("read keys: %w", err)
	}
	all, left, err := parseKeys(body)
	if err != nil {
		return nil, fmt.Errorf("read keys: %w", err)
	}
	if left != nil {
		s.log.Warn("some of the identity provider's keys are left out", "error", errors.Join(left...))
	}
	return all, nil
}
