package ecma

import (
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"
)

// scanNumber scans a numeric literal.
func (s *scanner) scanNumber() {
	start := s.pos
	base, legacy := 10, false
	if s.src[s.pos] == '0' && s.pos+1 < len(s.src) {
		switch c := s.src[s.pos+1]; {
		case c|0x20 == 'x':
			base = 16
		case c|0x20 == 'o':
			base = 8
		case c|0x20 == 'b':
			base = 2
		case isDigit(c) || c == '_':
			legacy = true
		}
	}
	switch {
	case base != 10:
		s.pos += 2
		if s.scanDigits(base, true) == 0 {
			s.fail(start, "A number needs digits behind its prefix")
		}
	case legacy:
		s.scanLegacyNumber(start)
		return
	default:
		s.scanDigits(10, true)
	}
	big10 := s.pos < len(s.src) && s.src[s.pos] == 'n'
	if big10 {
		s.pos++
	} else if base == 10 {
		s.scanFraction(start)
	}
	s.endNumber()
	digits := strings.ReplaceAll(s.src[start:s.pos], "_", "")
	switch {
	case big10:
		n, _ := new(big.Int).SetString(strings.ToLower(strings.TrimSuffix(digits, "n")), 0)
		s.tok.number = n
	case base != 10:
		n, _ := new(big.Int).SetString(strings.ToLower(digits), 0)
		s.tok.number = integerValue(n)
	default:
		s.tok.number = decimalValue(digits)
	}
}

// scanLegacyNumber scans 017, which is octal, or 019, which is decimal.
func (s *scanner) scanLegacyNumber(start int) {
	if s.strict {
		s.fail(start, "Octal literals and numbers that begin with 0 are not allowed in strict mode")
	}
	s.tok.octal = start + 1
	octal := true
	for s.pos < len(s.src) && isDigit(s.src[s.pos]) {
		octal = octal && s.src[s.pos] < '8'
		s.pos++
	}
	if octal {
		s.endNumber()
		n, _ := new(big.Int).SetString(s.src[start:s.pos], 8)
		s.tok.number = integerValue(n)
		return
	}
	s.scanFraction(start)
	s.endNumber()
	s.tok.number = decimalValue(s.src[start:s.pos])
}

// scanFraction scans the fraction and the exponent of a decimal number.
func (s *scanner) scanFraction(start int) {
	if s.pos < len(s.src) && s.src[s.pos] == '.' {
		s.pos++
		if s.pos < len(s.src) && s.src[s.pos] == '_' {
			s.fail(s.pos, "A separator must stand between digits")
		}
		s.scanDigits(10, true)
	}
	if s.pos < len(s.src) && s.src[s.pos]|0x20 == 'e' {
		s.pos++
		if s.pos < len(s.src) && (s.src[s.pos] == '+' || s.src[s.pos] == '-') {
			s.pos++
		}
		if s.scanDigits(10, true) == 0 {
			s.fail(start, "The exponent of a number needs digits")
		}
	}
}

// scanDigits scans digits and the separators between them, and returns the number of digits.
func (s *scanner) scanDigits(base int, separators bool) int {
	n := 0
	for s.pos < len(s.src) {
		c := s.src[s.pos]
		if c == '_' && separators {
			if n == 0 || s.src[s.pos-1] == '_' || s.pos+1 >= len(s.src) || digitValue(s.src[s.pos+1]) >= base {
				s.fail(s.pos, "A separator must stand between digits")
			}
			s.pos++
			continue
		}
		if digitValue(c) >= base {
			break
		}
		s.pos++
		n++
	}
	return n
}

func digitValue(c byte) int {
	if d := hexValue(c); d >= 0 {
		return d
	}
	return 99
}

// endNumber fails if a name or digit follows a number directly.
func (s *scanner) endNumber() {
	if s.pos >= len(s.src) {
		return
	}
	if r, _ := utf8.DecodeRuneInString(s.src[s.pos:]); isIDStart(r) || r == '\\' || r < utf8.RuneSelf && isDigit(byte(r)) {
		s.fail(s.pos, "A name or digit follows a number directly")
	}
}

func decimalValue(text string) any {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && -1<<53 < n && n < 1<<53 {
		return n
	}
	x, _ := strconv.ParseFloat(text, 64) // beyond the range: an infinity
	return x
}

func integerValue(n *big.Int) any {
	if n.IsInt64() && n.Int64() < 1<<53 {
		return n.Int64()
	}
	x, _ := new(big.Float).SetInt(n).Float64()
	return x
}
