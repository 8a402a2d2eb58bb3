package httpapi

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"
	"github.com/jackc/pgx/v5"

	"oriel/server/audit"
	"oriel/server/auth"
	"oriel/server/auth/oidc"
	"oriel/server/fault"
)

const (
	signInPath   = "/auth/sign-in"
	callbackPath = "/auth/callback"

	// Pages of the app, within the base path.
	signInPage    = "/sign-in"
	signedOutPage = "/signed-out"

	signInLasts = 10 * time.Minute // as the sign-in itself
)

// signIn begins a sign-in and sends the browser to the identity provider.
func (s *Server) signIn(c *fiber.Ctx) error {
	if !s.signsIn() {
		return noSignIn()
	}
	call := callOf(c)
	to := s.returnOf(call)
	address, browser, err := s.begin(c.UserContext(), call, to)
	if err != nil {
		return s.signInFailed(c, call, to, err)
	}
	s.cookie(call, signInCookie).set(c, browser, time.Now().Add(signInLasts))
	return redirect(c, fiber.StatusFound, address)
}

// returnOf is where the person of a sign-in goes afterwards.
func (s *Server) returnOf(call *call) string {
	params, _ := url.ParseQuery(call.query) // what cannot be read is no return path
	return returnPath(s.site.Load().base, params.Get("return"))
}

// begin stores the sign-in and returns the provider's address for it, and the value of the pre-login cookie.
func (s *Server) begin(ctx context.Context, call *call, to string) (address, browser string, err error) {
	// The state is made where it is stored, which needs what the provider's part makes: it comes last.
	start, err := s.deps.Provider.Begin(ctx, s.callbackOf(call.own.text), "")
	if err != nil {
		return "", "", err
	}
	state, browser, err := s.deps.Sessions.Begin(ctx, auth.SignIn{
		Nonce: start.Nonce, Verifier: start.Verifier, Origin: call.own.text, ReturnTo: to,
		Browser: readCookie(call.shape.cookie, s.cookie(call, signInCookie).name),
	})
	if err != nil {
		return "", "", err
	}
	u, err := url.Parse(start.URL)
	if err != nil {
		return "", "", fmt.Errorf("address of the identity provider: %w", err)
	}
	q := u.Query()
	q.Set("state", state)
	u.RawQuery = q.Encode()
	return u.String(), browser, nil
}

// callback is where the provider sends the browser back to. Whatever goes wrong, a session that the browser
// has stays: a used address, as after a step back, signs nobody out.
func (s *Server) callback(c *fiber.Ctx) error {
	if !s.signsIn() {
		return noSignIn()
	}
	call, ctx := callOf(c), c.UserContext()
	params, _ := url.ParseQuery(call.query)
	in, err := s.takeSignIn(ctx, call, params)
	if err != nil { // anybody can cause this, so that it is counted and not on the record
		return s.signInFailed(c, call, "", err)
	}
	id, err := s.identityOf(ctx, in, params)
	if err == nil {
		var value string
		var p *auth.Principal
		if value, p, err = s.createSession(ctx, call, id); err == nil {
			s.cookie(call, sessionCookie).set(c, value, endOf(p))
			// The pre-login cookie stays until it expires: another tab may be signing in with it.
			return redirect(c, fiber.StatusSeeOther, s.site.Load().base+in.ReturnTo)
		}
	}
	s.recordFailedSignIn(ctx, call, err)
	return s.signInFailed(c, call, in.ReturnTo, err)
}

// takeSignIn finds the sign-in that a callback ends, for the browser and the origin that began it.
func (s *Server) takeSignIn(ctx context.Context, call *call, params url.Values) (auth.SignIn, error) {
	state, browser := params["state"], readCookie(call.shape.cookie, s.cookie(call, signInCookie).name)
	if len(state) != 1 || browser == "" {
		return auth.SignIn{}, otherBrowser()
	}
	in, err := s.deps.Sessions.Finish(ctx, state[0], browser)
	if err == nil && in.Origin != call.own.text {
		err = otherBrowser()
	}
	return in, err
}

func otherBrowser() error {
	return fault.New(fault.Unauthenticated, fault.ReasonSignInState,
		"This sign-in did not begin in this browser, or its cookie is gone. Sign in again.")
}

// identityOf reads the provider's answer.
func (s *Server) identityOf(ctx context.Context, in auth.SignIn, params url.Values) (*auth.Identity, error) {
	code := params.Get("error")
	switch {
	case code == "server_error" || code == "temporarily_unavailable":
		return nil, fault.New(fault.Unavailable, fault.ReasonProviderUnavailable, "The identity provider says that it cannot answer now ("+code+").")
	case code != "":
		cause := fmt.Errorf("it said %q", cut(params.Get("error_description")))
		return nil, fault.Wrap(cause, fault.Unauthenticated, fault.ReasonSignInRefused,
			"The identity provider refused the sign-in ("+visible(cut(code))+").", "value", cut(code))
	case len(params["code"]) != 1 || params.Get("code") == "":
		return nil, fault.New(fault.Unauthenticated, fault.ReasonSignInRejected, "The identity provider sent neither a code nor an error.")
	}
	return s.deps.Provider.Finish(ctx, oidc.Callback{
		Code: params.Get("code"), Issuer: params.Get("iss"), Nonce: in.Nonce, Verifier: in.Verifier, Redirect: s.callbackOf(in.Origin),
	})
}

func (s *Server) createSession(ctx context.Context, call *call, id *auth.Identity) (string, *auth.Principal, error) {
	old := readCookie(call.shape.cookie, s.cookie(call, sessionCookie).name)
	return s.deps.Sessions.Create(ctx, id, old, func(ctx context.Context, tx pgx.Tx) error {
		roles := auth.RolesUpTo(id.Role)
		return s.deps.Audit.Record(ctx, tx, audit.Entry{
			Action: audit.ActionSignIn, Outcome: audit.Done,
			Actor:     audit.Actor{Kind: string(auth.KindPerson), ID: id.Issuer + "#" + id.Subject, Name: id.Name, Roles: roles},
			RequestID: call.id, Address: call.address.String(), After: map[string]any{"roles": roles},
		})
	})
}

// recordFailedSignIn puts a sign-in on the record that the provider, or what it sent, ended. Who it was
// nobody knows.
func (s *Server) recordFailedSignIn(ctx context.Context, call *call, err error) {
	public, outcome := publicSide(err), audit.Refused
	if public.Kind != fault.Unauthenticated {
		outcome = audit.Failed
	}
	err = s.deps.Audit.Record(ctx, nil, audit.Entry{
		Action: audit.ActionSignIn, Outcome: outcome, Detail: public.Violations[0].Reason + ": " + public.Message,
		Actor:     audit.Actor{Kind: string(auth.KindPerson), Name: "unknown"},
		RequestID: call.id, Address: call.address.String(),
	})
	if err != nil {
		s.deps.Log.WarnContext(ctx, "a sign-in that failed is not on the record", "request_id", call.id, "error", err)
	}
}

// signInFailed shows an error where a person is: on the app's page, with the reason and the request's id.
func (s *Server) signInFailed(c *fiber.Ctx, call *call, to string, err error) error {
	public := publicSide(err)
	s.metrics.failed(public)
	if public.Kind != fault.Exhausted { // which has a counter of its own
		s.sayer.say(c.UserContext(), call, c.Method(), public, err)
	}
	q := url.Values{"error": {public.Violations[0].Reason}, "request": {call.id}}
	if to != "" {
		q.Set("return", to)
	}
	return redirect(c, fiber.StatusSeeOther, s.site.Load().base+signInPage+"?"+q.Encode())
}

func (s *Server) callbackOf(origin string) string { return origin + s.site.Load().base + callbackPath }

func noSignIn() error {
	return fault.New(fault.NotFound, fault.ReasonNotFound,
		"People cannot sign in here: no identity provider is configured, or this replica serves programs alone.")
}

// endOf is when a session ends at the latest.
func endOf(p *auth.Principal) time.Time {
	if p.Session == nil {
		return time.Now()
	}
	return p.Session.Expires
}

func redirect(c *fiber.Ctx, status int, address string) error {
	c.Set(fiber.HeaderLocation, escaped(address))
	c.Status(status)
	return nil
}

// escaped percent-encodes what an address in a header may not have.
func escaped(address string) string {
	var b strings.Builder
	for i := range len(address) {
		if ch := address[i]; ch <= ' ' || ch >= 0x7f || strings.IndexByte("\"<>\\^`{|}", ch) >= 0 {
			fmt.Fprintf(&b, "%%%02X", ch)
		} else {
			b.WriteByte(ch)
		}
	}
	return b.String()
}

// returnPath is where a person goes after signing in: a page of the app, within the base path, or its root
// for anything else. The address is followed by a browser, and must not lead anywhere else. Whoever copies one
// from the address bar has the base path in front of it.
func returnPath(base, raw string) string {
	const root = "/"
	if rest, ok := strings.CutPrefix(raw, base); ok && base != "" && (rest == "" || strings.ContainsRune("/?#", rune(rest[0]))) {
		if raw = rest; !strings.HasPrefix(raw, "/") {
			raw = root + raw
		}
	}
	path, _, _ := strings.Cut(raw, "?") // a filter behind it may well have an address in it
	path, _, _ = strings.Cut(path, "#")
	if !strings.HasPrefix(path, "/") || strings.Contains(path, "//") || len(raw) > headerBytes/4 || strings.Contains(raw, `\`) ||
		!utf8.ValidString(raw) || strings.ContainsFunc(raw, unicode.IsControl) {
		return root
	}
	segments := strings.Split(path, "/")[1:]
	for i, segment := range segments {
		plain, err := url.PathUnescape(segment)
		if err != nil || plain == "." || plain == ".." {
			return root
		}
		segments[i] = plain
	}
	// With the ending of a custom method: /v1:x is ours too.
	if first, _, _ := strings.Cut(segments[0], ":"); slices.Contains(ownRoots(), first) {
		return root
	}
	return raw
}
