package spa

import (
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/gofiber/fiber/v2"
)

func serve(t *testing.T, build fs.FS) *fiber.App {
	t.Helper()
	a, err := New(build, Config{})
	if err != nil {
		t.Fatal(err)
	}
	app := fiber.New(fiber.Config{DisableStartupMessage: true})
	app.Get("/*", a.Handle)
	return app
}

func ask(t *testing.T, app *fiber.App, method, path string, header ...string) (*http.Response, string) {
	t.Helper()
	req := httptest.NewRequest(method, path, nil)
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := app.Test(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(body)
}

func build() fstest.MapFS {
	return fstest.MapFS{
		".gitkeep":            {},
		"index.html":          {Data: []byte("<title>Oriel</title>")},
		"favicon.svg":         {Data: []byte("<svg/>")},
		"assets/app-1a.js":    {Data: []byte("plain")},
		"assets/app-1a.js.br": {Data: []byte("brotli")},
		"assets/app-1a.js.gz": {Data: []byte("gzip")},
		"assets/dump.gz":      {Data: []byte("no twin")},
	}
}

func TestFilesOfTheBuild(t *testing.T) {
	t.Parallel()
	app := serve(t, build())
	for name, c := range map[string]struct {
		path, accept                               string
		status                                     int
		body, contentType, cache, encoding, policy string
	}{
		"the page":                        {"/", "br", 200, "<title>Oriel</title>", "text/html; charset=utf-8", askAgain, "", DocumentPolicy},
		"a deep link":                     {"/explore", "", 200, "<title>Oriel</title>", "text/html; charset=utf-8", askAgain, "", DocumentPolicy},
		"a deep link that looks like one": {"/events/a:1.js", "", 200, "<title>Oriel</title>", "text/html; charset=utf-8", askAgain, "", DocumentPolicy},
		"a hashed file":                   {"/assets/app-1a.js", "", 200, "plain", "text/javascript; charset=utf-8", forever, "", ""},
		"a hashed file in brotli":         {"/assets/app-1a.js", "gzip, deflate, br", 200, "brotli", "text/javascript; charset=utf-8", forever, "br", ""},
		"a hashed file in gzip":           {"/assets/app-1a.js", "gzip", 200, "gzip", "text/javascript; charset=utf-8", forever, "gzip", ""},
		"brotli refused":                  {"/assets/app-1a.js", "br;q=0, gzip;q=0.5", 200, "gzip", "text/javascript; charset=utf-8", forever, "gzip", ""},
		"anything but brotli":             {"/assets/app-1a.js", "*, br;q=0.0", 200, "gzip", "text/javascript; charset=utf-8", forever, "gzip", ""},
		"a file beside the page":          {"/favicon.svg", "", 200, "<svg/>", "image/svg+xml", askAgain, "", ""},
		"a compressed file of its own":    {"/assets/dump.gz", "", 200, "no twin", "application/octet-stream", forever, "", ""},
		"a twin is no file":               {"/assets/app-1a.js.br", "", 404, noAsset, plainText, "no-store", "", ""},
		"a hashed file of another build":  {"/assets/app-0.js", "", 404, noAsset, plainText, "no-store", "", ""},
		"a hidden file":                   {"/.gitkeep", "", 200, "<title>Oriel</title>", "text/html; charset=utf-8", askAgain, "", DocumentPolicy},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resp, body := ask(t, app, "GET", c.path, "Accept-Encoding", c.accept)
			if resp.StatusCode != c.status || body != c.body {
				t.Errorf("got %d %q", resp.StatusCode, body)
			}
			for header, want := range map[string]string{
				"Content-Type": c.contentType, "Cache-Control": c.cache, "Content-Encoding": c.encoding, "Content-Security-Policy": c.policy,
			} {
				if got := resp.Header.Get(header); got != want {
					t.Errorf("%s is %q, want %q", header, got, want)
				}
			}
			head, empty := ask(t, app, "HEAD", c.path, "Accept-Encoding", c.accept)
			if head.StatusCode != c.status || empty != "" || head.ContentLength != int64(len(c.body)) {
				t.Errorf("HEAD answers %d, length %d, %q", head.StatusCode, head.ContentLength, empty)
			}
		})
	}
}

func TestAFileThatTheBrowserHasIsNotSentAgain(t *testing.T) {
	t.Parallel()
	app := serve(t, build())
	plain, _ := ask(t, app, "GET", "/assets/app-1a.js")
	packed, _ := ask(t, app, "GET", "/assets/app-1a.js", "Accept-Encoding", "br")
	tag := packed.Header.Get("ETag")
	if tag == "" || tag == plain.Header.Get("ETag") || packed.Header.Get("Vary") != "Accept-Encoding" {
		t.Errorf("tags %q and %q, vary %q", plain.Header.Get("ETag"), tag, packed.Header.Get("Vary"))
	}
	for _, have := range []string{tag, "W/" + tag, `"x", ` + tag, "*"} {
		if resp, body := ask(t, app, "GET", "/assets/app-1a.js", "Accept-Encoding", "br", "If-None-Match", have); resp.StatusCode != http.StatusNotModified || body != "" || resp.Header.Get("ETag") != tag {
			t.Errorf("with %s: %d %q", have, resp.StatusCode, body)
		}
	}
	if resp, _ := ask(t, app, "GET", "/assets/app-1a.js", "Accept-Encoding", "br", "If-None-Match", plain.Header.Get("ETag")); resp.StatusCode != http.StatusOK {
		t.Errorf("another encoding's tag: %d", resp.StatusCode)
	}
}

func TestABinaryWithoutTheAppSaysHowToBuildIt(t *testing.T) {
	t.Parallel()
	for name, empty := range map[string]fs.FS{
		"only the placeholder": fstest.MapFS{".gitkeep": {}}, "nothing": fstest.MapFS{},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resp, body := ask(t, serve(t, empty), "GET", "/explore")
			if resp.StatusCode != http.StatusServiceUnavailable || !strings.Contains(body, "make build") {
				t.Errorf("got %d %q", resp.StatusCode, body)
			}
		})
	}
}

func TestThePolicyLetsNothingRunButOurOwnFiles(t *testing.T) {
	t.Parallel()
	for _, want := range []string{"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "require-trusted-types-for 'script'"} {
		if !strings.Contains(DocumentPolicy, want) {
			t.Errorf("the policy has no %s", want)
		}
	}
	for _, never := range []string{"unsafe", "*", "http:", "https:"} {
		if strings.Contains(DocumentPolicy, never) {
			t.Errorf("the policy has %s", never)
		}
	}
}
