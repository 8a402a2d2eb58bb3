package oidc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	gooidc "github.com/coreos/go-oidc/v3/oidc"
)

const (
	metadataAge   = time.Hour        // after it the provider is asked again, in the background
	metadataApart = 30 * time.Second // between two discoveries that a failure asked for
)

var (
	errNoAuthorizationEndpoint = errors.New("the provider's metadata has no authorization_endpoint")
	errNoTokenEndpoint         = errors.New("the provider's metadata has no token_endpoint")
	errClosed                  = errors.New("asked after the end, or too soon after a failure")
)

// metadata is what discovery told; it never changes.
type metadata struct {
	at                                               time.Time
	authorization, token, userinfo, keys, endSession string
	authMethods                                      []string // of the token endpoint
	namesItself                                      bool     // it sends iss with each callback (RFC 9207)
}

// discovery remembers the provider's metadata.
type discovery struct {
	issuer  string
	client  *http.Client
	now     func() time.Time
	log     *slog.Logger
	metrics *metrics
	asker   *asker
	known   atomic.Pointer[metadata]
	doubted atomic.Bool // an endpoint failed: it may have moved
}

func newDiscovery(issuer string, client *http.Client, now func() time.Time, log *slog.Logger, m *metrics) *discovery {
	d := &discovery{issuer: issuer, client: client, now: now, log: log, metrics: m}
	d.asker = newAsker(now, d.discover)
	return d
}

// metadata is the latest known; only the very first is waited for.
func (d *discovery) metadata(ctx context.Context) (*metadata, error) {
	if m := d.known.Load(); m != nil {
		if d.doubted.Load() || d.now().Sub(m.at) > metadataAge {
			d.asker.ask(metadataApart)
		}
		return m, nil
	}
	if done := d.asker.ask(0); done != nil {
		if err := wait(ctx, done); err != nil {
			return nil, fmt.Errorf("wait for discovery: %w", err)
		}
	}
	if m := d.known.Load(); m != nil {
		return m, nil
	}
	if err := d.asker.failure(); err != nil {
		return nil, err
	}
	return nil, errClosed
}

// doubt says that an endpoint did not answer as it should.
func (d *discovery) doubt() { d.doubted.Store(true) }

func (d *discovery) discover(ctx context.Context) error {
	m, err := d.fetch(ctx)
	if err != nil {
		d.metrics.discoveries.WithLabelValues(failed).Inc()
		d.log.Warn("identity provider not discovered", "issuer", d.issuer, "error", err)
		return err
	}
	d.metrics.discoveries.WithLabelValues(done).Inc()
	if d.known.Swap(m) == nil {
		d.log.Info("identity provider discovered", "issuer", d.issuer)
	}
	d.doubted.Store(false)
	return nil
}

func (d *discovery) fetch(ctx context.Context) (*metadata, error) {
	found, err := gooidc.NewProvider(gooidc.ClientContext(ctx, d.client), d.issuer)
	if err != nil {
		return nil, fmt.Errorf("discover %s: %w", d.issuer, cut{err})
	}
	var more struct {
		Keys        string   `json:"jwks_uri"`
		EndSession  string   `json:"end_session_endpoint"`
		AuthMethods []string `json:"token_endpoint_auth_methods_supported"`
		NamesItself bool     `json:"authorization_response_iss_parameter_supported"`
	}
	if err := found.Claims(&more); err != nil {
		return nil, fmt.Errorf("read metadata of %s: %w", d.issuer, err)
	}
	m := &metadata{
		at:            d.now(),
		authorization: found.Endpoint().AuthURL, token: found.Endpoint().TokenURL, userinfo: found.UserInfoEndpoint(),
		keys: more.Keys, endSession: more.EndSession,
		authMethods: more.AuthMethods, namesItself: more.NamesItself,
	}
	if m.keys == "" {
		return nil, errors.New("the provider's metadata has no jwks_uri")
	}
	secure := false
	if own, err := url.Parse(d.issuer); err == nil {
		secure = own.Scheme == "https"
	}
	for name, endpoint := range map[string]string{
		"authorization_endpoint": m.authorization, "token_endpoint": m.token, "userinfo_endpoint": m.userinfo,
		"jwks_uri": m.keys, "end_session_endpoint": m.endSession,
	} {
		if endpoint == "" {
			continue
		}
		u, err := url.Parse(endpoint)
		if err != nil || u.Host == "" || u.Scheme != "https" && (secure || u.Scheme != "http") {
			return nil, fmt.Errorf("the %s of the provider's metadata, %.200q, is no address for an issuer %s", name, endpoint, d.issuer)
		}
	}
	return m, nil
}

// get asks one of the endpoints that give JSON.
func get(ctx context.Context, client *http.Client, address, bearer, accept string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", accept)
	if bearer != "" {
		req.Header.Set("Authorization", "Bearer "+bearer)
	}
	answer, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		_ = answer.Body.Close()
		return nil, fmt.Errorf("%s answered %s", address, answer.Status)
	}
	return answer, nil
}
