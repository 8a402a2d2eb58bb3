package idp

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	grantLife = 31 * 24 * time.Hour // unused; longer than any session of the browser app
	mostGrant = 500
)

// errGrant is all that a caller with a wrong refresh token learns.
var errGrant = errors.New("the refresh token is not, or no longer, valid")

// grant is what the refresh tokens of one sign-in stand for.
type grant struct {
	Digest   string    `json:"digest"` // SHA-256 of the newest token's second half
	Subject  string    `json:"subject"`
	Scopes   []string  `json:"scopes"`
	Session  string    `json:"session"` // sid of the sign-in
	Request  string    `json:"request"` // of the sign-in, whose code must not come twice
	AuthTime time.Time `json:"authTime"`
	Until    time.Time `json:"until"`
}

// grants are kept in a file. A refresh token is "id.secret", and the secret is a new one after each use:
// who comes with an old one, thief or robbed, ends the grant.
type grants struct {
	file string
	now  func() time.Time
	mu   sync.Mutex
	byID map[string]grant
}

// loadGrants reads the file; one that is damaged is as good as none.
func loadGrants(file string, log *slog.Logger) *grants {
	g := &grants{file: file, now: time.Now, byID: map[string]grant{}}
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &g.byID)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		log.Warn("refresh tokens of the last run are lost: people sign in again at their next role check", "error", err)
		g.byID = map[string]grant{}
	}
	return g
}

// create begins a grant and gives its first token.
func (g *grants) create(v grant) (string, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.now()
	maps.DeleteFunc(g.byID, func(_ string, old grant) bool { return now.After(old.Until) })
	for len(g.byID) >= mostGrant {
		ids := slices.Collect(maps.Keys(g.byID))
		delete(g.byID, slices.MinFunc(ids, func(a, b string) int { return g.byID[a].Until.Compare(g.byID[b].Until) }))
	}
	return g.issue(rand.Text(), v)
}

// find tells what a token stands for.
func (g *grants) find(token string) (grant, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, v, err := g.look(token)
	return v, err
}

// replace ends a token and gives the next one.
func (g *grants) replace(token string) (string, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	id, v, err := g.look(token)
	if err != nil {
		return "", err
	}
	return g.issue(id, v)
}

// end ends the grants that are meant.
func (g *grants) end(meant func(grant) bool) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	before := len(g.byID)
	maps.DeleteFunc(g.byID, func(_ string, v grant) bool { return meant(v) })
	if len(g.byID) == before {
		return nil
	}
	return g.save()
}

func (g *grants) look(token string) (string, grant, error) {
	id, secret, _ := strings.Cut(token, ".")
	v, ok := g.byID[id]
	if !ok || g.now().After(v.Until) {
		return "", grant{}, errGrant
	}
	if subtle.ConstantTimeCompare([]byte(v.Digest), []byte(digest(secret))) != 1 {
		delete(g.byID, id)
		return "", grant{}, errors.Join(errGrant, g.save())
	}
	return id, v, nil
}

func (g *grants) issue(id string, v grant) (string, error) {
	secret := rand.Text()
	v.Digest, v.Until = digest(secret), g.now().Add(grantLife)
	g.byID[id] = v
	if err := g.save(); err != nil {
		return "", err
	}
	return id + "." + secret, nil
}

func (g *grants) save() error {
	text, err := json.Marshal(g.byID)
	if err == nil {
		err = replaceFile(g.file, text)
	}
	if err != nil {
		return fmt.Errorf("keep refresh tokens: %w", err)
	}
	return nil
}

func digest(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}
