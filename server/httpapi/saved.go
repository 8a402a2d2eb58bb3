package httpapi

import (
	"context"
	"strconv"

	"github.com/jackc/pgx/v5"

	"oriel/server/audit"
	"oriel/server/auth"
	"oriel/server/fault"
	"oriel/server/saved"
)

// SharedPath is the app's page that opens a share link.
const SharedPath = "/s/"

// saver is a caller as the owner of what is saved. A machine owns nothing.
func saver(p *auth.Principal) saved.Caller {
	if p.Kind != auth.KindPerson {
		return saved.Caller{}
	}
	return saved.Caller{ID: p.ID, Name: p.Name, Admin: p.Has(auth.ScopeAdminWrite)}
}

// ListSavedSearches answers one page.
func (h *handlers) ListSavedSearches(ctx context.Context, req ListSavedSearchesRequestObject) (ListSavedSearchesResponseObject, error) {
	who := saver(callIn(ctx).principal)
	page, err := h.s.deps.Saved.List(ctx, who, pageSize(req.Params.PageSize), given(req.Params.PageToken))
	if err != nil {
		return nil, err
	}
	out := ListSavedSearches200JSONResponse{SavedSearches: make([]SavedSearch, len(page.Searches)), NextPageToken: some(page.Next)}
	for i := range page.Searches {
		out.SavedSearches[i] = savedSearch(who, &page.Searches[i])
	}
	return out, nil
}

// GetSavedSearch answers one.
func (h *handlers) GetSavedSearch(ctx context.Context, req GetSavedSearchRequestObject) (GetSavedSearchResponseObject, error) {
	who := saver(callIn(ctx).principal)
	found, err := h.s.deps.Saved.Get(ctx, who, numberOf(req.SavedSearch))
	if err != nil {
		return nil, err
	}
	return GetSavedSearch200JSONResponse(savedSearch(who, found)), nil
}

// CreateSavedSearch saves one of the caller's.
func (h *handlers) CreateSavedSearch(ctx context.Context, req CreateSavedSearchRequestObject) (CreateSavedSearchResponseObject, error) {
	call := callIn(ctx)
	who := saver(call.principal)
	made, err := h.s.deps.Saved.Create(ctx, who, saved.Search{
		Name: req.Body.DisplayName, Params: req.Body.Params, View: given(req.Body.View), Shared: req.Body.Shared != nil && *req.Body.Shared,
	}, h.s.changed(call))
	if err != nil {
		return nil, err
	}
	return CreateSavedSearch200JSONResponse(savedSearch(who, made)), nil
}

// UpdateSavedSearch changes what is given of one.
func (h *handlers) UpdateSavedSearch(ctx context.Context, req UpdateSavedSearchRequestObject) (UpdateSavedSearchResponseObject, error) {
	call, b := callIn(ctx), req.Body
	who := saver(call.principal)
	now, err := h.s.deps.Saved.Update(ctx, who, numberOf(req.SavedSearch), int64(b.Version),
		saved.Change{Name: b.DisplayName, Params: b.Params, View: b.View, Shared: b.Shared}, h.s.changed(call))
	if err != nil {
		return nil, h.s.notOwner(ctx, call, audit.ActionSavedSearchChange, req.SavedSearch, err)
	}
	return UpdateSavedSearch200JSONResponse(savedSearch(who, now)), nil
}

// DeleteSavedSearch deletes one.
func (h *handlers) DeleteSavedSearch(ctx context.Context, req DeleteSavedSearchRequestObject) (DeleteSavedSearchResponseObject, error) {
	call, version := callIn(ctx), int64(0)
	if v := req.Params.Version; v != nil {
		version = int64(*v)
	}
	if err := h.s.deps.Saved.Delete(ctx, saver(call.principal), numberOf(req.SavedSearch), version, h.s.changed(call)); err != nil {
		return nil, h.s.notOwner(ctx, call, audit.ActionSavedSearchDelete, req.SavedSearch, err)
	}
	return DeleteSavedSearch204Response{}, nil
}

// changed puts on the record, with the change itself, what changes for others. What a person keeps for
// themselves is nobody else's business.
func (s *Server) changed(call *call) saved.With {
	return func(ctx context.Context, tx pgx.Tx, before, after *saved.Search) error {
		wasShared, isShared := before != nil && before.Shared, after != nil && after.Shared
		if !wasShared && !isShared {
			return nil
		}
		e := audit.Entry{
			Outcome: audit.Done, Actor: actorOf(call.principal), RequestID: call.id, Address: call.address.String(),
			Before: recorded(before), After: recorded(after),
		}
		switch {
		case after == nil:
			e.Action, e.Target = audit.ActionSavedSearchDelete, savedName(before.ID)
		case !wasShared:
			e.Action, e.Target = audit.ActionSavedSearchShare, savedName(after.ID)
		default:
			e.Action, e.Target = audit.ActionSavedSearchChange, savedName(after.ID)
		}
		return s.deps.Audit.Record(ctx, tx, e)
	}
}

// recorded is a search as the record has it.
func recorded(f *saved.Search) map[string]any {
	if f == nil {
		return nil
	}
	return map[string]any{"displayName": f.Name, "owner": f.OwnerName, "shared": f.Shared, "params": f.Params, "version": f.Version}
}

// notOwner puts on the record that somebody tried to change what another shares, and hands the error on.
func (s *Server) notOwner(ctx context.Context, call *call, action, number string, err error) error {
	if publicSide(err).Kind != fault.PermissionDenied || s.refusals.kept.take(action+" "+call.principal.ID) != nil {
		return err
	}
	e := audit.Entry{
		Action: action, Target: "savedSearches/" + number, Actor: actorOf(call.principal), RequestID: call.id, Address: call.address.String(),
	}
	s.unwritten(ctx, call, s.deps.Audit.Record(ctx, nil, audit.Refusal(e, err)))
	return err
}

// CreateShareLink gives a filter a short address.
func (h *handlers) CreateShareLink(ctx context.Context, req CreateShareLinkRequestObject) (CreateShareLinkResponseObject, error) {
	call := callIn(ctx)
	l, err := h.s.deps.Saved.Link(ctx, saver(call.principal), req.Body.Params)
	if err != nil {
		return nil, err
	}
	return CreateShareLink200JSONResponse(h.s.shareLink(call, l)), nil
}

// GetShareLink answers the filter of a short address.
func (h *handlers) GetShareLink(ctx context.Context, req GetShareLinkRequestObject) (GetShareLinkResponseObject, error) {
	l, err := h.s.deps.Saved.Follow(ctx, req.Slug)
	if err != nil {
		return nil, err
	}
	return GetShareLink200JSONResponse(h.s.shareLink(callIn(ctx), l)), nil
}

func (s *Server) shareLink(call *call, l *saved.Link) ShareLink {
	address := s.site.Load().base + SharedPath + l.Slug
	if call.own != nil {
		address = call.own.text + address
	}
	return ShareLink{Slug: l.Slug, Url: address, Params: l.Params}
}

func savedSearch(who saved.Caller, f *saved.Search) SavedSearch {
	return SavedSearch{
		Name: savedName(f.ID), DisplayName: f.Name, Owner: f.OwnerName, Own: who.ID != "" && f.Owner == who.ID, Shared: f.Shared,
		Params: f.Params, View: f.View, Version: int32(f.Version), CreateTime: instant(f.Created), UpdateTime: instant(f.Updated),
	}
}

func savedName(id int64) string { return "savedSearches/" + strconv.FormatInt(id, 10) }

// numberOf reads what openapi.yaml's pattern has let through.
func numberOf(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64) // at most 18 digits
	return n
}
