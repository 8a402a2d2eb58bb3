package httpapi

import (
	"context"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/jackc/pgx/v5"

	"oriel/server/audit"
	"oriel/server/auth"
)

// GetSession says who is asking, and what this installation is.
func (h *handlers) GetSession(ctx context.Context, _ GetSessionRequestObject) (GetSessionResponseObject, error) {
	p, cfg := callIn(ctx).principal, h.s.deps.Config
	out := GetSession200JSONResponse{
		Name: p.Name, Id: p.ID, Kind: SessionKind(p.Kind), Email: some(p.Email),
		Roles: make([]Role, len(p.Roles)), Scopes: p.Scopes, Contact: some(cfg.Contact), Installation: some(cfg.Name),
		Demo: cfg.Demo, Version: cfg.Version, Topic: cfg.Topic, TraceUrl: some(cfg.TraceURL),
		Facets: append([]string{}, cfg.Facets...),
	}
	for i, role := range p.Roles {
		out.Roles[i] = Role(role)
	}
	if out.Scopes == nil {
		out.Scopes = []string{}
	}
	if p.Session != nil {
		idle := int32(p.Session.Idle / time.Second)
		out.CreateTime, out.ExpireTime, out.IdleSeconds = second(p.Session.Created), second(p.Session.Expires), &idle
	}
	return out, nil
}

func second(t time.Time) *string {
	s := t.UTC().Format(time.RFC3339)
	return &s
}

// GetInstallation says what the sign-in page shows.
func (h *handlers) GetInstallation(context.Context, GetInstallationRequestObject) (GetInstallationResponseObject, error) {
	cfg := h.s.deps.Config
	return GetInstallation200JSONResponse{
		Name: some(cfg.Name), Demo: cfg.Demo, SignIn: h.s.signsIn(), Provider: some(cfg.Provider), Contact: some(cfg.Contact),
	}, nil
}

// SignOut ends the caller's session, or all of theirs, and says where the provider ends its own.
func (h *handlers) SignOut(ctx context.Context, req SignOutRequestObject) (SignOutResponseObject, error) {
	call, s := callIn(ctx), h.s
	everywhere, action := req.Body.Everywhere != nil && *req.Body.Everywhere, audit.ActionSignOut
	if everywhere {
		action = audit.ActionSignOutEverywhere
	}
	ended, idToken, err := s.deps.Sessions.End(ctx, call.principal, everywhere, func(ctx context.Context, tx pgx.Tx) error {
		return s.deps.Audit.Record(ctx, tx, audit.Entry{
			Action: action, Outcome: audit.Done, Actor: actorOf(call.principal), RequestID: call.id, Address: call.address.String(),
		})
	})
	if err != nil {
		return nil, err
	}
	page := s.site.Load().base + signedOutPage
	out := signedOut{SignOutResponse{Sessions: int32(ended), Next: page}, s.cookie(call, sessionCookie)}
	if s.deps.Provider != nil {
		if address := s.deps.Provider.SignOutURL(ctx, idToken, call.own.text+page); address != "" {
			out.Next = address
		}
	}
	return out, nil
}

// signedOut takes the cookie away too.
type signedOut struct {
	SignOutResponse
	cookie cookie
}

func (a signedOut) VisitSignOutResponse(c *fiber.Ctx) error {
	a.cookie.set(c, "", time.Time{})
	return c.Status(fiber.StatusOK).JSON(a.SignOutResponse)
}

// actorOf is a caller as the record has them.
func actorOf(p *auth.Principal) audit.Actor {
	a := audit.Actor{Kind: string(p.Kind), ID: p.ID, Name: p.Name, Roles: p.Scopes}
	if p.Kind == auth.KindPerson {
		a.Roles = p.Roles
	}
	return a
}
