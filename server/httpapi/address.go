package httpapi

import (
	"net"
	"net/netip"
	"strings"
)

// clientAddress is where a request comes from: the peer, or, where the peer is a proxy that we trust, the
// rightmost address of X-Forwarded-For that is no such proxy. What stands further left anyone may have
// written, and a list that cannot be read is not believed.
func clientAddress(peer net.IP, forwarded string, trusted []netip.Prefix) netip.Addr {
	at, _ := netip.AddrFromSlice(peer)
	at = at.Unmap()
	if forwarded == "" || !within(at, trusted) {
		return at
	}
	entries, found := strings.Split(forwarded, ","), at
	for i := len(entries) - 1; i >= 0; i-- {
		a, ok := addressOf(entries[i])
		if !ok {
			return at
		}
		if found = a; !within(a, trusted) {
			break
		}
	}
	return found
}

// addressOf reads one entry: an address, in brackets or not, with a port or not.
func addressOf(entry string) (netip.Addr, bool) {
	entry = strings.Trim(entry, " \t")
	if with, err := netip.ParseAddrPort(entry); err == nil {
		return with.Addr().WithZone("").Unmap(), true
	}
	if inner, ok := strings.CutPrefix(entry, "["); ok {
		if entry, ok = strings.CutSuffix(inner, "]"); !ok {
			return netip.Addr{}, false
		}
	}
	a, err := netip.ParseAddr(entry)
	return a.WithZone("").Unmap(), err == nil
}

func within(a netip.Addr, networks []netip.Prefix) bool {
	for _, n := range networks {
		// A network that is written as IPv4 in IPv6 holds no address that was unmapped.
		if n.Contains(a) || n.Addr().Is4In6() && n.Bits() >= 96 && netip.PrefixFrom(n.Addr().Unmap(), n.Bits()-96).Contains(a) {
			return true
		}
	}
	return false
}

// household is what a limit takes for one client: an IPv4 address, or the /64 that one IPv6 client has.
func household(a netip.Addr) netip.Addr {
	if p, err := a.Prefix(64); err == nil && a.Is6() {
		return p.Addr()
	}
	return a
}
