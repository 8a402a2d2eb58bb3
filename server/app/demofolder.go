package app

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"

	"oriel/server/audit"
	"oriel/server/auth"
	"oriel/server/config"
	"oriel/server/embedded"
	"oriel/server/embedded/idp"
)

// demoDir makes the data folder. Where it is the default one and PostgreSQL's user could not reach it (a
// checkout under a closed home, as root), the data goes to a folder that it can, and demo.json is linked
// from the default one.
func demoDir(want string, out io.Writer) (string, error) {
	dir, err := filepath.Abs(want)
	if err != nil {
		return "", err
	}
	if strings.ContainsAny(dir, "\"'`$\\\n") {
		return "", fmt.Errorf("ORIEL_DATA_DIR: %q has a quote, a dollar sign, a backslash or a line break, which PostgreSQL's tools do not take in a path", dir)
	}
	if err := os.MkdirAll(dir, 0o711); err != nil {
		return "", fmt.Errorf("ORIEL_DATA_DIR: %w", err)
	}
	if err := embedded.Enterable(dir); err != nil {
		closed := (*embedded.ClosedDirError)(nil)
		if !errors.As(err, &closed) || want != config.DefaultDataDir {
			return "", fmt.Errorf("ORIEL_DATA_DIR: %w", err)
		}
		sum := fnv.New32a()
		_, _ = sum.Write([]byte(dir))
		other := fmt.Sprintf("/var/lib/oriel-demo-%08x", sum.Sum32())
		if err := os.MkdirAll(other, 0o711); err != nil {
			return "", err
		}
		link := filepath.Join(dir, demoJSON)
		if err := os.Remove(link); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		if err := os.Symlink(filepath.Join(other, demoJSON), link); err != nil {
			return "", err
		}
		if _, err := fmt.Fprintf(out, "%s is closed to the user %s, as whom PostgreSQL must run: the data goes to %s\n", closed.Dir, closed.User, other); err != nil {
			return "", err
		}
		dir = other
	}
	// PostgreSQL's user must pass through it.
	return dir, os.Chmod(dir, 0o711)
}

// demoFile is what `oriel demo` writes for the people and programs that use it.
type demoFile struct {
	URL           string       `json:"url"`
	ProducerToken string       `json:"producerToken"`
	ReaderToken   string       `json:"readerToken"`
	OperatorToken string       `json:"operatorToken"`
	Users         []idp.Person `json:"users,omitempty"`   // of the demo's own identity provider
	Issuer        string       `json:"issuer,omitempty"`  // its address
	Machine       *demoMachine `json:"machine,omitempty"` // its client for programs
}

// demoMachine gets JWTs by client_credentials.
type demoMachine struct {
	ClientID     string `json:"clientId"`
	ClientSecret string `json:"clientSecret"`
	TokenURL     string `json:"tokenUrl"`
}

// readDemoFile reads what an earlier run wrote. A damaged file counts as none: its tokens then fail to
// verify, and everything is made anew.
func readDemoFile(file string) demoFile {
	var known demoFile
	if text, err := os.ReadFile(file); err != nil || json.Unmarshal(text, &known) != nil {
		return demoFile{}
	}
	return known
}

// forget leaves out what belongs to the demo's own identity provider, where another one is used.
func (f *demoFile) forget(another bool) {
	if another {
		f.Users, f.Issuer, f.Machine = nil, "", nil
	}
}

// who tells who can sign in.
func (f *demoFile) who(cfg config.SignIn) string {
	if f.Issuer == "" {
		return "at " + cfg.Issuer
	}
	names := make([]string, len(f.Users))
	for i, u := range f.Users {
		names[i] = u.Username
	}
	last := len(names) - 1
	if last < 1 {
		return "as " + strings.Join(names, "")
	}
	return "as " + strings.Join(names[:last], ", ") + " or " + names[last]
}

// demoTokens keeps the tokens of an earlier run where the database still knows them.
func demoTokens(ctx context.Context, cfg config.Config, known *demoFile) error {
	pool, err := openPool(ctx, cfg.Database.URL, 4, "oriel-demo", controlSession())
	if err != nil {
		return err
	}
	defer pool.Close()
	tokens := auth.NewTokens(pool, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	defer tokens.Close()
	record := audit.New(pool, prometheus.NewRegistry())
	for _, t := range []struct {
		secret *string
		name   string
		scopes []string
	}{
		{&known.ProducerToken, "demo producer", []string{auth.ScopeEventsWrite}},
		{&known.ReaderToken, "demo reader", []string{auth.ScopeEventsRead}},
		{&known.OperatorToken, "demo operator", auth.RoleScopes(auth.RoleAdmin)},
	} {
		if p, err := tokens.Verify(ctx, *t.secret); err == nil && !slices.ContainsFunc(t.scopes, func(s string) bool { return !p.Has(s) }) {
			continue
		}
		made := auth.NewToken{Name: t.name, Scopes: t.scopes, By: "oriel demo"}
		_, *t.secret, err = tokens.Create(ctx, made, func(ctx context.Context, tx pgx.Tx, token *auth.Token) error {
			return record.Record(ctx, tx, audit.Entry{
				Action: audit.ActionTokenCreate, Outcome: audit.Done,
				Actor:  audit.Actor{Kind: "system", ID: "system", Name: "oriel demo"},
				Target: fmt.Sprintf("tokens/%d", token.ID), Reason: "for the first steps with the demo",
				After: token.Recorded(),
			})
		})
		if err != nil {
			return fmt.Errorf("token %q: %w", t.name, err)
		}
	}
	return nil
}

// kept is a secret of the data folder, made where there is none.
func kept(file string, make func() string) (string, error) {
	text, err := os.ReadFile(file)
	if secret := strings.TrimSpace(string(text)); err == nil && secret != "" {
		return secret, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	secret := make()
	return secret, replaceFile(file, []byte(secret+"\n"))
}

func newPassword() string { return strings.ToLower(rand.Text()) }

// demoSecretKey gives sign-in the key that seals what it keeps, for which ORIEL_SECRET_KEY goes first.
func demoSecretKey(s *config.SignIn, dir string) (err error) {
	if s.SecretKey != "" {
		return nil
	}
	file := filepath.Join(dir, "secret-key")
	if s.SecretKey, err = kept(file, newSecretKey); err != nil {
		return err
	}
	if _, ok := s.Keys(); !ok {
		return fmt.Errorf("%s is damaged: delete it, and everybody signs in again", file)
	}
	return nil
}

// newSecretKey is one of ORIEL_SECRET_KEY's.
func newSecretKey() string {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	return base64.StdEncoding.EncodeToString(key)
}

// writeDemoFile replaces the file at once.
func writeDemoFile(file string, content demoFile) error {
	text, err := json.MarshalIndent(content, "", "  ")
	if err != nil {
		return err
	}
	return replaceFile(file, append(text, '\n'))
}

// replaceFile writes a file at once, readable by its owner alone.
func replaceFile(file string, content []byte) error {
	f, err := os.CreateTemp(filepath.Dir(file), ".demo-*") // 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(content)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), file)
}

// webhooksDir finds the sample payloads: a copy in the data folder, else the npm package beside the
// working folder or the program, which is copied so that the program alone suffices next time.
func webhooksDir(dir string, log *slog.Logger) string {
	kept := filepath.Join(dir, "webhooks-examples")
	if _, err := os.Stat(kept); err == nil {
		return kept
	}
	places := []string{"."}
	if exe, err := os.Executable(); err == nil {
		places = append(places, filepath.Dir(exe), filepath.Dir(filepath.Dir(exe)))
	}
	for _, place := range slices.Compact(places) {
		found := filepath.Join(place, "node_modules", "@octokit", "webhooks-examples")
		if _, err := os.Stat(found); err != nil {
			continue
		}
		part := kept + ".part"
		_ = os.RemoveAll(part)
		if err := errors.Join(os.CopyFS(part, os.DirFS(found)), os.Rename(part, kept)); err != nil {
			log.Warn("sample payloads were not copied", "error", err)
			return found
		}
		return kept
	}

	return kept
}
