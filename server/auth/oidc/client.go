package oidc

import (
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

const (
	callTime     = 10 * time.Second // one question to the provider, its answer's body included
	answerBytes  = 512 << 10        // of one answer, unpacked
	mostRedirect = 3
)

var errAnswerTooLarge = fmt.Errorf("the answer is above %d bytes", answerBytes)

// NewClient is a client with our bounds that trusts the given authorities; nil: the system's.
func NewClient(roots *x509.CertPool) *http.Client {
	return &http.Client{Transport: &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
		TLSClientConfig:        &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    5 * time.Second,
		ResponseHeaderTimeout:  callTime,
		MaxResponseHeaderBytes: 64 << 10,
		MaxConnsPerHost:        32,
		MaxIdleConnsPerHost:    4,
		IdleConnTimeout:        30 * time.Second,
		ForceAttemptHTTP2:      true,
	}}
}

// bounded gives a client our bounds; a shorter timeout of its own stays.
func bounded(given *http.Client) *http.Client {
	if given == nil {
		given = NewClient(nil)
	}
	c := *given
	if c.Timeout <= 0 || c.Timeout > callTime {
		c.Timeout = callTime
	}
	c.Jar = nil
	c.CheckRedirect = follow
	c.Transport = capped{c.Transport}
	return &c
}

// follow lets a plain question be led elsewhere within its scheme. Secrets, codes and tokens go only where
// the metadata said.
func follow(next *http.Request, before []*http.Request) error {
	first := before[0]
	switch {
	case first.Method != http.MethodGet || first.Header.Get("Authorization") != "":
		return errors.New("a question with credentials is not redirected")
	case next.URL.Scheme != first.URL.Scheme:
		return fmt.Errorf("not redirected from %s to %s", first.URL.Scheme, next.URL.Scheme)
	case len(before) > mostRedirect:
		return fmt.Errorf("more than %d redirects", mostRedirect)
	}
	return nil
}

// capped bounds each answer's size.
type capped struct{ next http.RoundTripper }

func (c capped) RoundTrip(r *http.Request) (*http.Response, error) {
	next := c.next
	if next == nil {
		next = http.DefaultTransport
	}
	answer, err := next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	answer.Body = &cappedBody{ReadCloser: answer.Body, left: answerBytes}
	return answer, nil
}

func (c capped) CloseIdleConnections() {
	if closer, ok := c.next.(interface{ CloseIdleConnections() }); ok {
		closer.CloseIdleConnections()
	}
}

// cappedBody fails where io.LimitReader would cut: half an answer must not pass for a whole one.
type cappedBody struct {
	io.ReadCloser
	left int
}

func (b *cappedBody) Read(into []byte) (int, error) {
	if len(into) > b.left+1 {
		into = into[:b.left+1]
	}
	n, err := b.ReadCloser.Read(into)
	if n > b.left {
		return b.left, errAnswerTooLarge
	}
	b.left -= n
	return n, err
}

// cut keeps an answer's text, which some libraries put into their errors whole, from filling the log.
type cut struct{ error }

const cutAt = 300

func (c cut) Error() string {
	if text := c.error.Error(); len(text) > cutAt {
		return fmt.Sprintf("%q…", text[:cutAt])
	}
	return c.error.Error()
}

func (c cut) Unwrap() error { return c.error }

// random is 32 random bytes in base64url.
func random() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}
