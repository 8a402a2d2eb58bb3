package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"

	"oriel/server/auth"
	"oriel/server/config"
	"oriel/server/embedded/idp"
)

// What the demo's program is to the demo's identity provider.
const (
	demoClient   = "oriel-demo"
	demoAudience = "oriel"
)

// startDemoProvider starts the demo's identity provider and configures sign-in with it. The people are
// those of demo.json, also after that file has been edited: it is read again each time one is needed.
func startDemoProvider(ctx context.Context, cfg *config.Config, known *demoFile, dir string, log *slog.Logger) (*idp.Server, error) {
	if len(known.Users) == 0 {
		known.Users = newDemoPeople()
	}
	if known.Machine == nil || known.Machine.ClientSecret == "" {
		known.Machine = &demoMachine{ClientID: "oriel-demo-machine", ClientSecret: newPassword()}
	}
	listener, err := listenNextTo(ctx, cfg.HTTP.Addr, known.Issuer)
	if err != nil {
		return nil, err
	}
	callbacks, signedOut, err := loopbackAddresses(cfg.HTTP.Addr)
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	file, first := filepath.Join(dir, demoJSON), known.Users
	provider, err := idp.Start(ctx, idp.Config{
		Listener: listener, DataDir: filepath.Join(dir, "idp"), ClientID: demoClient, Redirects: callbacks, SignedOut: signedOut,
		Audience: demoAudience,
		Machine: idp.Machine{
			ID: known.Machine.ClientID, Secret: known.Machine.ClientSecret,
			Scopes: []string{auth.ScopeEventsWrite, auth.ScopeEventsRead, auth.ScopeOperate},
		},
		People: first, Reread: func() ([]idp.Person, error) { return rereadPeople(file, first) }, Log: log,
	})
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	known.Issuer, known.Machine.TokenURL = provider.Issuer(), provider.Issuer()+"/oauth/token"
	s := &cfg.SignIn
	s.Issuer, s.ClientID, s.ClientSecret, s.CAFile = provider.Issuer(), demoClient, "", ""
	s.Scopes = []string{"openid", "profile", "email", "offline_access"}
	s.Audience, s.RoleClaim, s.DefaultRole = demoAudience, "roles", ""
	s.Analysts, s.Operators, s.Admins = []string{auth.RoleAnalyst}, []string{auth.RoleOperator}, []string{auth.RoleAdmin}
	if s.Provider == "" {
		s.Provider = "the demo provider"
	}
	return provider, nil
}

// newDemoPeople are one for each role.
func newDemoPeople() []idp.Person {
	person := func(username, name, role string) idp.Person {
		return idp.Person{Username: username, Password: newPassword(), Name: name, Email: username + "@example.com", Roles: []string{role}}
	}
	return []idp.Person{
		person("analyst-1", "Ada", auth.RoleAnalyst), person("operator-1", "Otto", auth.RoleOperator), person("admin-1", "Adam", auth.RoleAdmin),
	}
}

// rereadPeople reads who can sign in. A file that no run has written people to yet says nothing.
func rereadPeople(file string, before []idp.Person) ([]idp.Person, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return before, nil
	}
	if err != nil {
		return nil, err
	}
	var now demoFile
	if err := json.Unmarshal(text, &now); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if now.Users == nil {
		return before, nil
	}
	return now.Users, nil
}

// listenNextTo finds a place for the identity provider: the one of the last run, so that sessions and
// bookmarks hold, else the port after the program's, else any.
func listenNextTo(ctx context.Context, addr, last string) (net.Listener, error) {
	host, text, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		return nil, err
	}
	var places []string
	if u, err := url.Parse(last); err == nil && u.Hostname() == host && u.Port() != "" {
		places = append(places, u.Host)
	}
	if port < 65535 {
		places = append(places, net.JoinHostPort(host, strconv.Itoa(port+1)))
	}
	var lc net.ListenConfig
	for _, place := range places {
		if l, err := lc.Listen(ctx, "tcp", place); err == nil {
			return l, nil
		}
	}
	l, err := lc.Listen(ctx, "tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return nil, fmt.Errorf("a port for the demo's identity provider: %w", err)
	}
	return l, nil
}

// loopbackAddresses are where a browser on this machine may come back to, by each name that it may know
// the program by.
func loopbackAddresses(addr string) (callbacks, signedOut []string, err error) {
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range []string{"127.0.0.1", "localhost", "::1"} {
		base := "http://" + net.JoinHostPort(name, port)
		callbacks, signedOut = append(callbacks, base+"/auth/callback"), append(signedOut, base+"/signed-out")
	}
	return callbacks, signedOut, nil
}
