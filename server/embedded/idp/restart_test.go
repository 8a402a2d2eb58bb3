package idp_test

import (
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/oauth2"

	"oriel/server/embedded/idp"
)

func TestARestartKeepsKeyAndRefreshTokens(t *testing.T) {
	t.Parallel()
	dir, l := t.TempDir(), listen(t, "127.0.0.1:0")
	before := startIn(t, dir, l)
	token := before.browser(t).signIn("analyst-1")
	before.stop(t)

	after := startIn(t, dir, listen(t, l.Addr().String()))
	if c := after.idToken(t, token); c.Subject != "analyst-1" {
		t.Errorf("the ID token of before says %+v", c)
	}
	again, err := after.refresh(t.Context(), token.RefreshToken)
	if err != nil {
		t.Fatal(err)
	}
	hint, _ := token.Extra("id_token").(string)
	end := after.Issuer() + "/end_session?" + url.Values{"id_token_hint": {hint}, "post_logout_redirect_uri": {signedOut}}.Encode()
	if p := after.browser(t).get(end); p.left == nil || p.left.String() != signedOut {
		t.Errorf("sign-out went to %v", p.left)
	}
	_, err = after.refresh(t.Context(), again.RefreshToken)
	if got := failure(t, err); got != "invalid_grant" {
		t.Errorf("after sign-out: %s", got)
	}

	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 2 {
		t.Fatalf("the folder has %v, %v", files, err)
	}
	for _, f := range files {
		if info, err := f.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has %v, %v", f.Name(), info.Mode(), err)
		}
	}
	if text, err := os.ReadFile(filepath.Join(dir, "grants.json")); err != nil || strings.Contains(string(text), again.RefreshToken[27:]) {
		t.Errorf("the file has the token itself: %v", err)
	}
}

func TestAnotherFolderKnowsNothing(t *testing.T) {
	t.Parallel()
	l := listen(t, "127.0.0.1:0")
	before := startIn(t, t.TempDir(), l)
	token := before.browser(t).signIn("analyst-1")
	before.stop(t)
	after := startIn(t, t.TempDir(), listen(t, l.Addr().String()))
	_, err := after.refresh(t.Context(), token.RefreshToken)
	if got := failure(t, err); got != "invalid_grant" {
		t.Errorf("a refresh token of another folder gave %s", got)
	}
	if _, err := after.provider.UserInfo(t.Context(), oauth2.StaticTokenSource(token)); err == nil {
		t.Error("an access token of another key was accepted")
	}
}

func TestDamagedRefreshTokensAreLostAndADamagedKeyIsNamed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for file, text := range map[string]string{"grants.json": `{"a":`, "key.pem": ""} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cfg := idp.Config{
		Listener: listen(t, "127.0.0.1:0"), DataDir: dir, ClientID: clientID, Redirects: []string{redirect},
		People: []idp.Person{ada()}, Log: slog.New(slog.DiscardHandler),
	}
	if _, err := idp.Start(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "key.pem") || !strings.Contains(err.Error(), "delete it") {
		t.Fatalf("a damaged key gave %v", err)
	}
	if err := os.Remove(filepath.Join(dir, "key.pem")); err != nil {
		t.Fatal(err)
	}
	startIn(t, dir, listen(t, "127.0.0.1:0")).browser(t).signIn("analyst-1")
}

func TestAnAddressThatOthersReachIsRefused(t *testing.T) {
	t.Parallel()
	cfg := idp.Config{
		Listener: listen(t, "0.0.0.0:0"), DataDir: t.TempDir(), ClientID: clientID, Redirects: []string{redirect},
		People: []idp.Person{ada()}, Log: slog.New(slog.DiscardHandler),
	}
	if _, err := idp.Start(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "loopback only") {
		t.Fatalf("got %v", err)
	}
	if left, err := os.ReadDir(cfg.DataDir); err != nil || len(left) != 0 {
		t.Errorf("something was written: %v, %v", left, err)
	}
}
