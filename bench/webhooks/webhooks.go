// Package webhooks makes a believable stream of real payloads: the examples of the npm package
// @octokit/webhooks-examples, with what tells one event from another varied. Numbers of four digits and
// more, 40-digit hashes, node ids, timestamps, and the numbers and names in URLs follow their owner: one
// of 500 repositories, few of them busy; one of 2,000 people; otherwise they are new in each event. What
// it makes follows from the random source alone. It knows nothing of the server.
package webhooks

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"oriel/bench/events"
)

// DefaultDir is where npm puts the package, from the root of the checkout.
const DefaultDir = "node_modules/@octokit/webhooks-examples"

// The shape of the stream.
const (
	Repositories = 500
	People       = 2000
)

// Set is the payloads. It is read only and may be shared; a random source may not.
type Set struct{ payloads []*payload }

// Load reads the package from its folder.
func Load(dir string) (*Set, error) {
	raw, err := os.ReadFile(filepath.Join(dir, "api.github.com", "index.json"))
	if err != nil {
		return nil, fmt.Errorf("load webhook examples (npm install @octokit/webhooks-examples): %w", err)
	}
	var groups []struct {
		Name     string            `json:"name"`
		Examples []json.RawMessage `json:"examples"`
	}
	if err := json.Unmarshal(raw, &groups); err != nil {
		return nil, fmt.Errorf("load webhook examples: %w", err)
	}
	set := &Set{}
	for _, g := range groups {
		for i, example := range g.Examples {
			p, err := parse(g.Name, example)
			if err != nil {
				return nil, fmt.Errorf("webhook example %s %d: %w", g.Name, i, err)
			}
			set.payloads = append(set.payloads, p)
		}
	}
	if len(set.payloads) == 0 {
		return nil, errors.New("load webhook examples: none found")
	}
	return set, nil
}

// Len is the number of originals.
func (s *Set) Len() int { return len(s.payloads) }

// Original is the payload of an original, compact. It must not be changed.
func (s *Set) Original(i int) []byte { return s.payloads[i].original }

// Varied makes one event of a random original, as of an instant.
func (s *Set) Varied(rng *rand.Rand, at time.Time) events.Event {
	p := s.payloads[rng.IntN(len(s.payloads))]
	w := p.cast(rng, at)
	data := make([]byte, 0, len(p.original)+len(p.original)/8)
	for i := range p.segments {
		data = p.segments[i].append(data, w)
	}
	owner, repository := login(w.owner), repositoryName(w.repository)
	return events.Event{
		ID:      guid(rng),
		Source:  "https://api.github.com/repos/" + owner + "/" + repository,
		Type:    p.kind,
		Subject: owner + "/" + repository,
		Time:    at.UTC().Truncate(time.Microsecond),
		Data:    data,
	}
}

func guid(rng *rand.Rand) string {
	a, b := rng.Uint64(), rng.Uint64()
	return fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", a>>32, a>>16&0xffff, a&0xffff, b>>48, b&0xffffffffffff)
}
