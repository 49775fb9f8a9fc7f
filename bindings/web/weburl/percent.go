package weburl

import "strings"

// A set is a percent-encode set of the standard, restricted to ASCII.
type set string

// The percent-encode sets of the standard, most of which include the previous one.
const (
	controlSet      set = "\x7f"
	fragmentSet         = controlSet + " \"<>`"
	querySet            = controlSet + " \"#<>"
	specialQuerySet     = querySet + "'"
	pathSet             = querySet + "?^`{}"
	userinfoSet         = pathSet + "/:;=@[\\]|"
	componentSet        = userinfoSet + "$%&+,"
	formSet             = componentSet + "!'()~"
)

const digits = "0123456789ABCDEF"

// encode percent-encodes controls, the characters of a set, and each UTF-8 byte of characters beyond ASCII.
func encode(text string, s set) string {
	var b strings.Builder
	for i := range len(text) {
		c := text[i]
		if c < ' ' || c > '~' || strings.IndexByte(string(s), c) >= 0 {
			b.WriteByte('%')
			b.WriteByte(digits[c>>4])
			b.WriteByte(digits[c&15])
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// decode decodes percent-encoded bytes. It copies a % without two hexadecimal digits unchanged.
func decode(text string) string {
	if strings.IndexByte(text, '%') < 0 {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) {
			high, low := hexDigit(text[i+1]), hexDigit(text[i+2])
			if high >= 0 && low >= 0 {
				b.WriteByte(byte(high<<4 | low))
				i += 2
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// EncodeForm encodes a name or value of a query string.
func EncodeForm(text string) string {
	return strings.ReplaceAll(encode(text, formSet), "%20", "+")
}

// DecodeForm decodes a name or value of a query string. Invalid UTF-8 becomes U+FFFD.
func DecodeForm(text string) string {
	return strings.ToValidUTF8(decode(strings.ReplaceAll(text, "+", " ")), "\ufffd")
}
