package config

import (
	"strings"
	"testing"
)

func TestTheDemoStaysOnThisMachine(t *testing.T) {
	t.Parallel()
	outside := []string{"ORIEL_OIDC_ISSUER=http://127.0.0.1:9000", "ORIEL_OIDC_CLIENT_ID=oriel"}
	for name, c := range map[string]struct {
		environ []string
		refused string
	}{
		"by itself":                            {nil, ""},
		"its own provider knows no proxy":      {[]string{"ORIEL_PUBLIC_URL=https://oriel.example.com"}, ""},
		"behind a proxy here":                  {append(outside, "ORIEL_PUBLIC_URL=https://127.0.0.1:8443/oriel"), ""},
		"behind a proxy that others can reach": {append(outside, "ORIEL_PUBLIC_URL=https://oriel.example.com"), "ORIEL_PUBLIC_URL: the demo is for this machine alone"},
	} {
		cfg, err := Read(c.environ, nil)
		if err != nil {
			t.Fatal(err)
		}
		err = cfg.ValidateDemo()
		switch {
		case c.refused == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.refused != "" && (err == nil || !strings.Contains(err.Error(), c.refused)):
			t.Errorf("%s gave %v", name, err)
		}
	}
}
