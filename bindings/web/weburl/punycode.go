package weburl

import (
	"strings"
	"unicode/utf8"
)

// The parameters of Punycode (RFC 3492).
const (
	punyBase, punyMin, punyMax = 36, 1, 26
	punySkew, punyDamp         = 38, 700
	punyBias, punyFirst        = 72, 0x80
)

// adapt returns the adapted bias after a delta (RFC 3492, section 6.1).
func adapt(delta, count int, first bool) int {
	if first {
		delta /= punyDamp
	} else {
		delta /= 2
	}
	delta += delta / count
	k := 0
	for delta > (punyBase-punyMin)*punyMax/2 {
		delta /= punyBase - punyMin
		k += punyBase
	}
	return k + (punyBase-punyMin+1)*delta/(delta+punySkew)
}

func threshold(k, bias int) int { return min(max(k-bias, punyMin), punyMax) }

// maxLabel is the maximum number of characters of a label, because the conversion takes quadratic time.
const maxLabel = 1000

// toPunycode returns a label's ASCII form with the prefix xn--. It returns false for a label that is too long, not valid
// UTF-8, or has U+FFFD.
func toPunycode(label string) (string, bool) {
	runes := []rune(label)
	if len(runes) > maxLabel || strings.ContainsRune(label, utf8.RuneError) {
		return "", false
	}
	var b strings.Builder
	b.WriteString("xn--")
	done := 0
	for _, c := range runes {
		if c < punyFirst {
			b.WriteRune(c)
			done++
		}
	}
	basic := done
	if basic > 0 {
		b.WriteByte('-')
	}
	n, delta, bias := rune(punyFirst), 0, punyBias
	for done < len(runes) {
		next := rune(utf8.MaxRune)
		for _, c := range runes {
			if c >= n && c < next {
				next = c
			}
		}
		delta += int(next-n) * (done + 1)
		n = next
		for _, c := range runes {
			if c < n {
				delta++
			}
			if c != n {
				continue
			}
			q := delta
			for k := punyBase; ; k += punyBase {
				t := threshold(k, bias)
				if q < t {
					break
				}
				b.WriteByte(punyDigit(t + (q-t)%(punyBase-t)))
				q = (q - t) / (punyBase - t)
			}
			b.WriteByte(punyDigit(q))
			bias = adapt(delta, done+1, done == basic)
			delta = 0
			done++
		}
		delta++
		n++
	}
	return b.String(), true
}

func punyDigit(d int) byte { return "abcdefghijklmnopqrstuvwxyz0123456789"[d] }

// isPunycode reports whether a text in lower case, the part after xn--, encodes a label with characters beyond ASCII.
func isPunycode(code string) bool {
	basic := 0
	if i := strings.LastIndexByte(code, '-'); i >= 0 {
		basic, code = i, code[i+1:]
	}
	if code == "" || len(code) > maxLabel {
		return false
	}
	n, i, bias, count := punyFirst, 0, punyBias, basic
	for at := 0; at < len(code); {
		before, weight := i, 1
		for k := punyBase; ; k += punyBase {
			if at == len(code) {
				return false
			}
			d := strings.IndexByte("abcdefghijklmnopqrstuvwxyz0123456789", code[at])
			at++
			if d < 0 || d > (utf8.MaxRune*maxLabel-i)/weight {
				return false
			}
			i += d * weight
			t := threshold(k, bias)
			if d < t {
				break
			}
			if weight *= punyBase - t; weight > utf8.MaxRune*maxLabel {
				return false
			}
		}
		count++
		bias = adapt(i-before, count, before == 0)
		if n += i / count; n > utf8.MaxRune {
			return false
		}
		i = i%count + 1
	}
	return true
}
