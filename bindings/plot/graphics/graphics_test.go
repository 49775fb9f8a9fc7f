package graphics

import (
	"image"
	"image/color"
	"strings"
	"testing"
)

// TestSixel compares small pictures with the bytes that the format's manual prescribes.
func TestSixel(t *testing.T) {
	fill := func(w, h int, at func(x, y int) color.RGBA) *image.RGBA {
		img := image.NewRGBA(image.Rect(2, 3, 2+w, 3+h))
		for y := range h {
			for x := range w {
				img.SetRGBA(2+x, 3+y, at(x, y))
			}
		}
		return img
	}
	white, red := color.RGBA{255, 255, 255, 255}, color.RGBA{255, 0, 0, 255}
	for _, c := range []struct {
		img  *image.RGBA
		want string
	}{
		{fill(5, 1, func(int, int) color.RGBA { return white }), `"1;1;5;1#0;2;100;100;100#0!5@-`},
		{fill(2, 7, func(x, _ int) color.RGBA { return map[bool]color.RGBA{true: red, false: white}[x == 1] }),
			`"1;1;2;7#0;2;100;0;0#1;2;100;100;100#0?~$#1~-#0?@$#1@-`},
	} {
		if got := string(sixel(c.img)); got != "\x1bP0;1;0q"+c.want+"\x1b\\" {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
	many := fill(256, 256, func(x, y int) color.RGBA { return color.RGBA{uint8(x), uint8(y), uint8(x ^ y), 255} })
	if n := strings.Count(string(sixel(many)), ";2;"); n < 64 || n > mostColors {
		t.Errorf("a picture of 65536 colors has %d registers", n)
	}
}

func TestDetection(t *testing.T) {
	for text, want := range map[string]Protocol{
		"TERM=xterm-kitty":                              Kitty,
		"TERM=xterm-256color KITTY_WINDOW_ID=1":         Kitty,
		"TERM=xterm-256color TERM_PROGRAM=iTerm.app":    ITerm2,
		"TERM=xterm-256color LC_TERMINAL=iTerm2":        ITerm2,
		"TERM=screen-256color TERM_PROGRAM=iTerm.app":   "",
		"TERM=xterm-kitty TMUX=/tmp/tmux-0/default,1,0": "",
		"TERM=xterm":                            "",
		"TERM=linux":                            Text,
		"TERM=dumb TERM_PROGRAM=iTerm.app":      Text,
		"TERM_PROGRAM=iTerm.app":                Text,
		"TERM=xterm-256color KONSOLE_VERSION=1": Kitty,
	} {
		env := map[string]string{}
		for _, kv := range strings.Fields(text) {
			k, v, _ := strings.Cut(kv, "=")
			env[k] = v
		}
		if got := hint(func(name string) string { return env[name] }); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
	for answer, want := range map[string]Protocol{
		"":             Text,
		"\x1b[?1;2c":   Text,
		"\x1b[?62;14c": Text,
		"\x1b[?62;4c":  Sixel,
		"\x1b_Gi=31;ENOTSUPPORTED\x1b\\\x1b[?62;4c": Sixel,
		"\x1b_Gi=31;OK\x1b\\\x1b[?62;4c":            Kitty,
		"\x1b[?62;4":                                Text,
	} {
		if got := interpret([]byte(answer)); got != want {
			t.Errorf("%q: got %q, want %q", answer, got, want)
		}
	}
}
