package webhooks_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"oriel/bench/events"
	"oriel/bench/webhooks"
)

var at = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

const example = `[{"name":"push","examples":[{
	"action": "opened", "small": 12, "number": 12345, "after": "0123456789abcdef0123456789abcdef01234567", "b": 1, "b": 2,
	"note": "say \"hi\"", "created_at": "2020-01-01T00:00:00Z",
	"repository": {"id": 186853002, "node_id": "MDEwOlJlcG9zaXRvcnkxODY4NTMwMDI=", "name": "Hello-World",
		"full_name": "Codertocat/Hello-World", "owner": {"login": "Codertocat", "id": 21031067},
		"url": "https://api.github.com/repos/Codertocat/Hello-World/issues/1{/number}"},
	"sender": {"login": "octocat", "id": 5550123}}]}]`

func fixture(t *testing.T) *webhooks.Set {
	t.Helper()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "api.github.com"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "api.github.com", "index.json"), []byte(example), 0o600); err != nil {
		t.Fatal(err)
	}
	set, err := webhooks.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

type payload struct {
	Number     int    `json:"number"`
	Small      int    `json:"small"`
	After      string `json:"after"`
	CreatedAt  string `json:"created_at"`
	Note       string `json:"note"`
	Repository struct {
		ID       int    `json:"id"`
		NodeID   string `json:"node_id"`
		Name     string `json:"name"`
		FullName string `json:"full_name"`
		URL      string `json:"url"`
		Owner    struct {
			Login string `json:"login"`
			ID    int    `json:"id"`
		} `json:"owner"`
	} `json:"repository"`
	Sender struct {
		Login string `json:"login"`
		ID    int    `json:"id"`
	} `json:"sender"`
}

func TestWhatVariesFollowsItsOwner(t *testing.T) {
	t.Parallel()
	set, rng := fixture(t), rand.New(rand.NewPCG(1, 2))
	repositories, people, numbers := map[string]payload{}, map[string]int{}, map[int]bool{}
	busiest := map[string]int{}
	const n = 5000
	url := regexp.MustCompile(`^https://api\.github\.com/repos/([^/]+/[^/]+)/issues/\d\{/number\}$`)
	for range n {
		e := set.Varied(rng, at)
		var p payload
		if err := json.Unmarshal(e.Data, &p); err != nil {
			t.Fatalf("%s: %v", e.Data, err)
		}
		if e.Type != "com.github.push.opened" || p.Small != 12 || p.Note != `say "hi"` || !bytes.Contains(e.Data, []byte(`"b":1,"b":2`)) {
			t.Fatalf("%s %s lost what does not vary", e.Type, e.Data)
		}
		if p.Number < 10000 || p.Number > 99999 || len(p.After) != 40 || p.CreatedAt < "2026-10-31T23" || p.CreatedAt > "2026-11-01" {
			t.Fatalf("%s", e.Data)
		}
		numbers[p.Number] = true
		if m := url.FindStringSubmatch(p.Repository.URL); m == nil || m[1] != p.Repository.FullName || e.Subject != m[1] ||
			p.Repository.FullName != p.Repository.Owner.Login+"/"+p.Repository.Name {
			t.Fatalf("names disagree: %s", e.Data)
		}
		before, known := repositories[p.Repository.FullName]
		if known && (before.Repository.ID != p.Repository.ID || before.Repository.NodeID != p.Repository.NodeID || before.Repository.Owner.ID != p.Repository.Owner.ID) {
			t.Fatalf("a repository changed: %+v, %+v", before.Repository, p.Repository)
		}
		repositories[p.Repository.FullName] = p
		busiest[p.Repository.FullName]++
		if id, ok := people[p.Sender.Login]; ok && id != p.Sender.ID {
			t.Fatalf("%s has two ids", p.Sender.Login)
		}
		people[p.Sender.Login] = p.Sender.ID
	}
	most := 0
	for _, c := range busiest {
		most = max(most, c)
	}
	if len(repositories) < 100 || len(repositories) > webhooks.Repositories || most < n/10 || len(people) < webhooks.People/2 || len(people) > webhooks.People || len(numbers) < n*9/10 {
		t.Errorf("%d repositories, the busiest %d times; %d people; %d numbers", len(repositories), most, len(people), len(numbers))
	}
}

func TestSameSeedSameWebhooks(t *testing.T) {
	t.Parallel()
	set := fixture(t)
	make := func() (all []events.Event) {
		rng := rand.New(rand.NewPCG(7, 8))
		for range 50 {
			all = append(all, set.Varied(rng, at))
		}
		return all
	}
	a, b := make(), make()
	for i := range a {
		if a[i].ID != b[i].ID || a[i].Source != b[i].Source || !bytes.Equal(a[i].Data, b[i].Data) {
			t.Fatalf("event %d differs", i)
		}
	}
}

func TestOriginalIsCompactAndWhole(t *testing.T) {
	t.Parallel()
	set := fixture(t)
	if set.Len() != 1 || !bytes.Contains(set.Original(0), []byte(`"small":12,"number":12345,`)) || !bytes.Contains(set.Original(0), []byte(`"b":1,"b":2`)) {
		t.Errorf("%s", set.Original(0))
	}
}

func TestMissingPackageIsNamed(t *testing.T) {
	t.Parallel()
	if _, err := webhooks.Load(t.TempDir()); err == nil || !regexp.MustCompile(`npm install @octokit/webhooks-examples`).MatchString(err.Error()) {
		t.Errorf("%v", err)
	}
}
