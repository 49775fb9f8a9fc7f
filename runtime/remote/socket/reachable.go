package socket

import (
	"context"
	"net"
	"net/netip"
	"os"
	"slices"
	"time"
)

// nameTime is the time limit for looking up this machine's name.
const nameTime = time.Second

// Reachable returns the address as other machines write it. A socket of Unix and an address with a host stay as they are. An
// address of all networks becomes the machine's name, or an address of the machine if the name leads to none.
func (a Address) Reachable() Address {
	host, port, err := net.SplitHostPort(a.Place)
	if a.Network == unixNetwork || err != nil {
		return a
	}
	if ip := net.ParseIP(host); host != "" && (ip == nil || !ip.IsUnspecified()) {
		return a
	}
	var named []netip.Addr
	name, err := os.Hostname()
	if err == nil {
		ctx, cancel := context.WithTimeout(context.Background(), nameTime)
		defer cancel()
		named, _ = net.DefaultResolver.LookupNetIP(ctx, "ip", name) // a name that is not found has no addresses
	}
	var own []netip.Addr
	addresses, _ := net.InterfaceAddrs() // without them, the loopback address remains
	for _, a := range addresses {
		if prefix, err := netip.ParsePrefix(a.String()); err == nil {
			own = append(own, prefix.Addr())
		}
	}
	a.Place = net.JoinHostPort(chooseHost(name, named, own), port)
	return a
}

// chooseHost returns this machine's name if it leads to an address that other machines can use. Else it returns such an address, of
// version 4 if there is one, or the loopback address.
func chooseHost(name string, named, own []netip.Addr) string {
	usable := func(a netip.Addr) bool { return slices.Contains(own, a.Unmap()) && a.IsGlobalUnicast() }
	if slices.ContainsFunc(named, usable) {
		return name
	}
	for _, version4 := range []bool{true, false} {
		for _, a := range own {
			if usable(a) && a.Is4() == version4 {
				return a.String()
			}
		}
	}
	return "127.0.0.1"
}
