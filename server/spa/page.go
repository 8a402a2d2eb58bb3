package spa

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"html"
	"regexp"

	"github.com/andybalholm/brotli"
)

// rewrite makes the page hold under any path of the app, deep links included: it names the base for the
// app's own use, and asks for its files by paths from the root. Its compressed twins are made again.
func rewrite(bodies map[string][]byte, base string) error {
	body, built := bodies[page]
	if !built {
		return nil
	}
	// What the build asks for, relative to the page or to the root; another host's address is neither.
	ours := regexp.MustCompile(`(\s(?:src|href)=["'])(?:\./|/)([^/"'][^"']*["'])`)
	body = ours.ReplaceAll(body, []byte("${1}"+base+"/${2}"))
	body = regexp.MustCompile(`\s*<meta name="oriel-base"[^>]*>`).ReplaceAll(body, nil)
	if base != "" {
		head := regexp.MustCompile(`(?i)<head[^>]*>`).FindIndex(body)
		if head == nil {
			return fmt.Errorf("%s has no <head> to name the path %s in", page, base)
		}
		meta := "\n    <meta name=\"oriel-base\" content=\"" + html.EscapeString(base) + "\" />"
		body = bytes.Join([][]byte{body[:head[1]], []byte(meta), body[head[1]:]}, nil)
	}
	bodies[page] = body
	for name, pack := range map[string]func([]byte) ([]byte, error){page + ".br": brotlied, page + ".gz": gzipped} {
		if _, ok := bodies[name]; !ok {
			continue
		}
		packed, err := pack(body)
		if err != nil {
			return fmt.Errorf("compress %s: %w", name, err)
		}
		bodies[name] = packed
	}
	return nil
}

func brotlied(body []byte) ([]byte, error) {
	var b bytes.Buffer
	w := brotli.NewWriterLevel(&b, brotli.BestCompression)
	if _, err := w.Write(body); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func gzipped(body []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(body); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
