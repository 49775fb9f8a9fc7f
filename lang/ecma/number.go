package ecma

import (
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"
)

// scanNumber scans a numeric literal.
func (p *parser) scanNumber() {
	start := p.pos
	base, legacy := 10, false
	if p.src[p.pos] == '0' && p.pos+1 < len(p.src) {
		switch c := p.src[p.pos+1]; {
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
		p.pos += 2
		if p.scanDigits(base, true) == 0 {
			p.fail(start, "A number needs digits behind its prefix")
		}
	case legacy:
		p.scanLegacyNumber(start)
		return
	default:
		p.scanDigits(10, true)
	}
	big10 := p.pos < len(p.src) && p.src[p.pos] == 'n'
	if big10 {
		p.pos++
	} else if base == 10 {
		p.scanFraction(start)
	}
	p.endNumber()
	digits := strings.ReplaceAll(p.src[start:p.pos], "_", "")
	switch {
	case big10:
		n, _ := new(big.Int).SetString(strings.ToLower(strings.TrimSuffix(digits, "n")), 0)
		p.tok.number = n
	case base != 10:
		n, _ := new(big.Int).SetString(strings.ToLower(digits), 0)
		p.tok.number = integerValue(n)
	default:
		p.tok.number = decimalValue(digits)
	}
}

// scanLegacyNumber scans 017, which is octal, or 019, which is decimal.
func (p *parser) scanLegacyNumber(start int) {
	if p.strict {
		p.fail(start, "Octal literals and numbers that begin with 0 are not allowed in strict mode")
	}
	p.tok.octal = start + 1
	octal := true
	for p.pos < len(p.src) && isDigit(p.src[p.pos]) {
		octal = octal && p.src[p.pos] < '8'
		p.pos++
	}
	if octal {
		p.endNumber()
		n, _ := new(big.Int).SetString(p.src[start:p.pos], 8)
		p.tok.number = integerValue(n)
		return
	}
	p.scanFraction(start)
	p.endNumber()
	p.tok.number = decimalValue(p.src[start:p.pos])
}

// scanFraction scans the fraction and the exponent of a decimal number.
func (p *parser) scanFraction(start int) {
	if p.pos < len(p.src) && p.src[p.pos] == '.' {
		p.pos++
		if p.pos < len(p.src) && p.src[p.pos] == '_' {
			p.fail(p.pos, "A separator must stand between digits")
		}
		p.scanDigits(10, true)
	}
	if p.pos < len(p.src) && p.src[p.pos]|0x20 == 'e' {
		p.pos++
		if p.pos < len(p.src) && (p.src[p.pos] == '+' || p.src[p.pos] == '-') {
			p.pos++
		}
		if p.scanDigits(10, true) == 0 {
			p.fail(start, "The exponent of a number needs digits")
		}
	}
}

// scanDigits scans digits and the separators between them, and returns the number of digits.
func (p *parser) scanDigits(base int, separators bool) int {
	n := 0
	for p.pos < len(p.src) {
		c := p.src[p.pos]
		if c == '_' && separators {
			if n == 0 || p.src[p.pos-1] == '_' || p.pos+1 >= len(p.src) || digitValue(p.src[p.pos+1]) >= base {
				p.fail(p.pos, "A separator must stand between digits")
			}
			p.pos++
			continue
		}
		if digitValue(c) >= base {
			break
		}
		p.pos++
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
func (p *parser) endNumber() {
	if p.pos >= len(p.src) {
		return
	}
	if r, _ := utf8.DecodeRuneInString(p.src[p.pos:]); isIDStart(r) || r == '\\' || r < utf8.RuneSelf && isDigit(byte(r)) {
		p.fail(p.pos, "A name or digit follows a number directly")
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
