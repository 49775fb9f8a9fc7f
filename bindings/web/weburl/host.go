package weburl

import (
	"strconv"
	"strings"
)

// The forbidden host code points of the standard, and the forbidden domain code points.
const (
	forbiddenInHosts   = "\x00\t\n\r #/:<>?@[\\]^|"
	forbiddenInDomains = forbiddenInHosts + "%\x7f"
)

func (r Reader) parseHost(text string, opaque bool) (string, error) {
	if strings.HasPrefix(text, "[") {
		inner, closed := strings.CutSuffix(text[1:], "]")
		if !closed {
			return "", fail("the [ before an IPv6 address is not closed")
		}
		pieces, ok := parseIPv6(inner)
		if !ok {
			return "", fail("%s is no IPv6 address", text)
		}
		return "[" + writeIPv6(pieces) + "]", nil
	}
	if opaque {
		if i := strings.IndexAny(text, forbiddenInHosts); i >= 0 {
			return "", fail("a host may not hold %q", text[i])
		}
		return encode(text, controlSet), nil
	}
	domain, err := r.domain(strings.ToValidUTF8(decode(text), "\ufffd"))
	if err != nil {
		return "", err
	}
	if !endsInNumber(domain) {
		return domain, nil
	}
	address, ok := parseIPv4(domain)
	if !ok {
		return "", fail("%s is no IPv4 address", domain)
	}
	return writeIPv4(address), nil
}

// domain converts a domain name to ASCII.
func (r Reader) domain(text string) (string, error) {
	name := text
	if !isASCII(text) {
		name = r.Normalize(strings.Map(mapped, text))
	}
	labels := strings.Split(strings.ToLower(name), ".")
	for i, label := range labels {
		var ok bool
		if labels[i], ok = label, true; !isASCII(label) {
			labels[i], ok = toPunycode(r.Normalize(label))
		} else if code, yes := strings.CutPrefix(label, "xn--"); yes {
			ok = isPunycode(code)
		}
		if !ok {
			return "", fail("%q is no label of a domain name", label)
		}
	}
	name = strings.Join(labels, ".")
	for _, c := range []byte(name) {
		if c < ' ' || strings.IndexByte(forbiddenInDomains, c) >= 0 {
			return "", fail("a domain name may not hold %q", c)
		}
	}
	if name == "" {
		return "", fail("there is no host")
	}
	return name, nil
}

// mapped returns a character of a domain name: U+002E for all forms of the dot, and −1 for ignored ones. These are soft
// hyphens, zero-width spaces, word joiners and variation selectors.
func mapped(c rune) rune {
	switch {
	case c == 0xad || c == 0x200b || c == 0x2060 || c == 0xfeff || c >= 0xfe00 && c <= 0xfe0f:
		return -1
	case c == '。' || c == '．' || c == '｡':
		return '.'
	}
	return c
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] > '~'+1 {
			return false
		}
	}
	return true
}

// endsInNumber reports whether the last label is a number, so that the host must be an IPv4 address.
func endsInNumber(domain string) bool {
	parts := strings.Split(domain, ".")
	if len(parts) > 1 && parts[len(parts)-1] == "" {
		parts = parts[:len(parts)-1]
	}
	last := parts[len(parts)-1]
	if last != "" && strings.Trim(last, "0123456789") == "" {
		return true
	}
	_, ok := number(last)
	return ok
}

// number parses a part of an IPv4 address: decimal, hexadecimal after 0x, or octal after 0. It returns false for other
// texts. A number that is too large for 64 bits becomes one that is too large for an address.
func number(text string) (uint64, bool) {
	base := 10
	if text == "" {
		return 0, false
	}
	if len(text) >= 2 && (text[:2] == "0x" || text[:2] == "0X") {
		text, base = text[2:], 16
	} else if len(text) >= 2 && text[0] == '0' {
		text, base = text[1:], 8
	}
	if text == "" {
		return 0, true
	}
	for i := range len(text) {
		if d := hexDigit(text[i]); d < 0 || d >= base {
			return 0, false
		}
	}
	n, err := strconv.ParseUint(text, base, 64)
	if err != nil { // out of range for any address
		n = 1 << 40
	}
	return n, true
}

func parseIPv4(text string) (address uint64, ok bool) {
	parts := strings.Split(text, ".")
	if len(parts) > 1 && parts[len(parts)-1] == "" {
		parts = parts[:len(parts)-1]
	}
	if len(parts) > 4 {
		return 0, false
	}
	for i, part := range parts {
		n, ok := number(part)
		most := uint64(255)
		if i == len(parts)-1 { // the last part fills the remaining bytes
			most = 1<<(8*(5-len(parts))) - 1
			address = address<<(8*(5-len(parts))) | n
		} else {
			address = address<<8 | n
		}
		if !ok || n > most {
			return 0, false
		}
	}
	return address, true
}

func writeIPv4(a uint64) string {
	var parts [4]string
	for i := range parts {
		parts[i] = strconv.Itoa(int(a >> (24 - 8*i) & 255))
	}
	return strings.Join(parts[:], ".")
}

// parseIPv6 parses eight groups of up to four hexadecimal digits. A single :: replaces a run of zero groups. The last two
// groups may be an IPv4 address. It returns false for other texts.
func parseIPv6(text string) (pieces [8]uint16, ok bool) {
	head, tail, compressed := strings.Cut(text, "::")
	if compressed && strings.Contains(tail, "::") {
		return pieces, false
	}
	front, ok := groups(head, !compressed)
	if !ok {
		return pieces, false
	}
	if !compressed {
		copy(pieces[:], front)
		return pieces, len(front) == 8
	}
	back, ok := groups(tail, true)
	if !ok || len(front)+len(back) > 7 {
		return pieces, false
	}
	copy(pieces[:], front)
	copy(pieces[8-len(back):], back)
	return pieces, true
}

func groups(text string, mayEndInIPv4 bool) (list []uint16, ok bool) {
	if text == "" {
		return nil, true
	}
	parts := strings.Split(text, ":")
	for i, part := range parts {
		if i == len(parts)-1 && mayEndInIPv4 && strings.Contains(part, ".") {
			four, ok := decimalIPv4(part)
			return append(list, uint16(four>>16), uint16(four)), ok
		}
		n, err := strconv.ParseUint(part, 16, 16)
		if err != nil || len(part) > 4 || part[0] == '+' {
			return nil, false
		}
		list = append(list, uint16(n))
	}
	return list, true
}

// decimalIPv4 parses the strict dotted-decimal form at the end of an IPv6 address. It returns false for other texts.
func decimalIPv4(text string) (address uint32, ok bool) {
	parts := strings.Split(text, ".")
	if len(parts) != 4 {
		return 0, false
	}
	for _, part := range parts {
		n, err := strconv.ParseUint(part, 10, 8)
		if err != nil || part[0] == '+' || len(part) > 1 && part[0] == '0' {
			return 0, false
		}
		address = address<<8 | uint32(n)
	}
	return address, true
}

// writeIPv6 formats an address and compresses its first longest run of two or more zero groups.
func writeIPv6(pieces [8]uint16) string {
	from, longest := -1, 1
	for i := 0; i < 8; i++ {
		n := 0
		for i+n < 8 && pieces[i+n] == 0 {
			n++
		}
		if n > longest {
			from, longest = i, n
		}
		i += n
	}
	var b strings.Builder
	for i := 0; i < 8; i++ {
		if i == from {
			b.WriteString("::")
			i += longest - 1
			continue
		}
		if i > 0 && !strings.HasSuffix(b.String(), ":") {
			b.WriteByte(':')
		}
		b.WriteString(strconv.FormatUint(uint64(pieces[i]), 16))
	}
	return b.String()
}
