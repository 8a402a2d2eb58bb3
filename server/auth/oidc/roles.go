package oidc

import (
	"slices"
	"strings"

	"oriel/server/auth"
)

// find looks a claim up by its path. A claim whose own name has dots is found as a whole first, then with
// the longest beginning that is an object. null is no claim.
func find(in map[string]any, path string) (value any, there bool) {
	if value, there := in[path]; there && value != nil {
		return value, true
	}
	for end := strings.LastIndexByte(path, '.'); end > 0; end = strings.LastIndexByte(path[:end], '.') {
		if inner, ok := in[path[:end]].(map[string]any); ok {
			if value, there := find(inner, path[end+1:]); there {
				return value, true
			}
		}
	}
	return nil, false
}

// role is the highest that a claim's value gives: a text or an array of texts, each compared as it is.
// Numbers, objects and anything else give none.
func (p *Provider) role(value any) string {
	var values []string
	switch value := value.(type) {
	case string:
		values = []string{value}
	case []any:
		for _, one := range value {
			if text, ok := one.(string); ok {
				values = append(values, text)
			}
		}
	}
	all := auth.RolesUpTo(auth.RoleAdmin)
	slices.Reverse(all)
	for _, role := range all {
		for _, gives := range p.cfg.RoleValues[role] {
			if slices.Contains(values, gives) {
				return role
			}
		}
	}
	return p.cfg.DefaultRole
}

// distributed tells whether claims say that the role claim is to be fetched elsewhere (OpenID Connect Core
// 5.6.2), as one provider does for people in very many groups. It is not followed.
func (p *Provider) distributed(c claims) bool {
	names, _ := c["_claim_names"].(map[string]any)
	_, there := names[p.cfg.RoleClaim]
	return there
}
