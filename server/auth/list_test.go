package auth

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"oriel/server/fault"
)

func make5(t *testing.T, tokens *Tokens) []*Token {
	t.Helper()
	var made []*Token
	soon := time.Now().Add(time.Hour)
	for _, name := range []string{"Käse producer", "reader", "KÄSE reader", "50%_off\\", "expired"} {
		n := NewToken{Name: name, Scopes: []string{ScopeEventsRead}}
		if name == "expired" {
			n.Expires = &soon
		}
		token, _, err := tokens.Create(t.Context(), n, nil)
		if err != nil {
			t.Fatal(err)
		}
		made = append(made, token)
	}
	if _, err := tokens.Revoke(t.Context(), made[1].ID, "Adam", nil); err != nil {
		t.Fatal(err)
	}
	for i, prefix := range []string{"AbCdEfG0", "AbCdEfG1", "abzzzzzz", "orl_zzzz", "qqqqqqqq"} {
		if _, err := tokens.pool.Exec(t.Context(), "UPDATE api_token SET prefix = $2 WHERE id = $1", made[i].ID, prefix); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := tokens.pool.Exec(t.Context(), "UPDATE api_token SET expires_at = now() - interval '1 second' WHERE id = $1", made[4].ID); err != nil {
		t.Fatal(err)
	}
	return made
}

func TestAFilterSelectsTokens(t *testing.T) {
	t.Parallel()
	tokens := stored(t)
	made := make5(t, tokens)
	for name, c := range map[string]struct {
		filter TokenFilter
		want   []int // of made, newest first
	}{
		"nothing asked":                 {TokenFilter{}, []int{4, 3, 2, 1, 0}},
		"a part of the name, any case":  {TokenFilter{Text: "käse"}, []int{2, 0}},
		"and a state":                   {TokenFilter{Text: "READER", States: []string{TokenRevoked}}, []int{1}},
		"nothing is a pattern":          {TokenFilter{Text: "%_o"}, []int{3}},
		"nor an escape":                 {TokenFilter{Text: "\\"}, []int{3}},
		"the start of the prefix":       {TokenFilter{Text: "ABCD"}, []int{1, 0}},
		"not its middle":                {TokenFilter{Text: "bcd"}, nil},
		"the prefix as it is shown":     {TokenFilter{Text: "orl_AbCdEfG1"}, []int{1}},
		"the mark alone is a prefix":    {TokenFilter{Text: "orl_"}, []int{3}},
		"active":                        {TokenFilter{States: []string{TokenActive}}, []int{3, 2, 0}},
		"expired":                       {TokenFilter{States: []string{TokenExpired}}, []int{4}},
		"any of two states":             {TokenFilter{States: []string{TokenRevoked, TokenExpired}}, []int{4, 1}},
		"all states":                    {TokenFilter{States: []string{TokenRevoked, TokenExpired, TokenActive}}, []int{4, 3, 2, 1, 0}},
		"text and state of different t": {TokenFilter{Text: "producer", States: []string{TokenExpired}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			for _, size := range []int{1, 2, 500} {
				var got []int
				after := ""
				for pages := 0; ; pages++ {
					page, err := tokens.Page(t.Context(), c.filter, size, after)
					if err != nil || page.Total != int64(len(c.want)) || len(page.Tokens) > size || page.Next != "" && len(page.Tokens) < size {
						t.Fatalf("page %d of %d: %+v, %v", pages, size, page, err)
					}
					for _, token := range page.Tokens {
						got = append(got, slices.IndexFunc(made, func(m *Token) bool { return m.ID == token.ID }))
					}
					if after = page.Next; after == "" {
						break
					}
				}
				if !slices.Equal(got, c.want) {
					t.Errorf("in pages of %d: %v", size, got)
				}
			}
		})
	}
	page, err := tokens.Page(t.Context(), TokenFilter{}, 500, "")
	if err != nil {
		t.Fatal(err)
	}
	var states []string
	for _, token := range page.Tokens {
		states = append(states, token.State)
	}
	if want := []string{TokenExpired, TokenActive, TokenActive, TokenRevoked, TokenActive}; !slices.Equal(states, want) || page.Tokens[3].RevokedBy != "Adam" {
		t.Errorf("the states are %q", states)
	}
}

func TestAPageTokenContinuesItsOwnFilterAlone(t *testing.T) {
	t.Parallel()
	tokens := stored(t)
	made := make5(t, tokens)
	filter := TokenFilter{Text: "e", States: []string{TokenActive, TokenRevoked}}
	page, err := tokens.Page(t.Context(), filter, 2, "")
	if err != nil || page.Next == "" {
		t.Fatalf("%+v, %v", page, err)
	}
	next := page.Next
	for name, other := range map[string]TokenFilter{
		"another text": {Text: "E", States: filter.States}, "fewer states": {Text: "e", States: filter.States[:1]},
		"none": {}, "text and state in one": {Text: "e\x01active"},
	} {
		_, err := tokens.Page(t.Context(), other, 2, next)
		if t.Log(name); err == nil {
			t.Errorf("%s was continued", name)
		}
		wantKind(t, err, fault.InvalidArgument, fault.ReasonInvalidPageToken)
	}
	raw, err := base64.RawURLEncoding.DecodeString(next)
	if err != nil {
		t.Fatal(err)
	}
	raw[8] ^= 1
	for name, bad := range map[string]string{
		"changed": base64.RawURLEncoding.EncodeToString(raw), "cut": next[:len(next)-1], "longer": next + "A", "no base64": "%%%%", "another kind": "ES" + next[2:],
	} {
		_, err := tokens.Page(t.Context(), filter, 2, bad)
		if t.Log(name); err == nil {
			t.Errorf("%s was taken", name)
		}
		wantKind(t, err, fault.InvalidArgument, fault.ReasonInvalidPageToken)
	}
	// New tokens come before, and the order of the states is no other filter.
	if _, _, err := tokens.Create(t.Context(), NewToken{Name: "newer", Scopes: []string{ScopeOperate}}, nil); err != nil {
		t.Fatal(err)
	}
	slices.Reverse(filter.States)
	if page, err = tokens.Page(t.Context(), filter, 3, next); err != nil || len(page.Tokens) != 1 || page.Tokens[0].ID != made[0].ID || page.Total != 4 || page.Next != "" {
		t.Errorf("continued with %+v, %v", page, err)
	}
}

func TestPagesThatAreNotRead(t *testing.T) {
	t.Parallel()
	tokens := stored(t)
	for name, c := range map[string]struct {
		filter TokenFilter
		size   int
		field  string
	}{
		"of no size":          {TokenFilter{}, 0, "pageSize"},
		"of too great a size": {TokenFilter{}, 501, "pageSize"},
		"of no such state":    {TokenFilter{States: []string{"Active"}}, 1, "state"},
		"of a NUL":            {TokenFilter{Text: "a\x00"}, 1, "q"},
		"of no UTF-8":         {TokenFilter{Text: "\xff"}, 1, "q"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := tokens.Page(t.Context(), c.filter, c.size, "")
			wantKind(t, err, fault.InvalidArgument, fault.ReasonInvalidParameter)
			if got := fault.Of(err).Violations[0].Metadata["attribute"]; got != c.field {
				t.Errorf("it is the %s that is wrong", got)
			}
		})
	}
	if page, err := tokens.Page(t.Context(), TokenFilter{Text: strings.Repeat("ü", 200)}, 500, ""); err != nil || page.Total != 0 || page.Tokens == nil || page.Next != "" {
		t.Errorf("none: %s, %v", fmt.Sprintf("%+v", page), err)
	}
}
