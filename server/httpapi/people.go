package httpapi

import "context"

func (h *handlers) ListTokens(context.Context, ListTokensRequestObject) (ListTokensResponseObject, error) {
	panic("outline")
}
func (h *handlers) CreateToken(context.Context, CreateTokenRequestObject) (CreateTokenResponseObject, error) {
	panic("outline")
}
func (h *handlers) RevokeToken(context.Context, RevokeTokenRequestObject) (RevokeTokenResponseObject, error) {
	panic("outline")
}
func (h *handlers) ListAuditEntries(context.Context, ListAuditEntriesRequestObject) (ListAuditEntriesResponseObject, error) {
	panic("outline")
}
func (h *handlers) ExportAuditEntries(context.Context, ExportAuditEntriesRequestObject) (ExportAuditEntriesResponseObject, error) {
	panic("outline")
}
