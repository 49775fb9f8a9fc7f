package amd64

import (
	"fmt"
	"strings"
)

// listing collects the text of emitted code. A nil listing collects nothing.
type listing struct {
	lines []string
}

// StartListing starts to record the text of emitted instructions for [Assembler.Listing].
func (a *Assembler) StartListing() { a.listing = new(listing) }

// Comment adds a comment to the listing, if there is one.
func (a *Assembler) Comment(format string, args ...any) {
	if a.listing != nil && a.err == nil {
		text := strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", "\n\t# ")
		a.listing.lines = append(a.listing.lines, "\t# "+text)
	}
}

func (l *listing) instruction(in *instruction) {
	if l != nil {
		l.lines = append(l.lines, "\t"+in.String())
	}
}

func (l *listing) label(label Label) {
	if l != nil {
		l.lines = append(l.lines, label.String()+":")
	}
}

func (l *listing) align(n int) {
	if l != nil {
		l.lines = append(l.lines, fmt.Sprintf("\t.balign %d", n))
	}
}

// Listing returns the code in Intel syntax. After [Assembler.Finish], GNU as assembles the same bytes from it. Constants
// follow the code. It returns "" if the assembler keeps no listing.
func (a *Assembler) Listing() string {
	if a.listing == nil {
		return ""
	}
	var b strings.Builder
	b.WriteString("\t.intel_syntax noprefix\n")
	for _, l := range a.listing.lines {
		b.WriteString(l)
		b.WriteByte('\n')
	}
	if len(a.pool.entries) > 0 {
		fmt.Fprintf(&b, "\t.balign %d, %#x\n", maxAlign, trapOpcode)
	}
	for _, c := range a.pool.entries {
		fmt.Fprintf(&b, "\t.balign %d, 0\n%s:\n", c.align, c.label)
		for i := 0; i < len(c.data); i += 16 {
			b.WriteString("\t.byte ")
			for j := i; j < min(i+16, len(c.data)); j++ {
				if j > i {
					b.WriteByte(',')
				}
				fmt.Fprintf(&b, "0x%02x", c.data[j])
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}
