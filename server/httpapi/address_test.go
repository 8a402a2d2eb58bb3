package httpapi

import (
	"net"
	"net/netip"
	"strings"
	"testing"

	"oriel/server/fault"
)

func TestTheClientsAddress(t *testing.T) {
	t.Parallel()
	proxies := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("192.0.2.7/32"), netip.MustParsePrefix("fd00::/8"), netip.MustParsePrefix("::ffff:172.16.0.0/108")}
	for name, c := range map[string]struct{ peer, forwarded, want string }{
		"nothing is forwarded":                     {"10.0.0.1", "", "10.0.0.1"},
		"a stranger says who they are":             {"203.0.113.9", "198.51.100.1", "203.0.113.9"},
		"our proxy says who it is":                 {"10.0.0.1", "198.51.100.1", "198.51.100.1"},
		"the client wrote something in front":      {"10.0.0.1", "1.1.1.1, 198.51.100.1", "198.51.100.1"},
		"two of our proxies":                       {"10.0.0.1", "1.1.1.1, 198.51.100.1, 192.0.2.7", "198.51.100.1"},
		"all are proxies of ours":                  {"10.0.0.1", "10.9.9.9, 192.0.2.7", "10.9.9.9"},
		"with a port":                              {"10.0.0.1", "198.51.100.1:4711", "198.51.100.1"},
		"IPv6":                                     {"10.0.0.1", "2001:db8::1", "2001:db8::1"},
		"IPv6 in brackets":                         {"10.0.0.1", "[2001:db8::1]", "2001:db8::1"},
		"IPv6 in brackets with a port":             {"10.0.0.1", "[2001:db8::1]:443", "2001:db8::1"},
		"IPv6 with a zone":                         {"10.0.0.1", "fe80::1%eth0", "fe80::1"},
		"IPv4 in IPv6":                             {"10.0.0.1", "::ffff:198.51.100.1", "198.51.100.1"},
		"a peer that is IPv4 in IPv6":              {"::ffff:10.0.0.1", "198.51.100.1", "198.51.100.1"},
		"a network that is IPv4 in IPv6":           {"172.16.3.4", "198.51.100.1", "198.51.100.1"},
		"a proxy with IPv6":                        {"fd00::1", "198.51.100.1", "198.51.100.1"},
		"no address":                               {"10.0.0.1", "unknown", "10.0.0.1"},
		"an empty entry":                           {"10.0.0.1", "198.51.100.1,", "10.0.0.1"},
		"a bracket too few":                        {"10.0.0.1", "[2001:db8::1", "10.0.0.1"},
		"a bracket too many":                       {"10.0.0.1", "2001:db8::1]", "10.0.0.1"},
		"a bad port":                               {"10.0.0.1", "198.51.100.1:x", "10.0.0.1"},
		"a name":                                   {"10.0.0.1", "client.example.com", "10.0.0.1"},
		"nonsense behind a proxy of ours":          {"10.0.0.1", "x, 192.0.2.7", "10.0.0.1"},
		"nonsense that a client wrote is not read": {"10.0.0.1", "x, 198.51.100.1", "198.51.100.1"},
		"white space":                              {"10.0.0.1", " \t198.51.100.1 ", "198.51.100.1"},
	} {
		if got := clientAddress(net.ParseIP(c.peer), c.forwarded, proxies); got.String() != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	if got := clientAddress(net.ParseIP("10.0.0.1"), "198.51.100.1", nil); got.String() != "10.0.0.1" {
		t.Errorf("without trusted proxies %s", got)
	}
}

func TestAHouseholdIsOneAddressOrOneNetwork(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{"198.51.100.1": "198.51.100.1", "2001:db8:1:2:3:4:5:6": "2001:db8:1:2::", "2001:db8:1:2::9": "2001:db8:1:2::"} {
		if got := household(netip.MustParseAddr(address)); got.String() != want {
			t.Errorf("%s counts as %s, want %s", address, got, want)
		}
	}
}

func TestTheClientsAddressIsOnTheRecordAndInTheLog(t *testing.T) {
	t.Parallel()
	p := startPeople(t, func(d *Deps) { d.Config.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} })
	for i, header := range [][]string{{"X-Forwarded-For", "1.1.1.1, 2001:db8::7"}, nil} {
		p.desk.people[opaque("more")] = person("ada", "")
		req := p.request("POST", "/v1/session:signOut", "", append(header, "Host", "events.example.com", "Origin", "https://events.example.com",
			"Cookie", "__Host-oriel="+opaque("more"), "Content-Type", "application/json")...)
		p.do(withBody(req, "{}"))
		want := []string{"2001:db8::7", "127.0.0.1"}[i]
		if got := p.book.all()[i].Address; got != want {
			t.Errorf("on the record is %s, want %s", got, want)
		}
	}
	p.do(p.request("GET", "/v1/session", "orl_away", "X-Forwarded-For", "2001:db8::8")).failure(t, 503, fault.ReasonDatabaseUnavailable)
	if !strings.Contains(p.log.String(), `"address":"2001:db8::8"`) {
		t.Errorf("the log has %s", p.log)
	}
}
