package idp

import (
	"bytes"
	_ "embed"
	"html/template"
	"net/http"
	"net/url"
	"strings"

	"github.com/zitadel/oidc/v3/pkg/oidc"
)

//go:embed page.html
var pageHTML string

//go:embed style.css
var styleCSS []byte

//go:embed mark.svg
var markSVG []byte

// pages are plain HTML without a script.
type pages struct{ page *template.Template }

func newPages() *pages {
	return &pages{template.Must(template.New("page").Funcs(template.FuncMap{"join": strings.Join}).Parse(pageHTML))}
}

// view is what a page shows: a sign-in, a sign-out to confirm, or a text alone.
type view struct {
	Title, Text string
	SignIn      *signInView
	SignOut     *signOutView
}

type signInView struct {
	Request, Username, Wrong string
	People                   []Person
}

type signOutView struct{ Username, Client, Redirect, State string }

// policy is the Content-Security-Policy. Browsers hold a form's action against where its answer redirects
// to as well, which is the client's address.
func policy(redirect string) string {
	action := "'none'"
	if u, err := url.Parse(redirect); redirect != "" && err == nil {
		action = "'self' " + u.Scheme + "://" + u.Host
		if strings.HasPrefix(u.Host, "[") { // the policy's grammar has no IPv6 addresses
			action = "'self' http:"
		}
	}
	return "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action " + action
}

func (p *pages) signIn(w http.ResponseWriter, status int, r *request, people []Person, username, wrong string) {
	w.Header().Set("Content-Security-Policy", policy(r.in.RedirectURI))
	p.show(w, status, view{Title: "Sign in", SignIn: &signInView{Request: r.id, Username: username, Wrong: wrong, People: people}})
}

func (p *pages) signOut(w http.ResponseWriter, username string, in *oidc.EndSessionRequest, redirect string) {
	w.Header().Set("Content-Security-Policy", policy(redirect))
	p.show(w, http.StatusOK, view{Title: "Sign out?", SignOut: &signOutView{username, in.ClientID, in.PostLogoutRedirectURI, in.State}})
}

func (p *pages) message(w http.ResponseWriter, status int, title, text string) {
	p.show(w, status, view{Title: title, Text: text})
}

func (p *pages) show(w http.ResponseWriter, status int, v view) {
	var page bytes.Buffer
	if err := p.page.Execute(&page, v); err != nil {
		http.Error(w, "The page could not be made.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = page.WriteTo(w) // a browser that went away
}

func (p *pages) style(w http.ResponseWriter, _ *http.Request) {
	send(w, "text/css; charset=utf-8", styleCSS)
}
func (p *pages) mark(w http.ResponseWriter, _ *http.Request) { send(w, "image/svg+xml", markSVG) }

func send(w http.ResponseWriter, kind string, content []byte) {
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(content) // a browser that went away
}
