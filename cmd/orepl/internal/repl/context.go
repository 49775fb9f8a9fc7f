package repl

import (
	"slices"
	"strings"
)

// place describes the syntactic context at the end of an unfinished text.
type place struct {
	quote   byte // quote of the unfinished string, or 0
	text    int  // offset of that string's contents
	comment bool
	open    []bracket // open brackets, outermost first
}

// bracket is an open bracket.
type bracket struct {
	char   byte
	at     int
	commas int // number of commas directly inside
}

// locate returns the context at the end of a text. It treats regular expressions as divisions, so quotes and brackets in one
// may mislead it.
func locate(text string) place {
	var p place
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '\'', '"', '`':
			end := stringEnd(text, i)
			if end < 0 {
				p.quote, p.text = c, i+1
				return p
			}
			i = end
		case '/':
			switch {
			case strings.HasPrefix(text[i:], "//"):
				end := strings.IndexByte(text[i:], '\n')
				if end < 0 {
					p.comment = true
					return p
				}
				i += end
			case strings.HasPrefix(text[i:], "/*"):
				end := strings.Index(text[i:], "*/")
				if end < 0 {
					p.comment = true
					return p
				}
				i += end + 1
			}
		case '(', '[', '{':
			p.open = append(p.open, bracket{char: c, at: i})
		case ')', ']', '}':
			if n := len(p.open); n > 0 {
				p.open = p.open[:n-1]
			}
		case ',':
			if n := len(p.open); n > 0 {
				p.open[n-1].commas++
			}
		}
	}
	return p
}

// stringEnd returns the offset of the quote, or of the line end, that ends the string at i. It returns -1 if the string is
// unfinished.
func stringEnd(text string, i int) int {
	quote := text[i]
	for i++; i < len(text); i++ {
		switch {
		case text[i] == '\\':
			i++
		case text[i] == quote:
			return i
		case text[i] == '\n' && quote != '`':
			return i // the string is unterminated and the line invalid
		}
	}
	return -1
}

// inner returns the open bracket at a level, counted from 0 for the innermost, or false if fewer are open.
func (p *place) inner(level int) (bracket, bool) {
	if i := len(p.open) - 1 - level; i >= 0 {
		return p.open[i], true
	}
	return bracket{}, false
}

// inKernel reports whether the end of a text is in the parentheses of kernel(…).
func (p *place) inKernel(text string) bool {
	return slices.ContainsFunc(p.open, func(b bracket) bool {
		return b.char == '(' && trailingName(strings.TrimRight(text[:b.at], " \t")) == "kernel"
	})
}

// step is a step of a chain such as a.b(…)[0].c. The first step is a name.
type step struct {
	kind stepKind
	text string // the name, or the text between the brackets
}

type stepKind int

const (
	memberStep stepKind = iota
	callStep
	indexStep
)

// chainBefore returns the chain at the end of a text and the word after it, which is being completed. dotted reports whether a
// dot precedes the word, which is then a member of the chain. chain is nil otherwise, and if what precedes the dot is no chain.
func chainBefore(text string) (chain []step, word string, dotted bool) {
	word = trailingName(text)
	rest := strings.TrimRight(text[:len(text)-len(word)], " \t")
	rest, dotted = strings.CutSuffix(rest, ".")
	if !dotted {
		return nil, word, false
	}
	chain, ok := parseChain(strings.TrimSuffix(rest, "?"))
	if !ok {
		chain = nil
	}
	return chain, word, true
}

// parseChain returns the longest chain at the end of a text, or false if the text does not end in one.
func parseChain(text string) (chain []step, ok bool) {
	for {
		text = strings.TrimRight(text, " \t")
		if n := len(text); n > 0 && (text[n-1] == ')' || text[n-1] == ']') {
			at := openingOf(text)
			if at < 0 {
				return nil, false
			}
			kind := callStep
			if text[n-1] == ']' {
				kind = indexStep
			}
			chain = append([]step{{kind, text[at+1 : n-1]}}, chain...)
			text = text[:at]
			continue
		}
		name := trailingName(text)
		if name == "" {
			return nil, false
		}
		chain = append([]step{{memberStep, name}}, chain...)
		text = strings.TrimRight(text[:len(text)-len(name)], " \t\n")
		before, dotted := strings.CutSuffix(text, ".")
		if !dotted {
			return chain, true
		}
		text = strings.TrimSuffix(before, "?")
	}
}

// openingOf returns the offset in bytes of the bracket that the last character closes, or −1 if there is none.
func openingOf(text string) int {
	for i := len(text) - 2; i >= 0; i-- {
		if !strings.ContainsRune("([", rune(text[i])) {
			continue
		}
		if p := locate(text[i : len(text)-1]); len(p.open) == 1 && p.quote == 0 {
			if q := locate(text[:i]); q.quote == 0 {
				return i
			}
		}
	}
	return -1
}

// trailingName returns the identifier or partial identifier at the end of a text.
func trailingName(text string) string {
	start := len(text)
	for start > 0 && isNameByte(text[start-1]) {
		start--
	}
	for start < len(text) && text[start] >= '0' && text[start] <= '9' {
		start++
	}
	return text[start:]
}

// isNameByte reports whether a byte may be part of a name. It accepts all bytes of characters outside ASCII.
func isNameByte(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

func isName(text string) bool { return text != "" && trailingName(text) == text }
