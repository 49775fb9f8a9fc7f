//go:build linux

package repl_test

import (
	"fmt"
	"html"
	"strings"
	"testing"

	compare "github.com/orepl/orepl/tests/golden"
)

// sessionPicture is the picture of the README.
const sessionPicture = "../../../../docs/pictures/prompt.svg"

// TestPicture compares a session at the prompt with the picture of the README; -update writes the picture.
func TestPicture(t *testing.T) {
	u := sit(t, 88, 24)
	u.until("a prompt", isPrompt)
	from := u.row()
	u.enters("const x = device().linspace(f32, 0, 2 * Math.PI, 100)")
	u.enters("const wave = x.map(v => Math.sin(v) * Math.exp(-v / 4))")
	u.enters("await wave.max()")
	u.enters("plot(wave, { height: 8 })")
	u.enters("const slope = kernel((g, y, d) => { d[g.x] = y[g.x + 1] - y[g.x] })")
	u.enters("const d = x.device.buffer(f32, 99)")
	u.enters("await slope.launch({ size: 100 }, wave, d)")
	u.enters("await slope.launch({ size: 99 }, wave, d)")
	u.enters("await d.argmin()")
	text := lastPrompt.ReplaceAllString(u.all(from), "")
	u.press("\x04")
	if code := u.leaves(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	compare.Compare(t, sessionPicture, terminal(strings.Split(text, "\n"), 88), *update)
}

// terminal draws the lines of a terminal as SVG. Dots of Braille patterns are circles, because fonts space them differently.
func terminal(lines []string, columns int) string {
	const width, height, margin = 8, 18, 12 // of a character, and around all
	var b strings.Builder
	w, h := columns*width+2*margin, len(lines)*height+2*margin
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" `, w, h, w, h)
	b.WriteString(`font-family="ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="13.3">` + "\n")
	fmt.Fprintf(&b, `<rect width="%d" height="%d" rx="8" fill="#1c2128"/>`+"\n", w, h)
	for i, line := range lines {
		top := margin + i*height
		var row []rune
		for n, r := range []rune(line) {
			if r >= 0x2800 && r <= 0x28ff {
				dots(&b, r, margin+n*width, top)
				r = ' '
			}
			row = append(row, r)
		}
		shown := strings.TrimRight(string(row), " ")
		if shown == "" {
			continue
		}
		fill := "#adbac7"
		if before, _, ok := strings.Cut(shown, "> "); ok && strings.Trim(before, "0123456789") == "" {
			fill = "#ffffff"
		} else if strings.HasPrefix(shown, "error") {
			fill = "#ff938a"
		}
		fmt.Fprintf(&b, `<text x="%d" y="%d" fill="%s" textLength="%d" xml:space="preserve">%s</text>`+"\n", margin, top+height-5, fill,
			len([]rune(shown))*width, html.EscapeString(shown))
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// dots draws a Braille pattern whose cell begins at x, y. Bit n of the pattern is the dot with the number n + 1.
func dots(b *strings.Builder, pattern rune, x, y int) {
	places := [8][2]float64{{2, 2}, {2, 6.5}, {2, 11}, {6, 2}, {6, 6.5}, {6, 11}, {2, 15.5}, {6, 15.5}}
	for n, place := range places {
		if pattern&(1<<n) != 0 {
			fmt.Fprintf(b, `<circle cx="%g" cy="%g" r="1.3" fill="#6cb6ff"/>`+"\n", float64(x)+place[0], float64(y)+place[1])
		}
	}
}
