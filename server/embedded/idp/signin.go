package idp

import (
	"crypto/rand"
	"net/http"
	"net/url"

	"github.com/zitadel/oidc/v3/pkg/op"
)

const overText = "This sign-in is over, or was begun in another browser. Go back to Oriel and start again."

// authorize begins a sign-in, which belongs to the browser that began it: who is lured to somebody else's
// sign-in page must not sign in there for them.
func (s *Server) authorize(w http.ResponseWriter, r *http.Request) {
	browser, ok := s.readCookie(r, "_browser")
	if !ok {
		browser = s.writeCookie(w, "_browser")
	}
	_, known := s.current(r)
	s.oidc.ServeHTTP(naming{w, s.issuer}, r.WithContext(withAsking(r.Context(), asking{browser: digest(browser), session: known})))
}

// naming adds who answers (RFC 9207) to the errors that the library sends a browser back with.
type naming struct {
	http.ResponseWriter
	issuer string
}

func (n naming) WriteHeader(status int) {
	if to, err := url.Parse(n.Header().Get("Location")); err == nil && to.IsAbs() && to.Query().Has("error") {
		q := to.Query()
		q.Set("iss", n.issuer)
		to.RawQuery = q.Encode()
		n.Header().Set("Location", to.String())
	}
	n.ResponseWriter.WriteHeader(status)
}

// request finds the sign-in that a page or a form is about.
func (s *Server) request(r *http.Request, id string) (*request, bool) {
	browser, ok := s.readCookie(r, "_browser")
	if !ok {
		return nil, false
	}
	req, ok := s.store.requests.get(id)
	return req, ok && req.browser == digest(browser)
}

func (s *Server) signInPage(w http.ResponseWriter, r *http.Request) {
	req, ok := s.request(r, r.URL.Query().Get("request"))
	if !ok {
		s.pages.message(w, http.StatusGone, "Start again", overText)
		return
	}
	if _, known := s.current(r); req.suits(known, s.store.now()) {
		s.finish(w, r, req, known)
		return
	}
	s.pages.signIn(w, http.StatusOK, req, s.store.people.all(), req.in.LoginHint, "")
}

// signIn takes the form: a username and a password, or a click on a person.
func (s *Server) signIn(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		s.pages.message(w, http.StatusBadRequest, "Not understood", "That was no form of this page.")
		return
	}
	req, ok := s.request(r, r.PostForm.Get("request"))
	if !ok {
		s.pages.message(w, http.StatusGone, "Start again", overText)
		return
	}
	var person Person
	if clicked := r.PostForm.Get("person"); clicked != "" {
		person, ok = s.store.people.find(clicked)
	} else {
		person, ok = s.store.people.check(r.PostForm.Get("username"), r.PostForm.Get("password"))
	}
	if !ok {
		s.pages.signIn(w, http.StatusOK, req, s.store.people.all(), r.PostForm.Get("username"),
			"Username or password is wrong.")
		return
	}
	if old, ok := s.readCookie(r, ""); ok {
		s.store.sessions.take(digest(old))
	}
	session := session{id: rand.Text(), person: person.Username, authTime: s.store.now()}
	s.store.sessions.put(digest(s.writeCookie(w, "")), session)
	s.finish(w, r, req, session)
}

// finish sends the browser back with a code. The request stays until the code is used, so that a second
// click on the button does no harm.
func (s *Server) finish(w http.ResponseWriter, r *http.Request, req *request, as session) {
	done := req.done(as)
	back, err := op.BuildAuthResponseCallbackURL(withAsking(r.Context(), asking{done: done}), done, s.oidc)
	if err != nil {
		s.cfg.Log.Error("no code could be made", "error", err)
		s.pages.message(w, http.StatusInternalServerError, "Not signed in", "No code could be made; the log says why.")
		return
	}
	// RFC 9207: who answers.
	//nolint:gosec // the request was begun with one of the client's exact addresses, or not at all
	http.Redirect(w, r, back+"&iss="+url.QueryEscape(s.issuer), http.StatusSeeOther)
}

// endSession signs out at the client's wish, which its ID token proves; else the person is asked.
func (s *Server) endSession(w http.ResponseWriter, r *http.Request) {
	ctx := op.ContextWithIssuer(r.Context(), s.issuer)
	in, err := op.ParseEndSessionRequest(r, s.oidc.Decoder())
	if err != nil {
		s.pages.message(w, http.StatusBadRequest, "Not signed out", "The sign-out was not understood.")
		return
	}
	end, err := op.ValidateEndSessionRequest(ctx, in, s.oidc)
	if err != nil {
		s.cfg.Log.Warn("a sign-out was refused", "error", err)
		s.pages.message(w, http.StatusBadRequest, "Not signed out",
			"The sign-out named an address or an ID token that this provider does not know.")
		return
	}
	cookie, known := s.current(r)
	confirmed := r.Method == http.MethodPost && r.PostForm.Has("confirm") && s.same.Check(r) == nil
	sid := known.id
	switch {
	case end.IDTokenHintClaims != nil:
		sid = end.IDTokenHintClaims.SessionID
	case known.person != "" && !confirmed:
		s.pages.signOut(w, known.person, in, end.RedirectURI)
		return
	}
	if sid == known.id || end.UserID == known.person {
		s.store.sessions.take(digest(cookie))
		s.clearCookie(w)
	}
	if err := s.store.grants.end(func(g grant) bool { return g.Session == sid }); err != nil {
		s.cfg.Log.Error("a sign-out is not kept", "error", err)
	}
	//nolint:gosec // ValidateEndSessionRequest holds it against the client's exact addresses
	http.Redirect(w, r, end.RedirectURI, http.StatusSeeOther)
}

// current is who this browser is signed in as.
func (s *Server) current(r *http.Request) (cookie string, known session) {
	cookie, ok := s.readCookie(r, "")
	if !ok {
		return "", session{}
	}
	known, _ = s.store.sessions.get(digest(cookie))
	if _, ok := s.store.people.find(known.person); !ok {
		return cookie, session{}
	}
	return cookie, known
}

func (s *Server) readCookie(r *http.Request, which string) (string, bool) {
	c, err := r.Cookie(s.cookie + which)
	if err != nil || c.Value == "" {
		return "", false
	}
	return c.Value, true
}

// writeCookie gives the browser a new secret, until it is closed.
func (s *Server) writeCookie(w http.ResponseWriter, which string) string {
	secret := rand.Text()
	s.setCookie(w, s.cookie+which, secret, 0)
	return secret
}

func (s *Server) clearCookie(w http.ResponseWriter) { s.setCookie(w, s.cookie, "", -1) }

func (s *Server) setCookie(w http.ResponseWriter, name, value string, maxAge int) {
	//nolint:gosec // plain http on loopback has no use for Secure
	http.SetCookie(w, &http.Cookie{
		Name: name, Value: value, Path: "/", MaxAge: maxAge, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
}
