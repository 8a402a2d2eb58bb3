package oidc

import (
	"errors"
	"math"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
)

const (
	mostSubject = 255          // OpenID Connect Core 2: characters of sub
	latestDate  = 253402300799 // 9999-12-31T23:59:59Z
)

// claims are a JSON object that was signed, or came from an endpoint of the provider.
type claims map[string]any

// readClaims reads a JSON object and refuses one with a member twice, of which two readers may each see
// another.
func readClaims(data []byte) (claims, error) {
	c := claims{}
	if err := json.Unmarshal(data, &c); err != nil {
		return nil, cut{err}
	}
	if c == nil {
		return nil, errors.New("null is no object")
	}
	return c, nil
}

// text is a claim that is a string where it is there.
func (c claims) text(name string) (value string, there bool, err error) {
	raw, there := c[name]
	if !there {
		return "", false, nil
	}
	value, ok := raw.(string)
	if !ok {
		return "", true, refuse(resultClaims, "has a claim %s that is no text", name)
	}
	return value, true, nil
}

// time is a NumericDate (RFC 7519, 2): seconds, perhaps with a fraction.
func (c claims) time(name string) (at time.Time, there bool, err error) {
	raw, there := c[name]
	if !there {
		return time.Time{}, false, nil
	}
	seconds, ok := raw.(float64)
	if !ok || seconds < 0 || seconds > latestDate {
		return time.Time{}, true, refuse(resultClaims, "has a claim %s that is no number of seconds since 1970", name)
	}
	whole, part := math.Modf(seconds)
	return time.Unix(int64(whole), int64(part*1e9)), true, nil
}

// texts is a claim that is a string or an array of strings.
func (c claims) texts(name string) (values []string, there bool, err error) {
	raw, there := c[name]
	if !there {
		return nil, false, nil
	}
	switch value := raw.(type) {
	case string:
		return []string{value}, true, nil
	case []any:
		for _, one := range value {
			text, ok := one.(string)
			if !ok {
				return nil, true, refuse(resultClaims, "has a claim %s that is no text and no array of texts", name)
			}
			values = append(values, text)
		}
		return values, true, nil
	}
	return nil, true, refuse(resultClaims, "has a claim %s that is no text and no array of texts", name)
}

// subject is who it is about; empty where it does not say.
func (c claims) subject() (string, error) {
	subject, there, err := c.text("sub")
	if err == nil && there && (subject == "" || len(subject) > mostSubject || clean(subject, mostSubject) != subject) {
		err = refuse(resultClaims, "has a sub that is no text of 1 to %d plain characters", mostSubject)
	}
	return subject, err
}

// meantFor tells whether an audience is among those of aud.
func (c claims) meantFor(audience string) error {
	all, there, err := c.texts("aud")
	switch {
	case err != nil:
		return err
	case !there:
		return refuse(resultAudience, "has no aud, which must be or contain %s", audience)
	case !slices.Contains(all, audience):
		return refuse(resultAudience, "is meant for another audience than %s", audience)
	}
	return nil
}
