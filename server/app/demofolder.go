package app

import (
	"context"
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

	"github.com/prometheus/client_golang/prometheus"

	"oriel/server/auth"
	"oriel/server/config"
	"oriel/server/embedded"
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

// demoTokens keeps the tokens of an earlier run where the database still knows them.
func demoTokens(ctx context.Context, cfg config.Config, file string) (demoFile, error) {
	pool, err := openPool(ctx, cfg.Database.URL, 4, "oriel-demo", controlSession())
	if err != nil {
		return demoFile{}, err
	}
	defer pool.Close()
	tokens := auth.NewTokens(pool, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	var known demoFile
	if text, err := os.ReadFile(file); err == nil {
		// A damaged file is written anew: its tokens then fail to verify below.
		_ = json.Unmarshal(text, &known)
	}
	for _, t := range []struct {
		secret *string
		name   string
		scope  string
	}{
		{&known.ProducerToken, "demo producer", auth.ScopeEventsWrite},
		{&known.ReaderToken, "demo reader", auth.ScopeEventsRead},
	} {
		if p, err := tokens.Verify(ctx, *t.secret); err == nil && p.Has(t.scope) {
			continue
		}
		if _, *t.secret, err = tokens.Create(ctx, auth.NewToken{Name: t.name, Scopes: []string{t.scope}, By: actor()}, nil); err != nil {
			return demoFile{}, err
		}
	}
	return known, nil
}

// writeDemoFile replaces the file at once, readable by its owner alone.
func writeDemoFile(file string, content demoFile) error {
	text, err := json.MarshalIndent(content, "", "  ")
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(file), ".demo-*.json")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if err := errors.Join(f.Chmod(0o600), writeAll(f, append(text, '\n')), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), file)
}

func writeAll(w io.Writer, text []byte) error {
	_, err := w.Write(text)
	return err
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
