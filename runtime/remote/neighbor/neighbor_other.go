//go:build !linux

package neighbor

import "net/netip"

func stopped(int) bool { return false }

func owner(local, remote netip.AddrPort) int { return 0 }

func threads(int) map[string]thread { return nil }
