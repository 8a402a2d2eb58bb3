package demo

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"oriel/server/cloudevents"
)

// webhook is one example payload of a code host, its bytes as the package has them.
type webhook struct {
	kind, source, subject string
	data                  []byte
}

// loadWebhooks reads the examples out of the npm package's folder: a list of events by name, each
// with its example payloads.
func loadWebhooks(dir string) ([]webhook, error) {
	if dir == "" {
		return nil, errors.New("no folder was given")
	}
	text, err := os.ReadFile(filepath.Join(dir, "api.github.com", "index.json"))
	if err != nil {
		return nil, fmt.Errorf("read webhook examples: %w", err)
	}
	var events []struct {
		Name     string            `json:"name"`
		Examples []json.RawMessage `json:"examples"`
	}
	if err := json.Unmarshal(text, &events); err != nil {
		return nil, fmt.Errorf("read webhook examples: %w", err)
	}
	var hooks []webhook
	for _, e := range events {
		for i, data := range e.Examples {
			var named struct {
				Action     string `json:"action"`
				Repository struct {
					FullName string `json:"full_name"`
				} `json:"repository"`
				Organization struct {
					Login string `json:"login"`
				} `json:"organization"`
				Sender struct {
					Login string `json:"login"`
				} `json:"sender"`
			}
			if err := json.Unmarshal(data, &named); err != nil {
				return nil, fmt.Errorf("read webhook example %d of %s: %w", i, e.Name, err)
			}
			h := webhook{kind: "com.github." + e.Name, source: "/github/octokit", subject: named.Sender.Login, data: data}
			if named.Action != "" {
				h.kind += "." + named.Action
			}
			switch {
			case named.Repository.FullName != "":
				h.source = "/github/" + named.Repository.FullName
			case named.Organization.Login != "":
				h.source = "/github/" + named.Organization.Login
			}
			hooks = append(hooks, h)
		}
	}
	if len(hooks) == 0 {
		return nil, errors.New("read webhook examples: the package holds none")
	}
	return hooks, nil
}

// event is a delivery of the payload at an instant.
func (h webhook) event(at time.Time, id string) *cloudevents.Event {
	e := made(at, time.UTC, h.source, h.kind, id)
	e.Subject, e.DataContentType, e.Data = h.subject, "application/json", h.data
	return e
}

// instants are n moments in order over the last week, half of them within the last day, fewer at
// night.
func instants(rng *rand.Rand, n int, until time.Time) []time.Time {
	out := make([]time.Time, 0, n)
	for len(out) < n {
		over := 24 * time.Hour
		if rng.IntN(2) == 0 {
			over *= 7
		}
		at := until.Add(-time.Duration(rng.Float64() * float64(over)))
		hour := float64(at.Hour()) + float64(at.Minute())/60
		if busy := .6 - .4*math.Cos((hour-3)/24*2*math.Pi); rng.Float64() < busy {
			out = append(out, at)
		}
	}
	sortTimes(out)
	return out
}
