package socket

import (
	"net"
	"net/netip"
	"strings"
	"testing"
)

// TestChooseHost chooses how other machines name one, by its name, what that leads to, and its addresses.
func TestChooseHost(t *testing.T) {
	for _, c := range []struct{ named, own, want string }{
		{"192.0.2.2", "127.0.0.1 ::1 192.0.2.2", "head"},
		{"127.0.1.1", "127.0.0.1 ::1 fd00::2 192.0.2.2", "192.0.2.2"}, // as Debian writes /etc/hosts
		{"127.0.1.1 192.0.2.2", "127.0.0.1 192.0.2.2", "head"},
		{"192.0.2.9", "127.0.0.1 192.0.2.2", "192.0.2.2"}, // the name of another machine
		{"", "127.0.0.1 fe80::1 fd00::2", "fd00::2"},
		{"", "127.0.0.1 169.254.1.1", "127.0.0.1"},
		{"", "", "127.0.0.1"},
	} {
		parse := func(text string) (list []netip.Addr) {
			for _, word := range strings.Fields(text) {
				list = append(list, netip.MustParseAddr(word))
			}
			return list
		}
		if got := chooseHost("head", parse(c.named), parse(c.own)); got != c.want {
			t.Errorf("%q leads to %q on a machine with %q: %s", "head", c.named, c.own, got)
		}
	}
}

// TestReachable checks that the address shown for all networks of this machine leads to the listener, and that others stay as they are.
func TestReachable(t *testing.T) {
	for _, text := range []string{"tcp:127.0.0.1:4711", "tls:[::1]:4711", "tcp:head:4711", "unix:/tmp/a:b"} {
		if a, err := ParseAddress(text); err != nil || a.Reachable() != a {
			t.Errorf("%s becomes %s, %v", text, a.Reachable(), err)
		}
	}
	for _, text := range []string{"tcp:0.0.0.0:0", "tcp:[::]:0", "tls::0"} {
		a, err := ParseAddress(text)
		if err != nil {
			t.Fatal(err)
		}
		l, err := Listen(a)
		if err != nil {
			t.Fatal(err)
		}
		shown := l.Address().Reachable()
		if strings.Contains(shown.Place, "[::]") || strings.Contains(shown.Place, "0.0.0.0") {
			t.Errorf("%s is shown as %s", text, shown)
		}
		conn, err := net.Dial("tcp", shown.Place)
		if err != nil {
			t.Errorf("%s is shown as %s: %v", text, shown, err)
		} else {
			_ = conn.Close()
		}
		_ = l.Close()
	}
}

// TestShown checks that a listener shows the token that it made, and no other.
func TestShown(t *testing.T) {
	mine := strings.Repeat("secret", 4)
	for _, token := range []string{"", mine} {
		l, err := Listen(Address{Network: tcpNetwork, Place: "127.0.0.1:0", Token: token})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		want := l.Address().Secret()
		if token != "" {
			want = l.Address().String()
		}
		if l.Shown() != want || strings.Contains(l.Shown(), mine) {
			t.Errorf("with the token %q it shows %s, want %s", token, l.Shown(), want)
		}
	}
}
