// Package spa serves the built browser app: hashed assets for ever, the page for every other path.
//
// It promises that a page carries a policy under which nothing runs but the app's own files, and
// that an answer is byte for byte a file of the build or its precompressed twin; the page alone is written
// anew, once, for the path that it is shown under. It knows no route of the API and reads nothing of the
// request but its path, its method and three headers.
package spa

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/gofiber/fiber/v2"
)

// DocumentPolicy is the Content-Security-Policy of the page, before where to report. Styles set through the
// CSSOM are allowed by it, inline ones are not.
const DocumentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
	"font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; " +
	"require-trusted-types-for 'script'"

const (
	page      = "index.html"
	assets    = "assets/" // what the build names by its content
	forever   = "public, max-age=31536000, immutable"
	askAgain  = "no-cache"
	unbuilt   = "The browser app is not built into this binary. Run `make build` in the checkout and start the new binary.\n"
	noAsset   = "There is no such file. Reload the page: a newer version may have replaced it.\n"
	plainText = "text/plain; charset=utf-8"
)

// Config is what the page must be told.
type Config struct {
	Base   string // the path of the public URL: "", or "/oriel"
	Report string // where a browser reports what the policy stopped: a path with the base in front; empty: nowhere
}

// App is a build, held in memory.
type App struct {
	files  map[string]*file
	policy string
}

type file struct {
	contentType string
	cache       string
	plain       variant
	brotli      *variant
	gzip        *variant
}

type variant struct {
	body []byte
	etag string
}

// New reads the build in fsys, whose root holds index.html. A build without one is no error: every
// page then says how to make it.
func New(fsys fs.FS, cfg Config) (*App, error) {
	bodies := make(map[string][]byte)
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(path.Base(name), ".") {
			return err
		}
		bodies[name], err = fs.ReadFile(fsys, name)
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the browser app: %w", err)
	}
	if err := rewrite(bodies, cfg.Base); err != nil {
		return nil, err
	}
	app := &App{files: make(map[string]*file, len(bodies)), policy: DocumentPolicy}
	if cfg.Report != "" {
		app.policy += "; report-uri " + cfg.Report
	}
	for name, body := range bodies {
		if twinOf(name, bodies) {
			continue
		}
		f := &file{contentType: contentType(name), cache: askAgain, plain: newVariant(body)}
		if strings.HasPrefix(name, assets) {
			f.cache = forever
		}
		f.brotli, f.gzip = twin(bodies, name+".br"), twin(bodies, name+".gz")
		app.files[name] = f
	}
	return app, nil
}

func twinOf(name string, bodies map[string][]byte) bool {
	for _, suffix := range []string{".br", ".gz"} {
		if original, ok := strings.CutSuffix(name, suffix); ok && bodies[original] != nil {
			return true
		}
	}
	return false
}

func twin(bodies map[string][]byte, name string) *variant {
	body, ok := bodies[name]
	if !ok {
		return nil
	}
	v := newVariant(body)
	return &v
}

func newVariant(body []byte) variant {
	sum := sha256.Sum256(body)
	return variant{body, `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`}
}

// contentType does not ask the machine's own tables: an answer must not depend on where it runs.
func contentType(name string) string {
	known := map[string]string{
		".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".mjs": "text/javascript; charset=utf-8",
		".css": "text/css; charset=utf-8", ".json": "application/json", ".map": "application/json", ".txt": plainText,
		".svg": "image/svg+xml", ".png": "image/png", ".ico": "image/x-icon", ".webp": "image/webp",
		".woff2": "font/woff2", ".webmanifest": "application/manifest+json",
	}
	if t, ok := known[path.Ext(name)]; ok {
		return t
	}
	return fiber.MIMEOctetStream
}

// Handle answers GET and HEAD of any path: a file of the build, or the page, so that every deep link
// opens the app. A missing file under assets is 404: the page in its place would run as a script.
func (a *App) Handle(c *fiber.Ctx) error {
	name := strings.TrimPrefix(c.Path(), "/")
	f := a.files[name]
	if f == nil || name == page {
		if strings.HasPrefix(name, assets) {
			return text(c, fiber.StatusNotFound, noAsset)
		}
		if f = a.files[page]; f == nil {
			return text(c, fiber.StatusServiceUnavailable, unbuilt)
		}
		c.Set(fiber.HeaderContentSecurityPolicy, a.policy)
	}
	return f.send(c)
}

func text(c *fiber.Ctx, status int, body string) error {
	c.Set(fiber.HeaderContentType, plainText)
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.Status(status).SendString(body)
}

func (f *file) send(c *fiber.Ctx) error {
	v, encoding := f.choose(c.Get(fiber.HeaderAcceptEncoding))
	c.Set(fiber.HeaderCacheControl, f.cache)
	c.Set(fiber.HeaderETag, v.etag)
	if f.brotli != nil || f.gzip != nil {
		c.Set(fiber.HeaderVary, fiber.HeaderAcceptEncoding)
	}
	if matches(c.Get(fiber.HeaderIfNoneMatch), v.etag) {
		c.Status(fiber.StatusNotModified)
		return nil
	}
	c.Set(fiber.HeaderContentType, f.contentType)
	if encoding != "" {
		c.Set(fiber.HeaderContentEncoding, encoding)
	}
	c.Context().Response.SetBodyRaw(v.body) // shared and never written to
	return nil
}

func (f *file) choose(accept string) (variant, string) {
	if f.brotli != nil && accepts(accept, "br") {
		return *f.brotli, "br"
	}
	if f.gzip != nil && accepts(accept, "gzip") {
		return *f.gzip, "gzip"
	}
	return f.plain, ""
}

// accepts reads Accept-Encoding (RFC 9110, section 12.5.3). Fiber's own takes an absent header for
// consent; here it means the plain file.
func accepts(header, coding string) bool {
	star := false
	for part := range strings.SplitSeq(header, ",") {
		name, params, _ := strings.Cut(part, ";")
		name = strings.ToLower(strings.TrimSpace(name))
		q, hasQ := strings.CutPrefix(strings.ReplaceAll(strings.ToLower(params), " ", ""), "q=")
		allowed := !hasQ || strings.Trim(q, "0.") != ""
		switch name {
		case coding:
			return allowed
		case "*":
			star = allowed
		}
	}
	return star
}

func matches(header, etag string) bool {
	for part := range strings.SplitSeq(header, ",") {
		if part = strings.TrimSpace(part); part == "*" || strings.TrimPrefix(part, "W/") == etag {
			return true
		}
	}
	return false
}
