package regex

import (
	"strconv"
	"strings"
	"unicode/utf16"
)

// The patterns of Literal begin with literalStart and end with literalEnd.
const literalStart, literalEnd = "(?<orepl_literal_", ">)"

// Literal returns a pattern that the interpreter compiles in place of a literal, whose syntax it may lack. The result encodes the
// literal's pattern and flags; see [FromLiteral].
func Literal(pattern, flags string) string {
	var b strings.Builder
	b.WriteString(literalStart)
	b.WriteString(flags)
	b.WriteByte('_')
	for _, c := range utf16.Encode([]rune(pattern)) {
		if '0' <= c && c <= '9' || c < 128 && isASCIILetter(rune(c)) {
			b.WriteByte(byte(c))
			continue
		}
		b.WriteByte('_')
		hex := strconv.FormatUint(0x10000+uint64(c), 16)
		b.WriteString(hex[1:])
	}
	b.WriteString(literalEnd)
	return b.String()
}

// FromLiteral returns the pattern and the flags of a text made by [Literal]. It returns false for other texts.
func FromLiteral(text string) (pattern, flags string, ok bool) {
	text, ok = strings.CutPrefix(text, literalStart)
	if !ok {
		return "", "", false
	}
	flags, text, _ = strings.Cut(strings.TrimSuffix(text, literalEnd), "_")
	var units []uint16
	for i := 0; i < len(text); i++ {
		if text[i] != '_' {
			units = append(units, uint16(text[i]))
			continue
		}
		c, err := strconv.ParseUint(text[i+1:min(i+5, len(text))], 16, 16)
		if err != nil {
			return "", "", false
		}
		units = append(units, uint16(c))
		i += 4
	}
	return string(utf16.Decode(units)), flags, true
}

// CheckLiteral checks a literal. message says what is wrong; it is "" for a valid literal. offset is the byte offset of the error
// in the pattern; it is the pattern's end if the flags are invalid.
func CheckLiteral(pattern, flags string) (offset int, message string) {
	f, ok := ParseFlags(flags)
	if !ok {
		return len(pattern), "Invalid flags of a regular expression: " + flags
	}
	err := Check(utf16.Encode([]rune(pattern)), f)
	if err == nil {
		return 0, ""
	}
	e := err.(*Error)
	n := 0
	for i, c := range pattern {
		if n >= e.Offset {
			return i, Invalid(pattern, e)
		}
		n += utf16.RuneLen(c)
	}
	return len(pattern), Invalid(pattern, e)
}

// Invalid returns the message about an invalid pattern. It shows the pattern if that has at most 60 bytes.
func Invalid(pattern string, err error) string {
	const most = 60
	if len(pattern) > most {
		return "Invalid regular expression: " + err.Error()
	}
	return "Invalid regular expression /" + pattern + "/: " + err.Error()
}
