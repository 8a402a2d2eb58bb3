package spa

import (
	"bytes"
	"compress/gzip"
	"io"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/andybalholm/brotli"
	"github.com/gofiber/fiber/v2"
)

// built is what the build writes, with relative addresses or with ones from the root.
func built(from string) string {
	return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <link rel="icon" href="` + from + `favicon.svg" type="image/svg+xml" />
    <script src="` + from + `theme.js"></script>
    <script type="module" crossorigin src="` + from + `assets/index-1a.js"></script>
    <link rel="stylesheet" crossorigin href='` + from + `assets/index-1a.css'>
    <link rel="preconnect" href="//cdn.example.net/x"><a href="https://example.com/./a" title="src=./x">x</a><a href="#top">y</a>
  </head>
  <body><div id="root" data-src="./left"></div></body>
</html>
`
}

func under(t *testing.T, cfg Config, page string, twins ...string) *fiber.App {
	t.Helper()
	files := fstest.MapFS{"index.html": {Data: []byte(page)}, "assets/index-1a.js": {Data: []byte("js")}}
	for _, twin := range twins {
		files["index.html."+twin] = &fstest.MapFile{Data: []byte("of the build")}
	}
	a, err := New(files, cfg)
	if err != nil {
		t.Fatal(err)
	}
	app := fiber.New(fiber.Config{DisableStartupMessage: true})
	app.Get("/*", a.Handle)
	return app
}

func TestThePageAsksForItsFilesFromTheBasePath(t *testing.T) {
	t.Parallel()
	for _, from := range []string{"./", "/"} {
		for _, base := range []string{"", "/oriel", "/tools/oriel-1.2_3~4"} {
			_, body := ask(t, under(t, Config{Base: base}, built(from)), "GET", "/events/a:1")
			for _, want := range []string{
				`href="` + base + `/favicon.svg"`, `src="` + base + `/theme.js"`, `src="` + base + `/assets/index-1a.js"`, `href='` + base + `/assets/index-1a.css'`,
				`href="//cdn.example.net/x"`, `href="https://example.com/./a" title="src=./x"`, `href="#top"`, `data-src="./left"`,
			} {
				if !strings.Contains(body, want) {
					t.Errorf("from %s under %q: no %s in %s", from, base, want, body)
				}
			}
			meta := `<meta name="oriel-base" content="` + base + `" />`
			if got := strings.Count(body, "oriel-base"); base == "" && got != 0 || base != "" && (got != 1 || !strings.Contains(body, meta) || strings.Index(body, meta) > strings.Index(body, "<script")) {
				t.Errorf("under %q the page has %s", base, body)
			}
		}
	}
}

func TestAPlaceForTheBaseInTheBuildIsFilled(t *testing.T) {
	t.Parallel()
	page := strings.Replace(built("./"), "<meta charset", "<meta name=\"oriel-base\" content=\"\" />\n    <meta charset", 1)
	for _, base := range []string{"", "/oriel"} {
		_, body := ask(t, under(t, Config{Base: base}, page), "GET", "/")
		if n := strings.Count(body, "oriel-base"); n != len(strings.Split(base, "/"))-1 {
			t.Errorf("under %q it is there %d times: %s", base, n, body)
		}
	}
}

func TestThePagesTwinsSayTheSame(t *testing.T) {
	t.Parallel()
	app := under(t, Config{Base: "/oriel"}, built("./"), "br", "gz")
	plainResp, plain := ask(t, app, "GET", "/")
	for encoding, open := range map[string]func(io.Reader) (io.Reader, error){
		"br":   func(r io.Reader) (io.Reader, error) { return brotli.NewReader(r), nil },
		"gzip": func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
	} {
		resp, body := ask(t, app, "GET", "/explore", "Accept-Encoding", encoding)
		if resp.Header.Get("Content-Encoding") != encoding {
			t.Fatalf("%s: %v", encoding, resp.Header)
		}
		r, err := open(strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		unpacked, err := io.ReadAll(r)
		if err != nil || !bytes.Equal(unpacked, []byte(plain)) {
			t.Errorf("%s holds %s, %v", encoding, unpacked, err)
		}
		if tag := resp.Header.Get("ETag"); tag == "" || tag == plainResp.Header.Get("ETag") {
			t.Errorf("%s has the tag %q", encoding, tag)
		}
	}
	if resp, _ := ask(t, under(t, Config{Base: "/oriel"}, built("./")), "GET", "/", "Accept-Encoding", "br, gzip"); resp.Header.Get("Content-Encoding") != "" {
		t.Error("a twin that the build has not")
	}
}

func TestAnotherBaseIsAnotherPage(t *testing.T) {
	t.Parallel()
	tags := map[string]bool{}
	for _, base := range []string{"", "/a", "/b"} {
		resp, _ := ask(t, under(t, Config{Base: base}, built("./")), "GET", "/")
		tags[resp.Header.Get("ETag")] = true
	}
	if len(tags) != 3 {
		t.Errorf("tags %v", tags)
	}
}

func TestAPageThatCannotNameItsBaseStopsTheStart(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{"index.html": {Data: []byte("<title>Oriel</title>")}}
	if _, err := New(files, Config{Base: "/oriel"}); err == nil || !strings.Contains(err.Error(), "/oriel") {
		t.Errorf("got %v", err)
	}
	if _, err := New(files, Config{}); err != nil {
		t.Error(err)
	}
}

func TestThePageSaysWhereToReport(t *testing.T) {
	t.Parallel()
	resp, _ := ask(t, under(t, Config{Base: "/oriel", Report: "/oriel/v1/cspReports"}, built("./")), "GET", "/")
	if got := resp.Header.Get("Content-Security-Policy"); got != DocumentPolicy+"; report-uri /oriel/v1/cspReports" {
		t.Errorf("got %s", got)
	}
}
