package main

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// plotScript prints a chart, and writes the picture that a terminal of 60 columns with cells of 16 × 32 pixels shall show.
const plotScript = `import { plot, png } from 'plot'
import { writeBytes } from 'fs'
const data = { rise: [1, 2, 4, 8, 16], fall: [16, 8, 4, 2, 1] }
plot(data, { title: 'both' })
await writeBytes('want.png', png(data, { title: 'both', width: 59 * 8, height: 20 * 16 }))
console.log('after')
`

// The answers of terminals to the question for a picture and for their attributes.
const (
	question    = "\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\\x1b[c"
	kittyAnswer = "\x1b_Gi=31;OK\x1b\\\x1b[?62;c"
	sixelAnswer = "\x1b[?62;4;22c"
	plainAnswer = "\x1b[?1;2c"
)

// showing is a terminal of 60 columns that answers the question, in which a program runs.
type showing struct {
	t      *testing.T
	dir    string
	answer string
	env    []string
	keys   string // typed at the first prompt
}

// run runs a program until it ends and returns what it wrote to the terminal.
func (s showing) run(args ...string) string {
	t := s.t
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	orepl := filepath.Join(s.dir, "orepl")
	if err := os.Symlink(exe, orepl); err != nil && !os.IsExist(err) { // the test binary acts as the command under this name
		t.Fatal(err)
	}
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	if err := pty.Setsize(master, &pty.Winsize{Cols: 60, Rows: 30, X: 60 * 16, Y: 30 * 32}); err != nil {
		t.Fatal(err)
	}
	before, err := unix.IoctlGetTermios(int(slave.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(orepl, args...)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = s.dir, slave, slave, slave
	for _, kv := range os.Environ() { // without those of the terminal around the test
		name, _, _ := strings.Cut(kv, "=")
		switch name {
		case "TMUX", "STY", "TERM_PROGRAM", "KITTY_WINDOW_ID", "KONSOLE_VERSION", "LC_TERMINAL", "OREPL_GRAPHICS":
		default:
			cmd.Env = append(cmd.Env, kv)
		}
	}
	cmd.Env = append(append(cmd.Env, "TERM=xterm-256color", "HOME="+s.dir), s.env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	overdue := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait(); slave.Close() }()
	var out bytes.Buffer
	buffer := make([]byte, 64<<10)
	asked, typed := false, false
	for {
		n, err := master.Read(buffer)
		out.Write(buffer[:n])
		if !asked && s.answer != "" && bytes.Contains(out.Bytes(), []byte(question)) {
			asked = true
			_, _ = master.WriteString(s.answer)
		}
		if !typed && s.keys != "" && bytes.Contains(out.Bytes(), []byte("1> ")) {
			typed = true
			_, _ = master.WriteString(s.keys)
		}
		if err != nil { // EIO when the program has ended
			break
		}
	}
	if !overdue.Stop() {
		t.Errorf("%v did not end; it wrote %q", args, out.String())
	}
	if err := <-ended; err != nil && s.keys == "" {
		t.Logf("%v: %v", args, err)
	}
	if again, slave := reopened(t, master); slave != nil {
		if after, err := unix.IoctlGetTermios(int(slave.Fd()), unix.TCGETS); err != nil || *after != *before {
			t.Errorf("the modes of the terminal were not restored: %v", again)
		}
		slave.Close()
	}
	return strings.ReplaceAll(out.String(), "\r\n", "\n")
}

// reopened opens the program's end of a terminal again.
func reopened(t *testing.T, master *os.File) (string, *os.File) {
	t.Helper()
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("/dev/pts/%d", n)
	f, err := os.OpenFile(name, os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return name, f
}

// kittyPicture returns the picture of the commands of Kitty's protocol in a text, and the text around them.
func kittyPicture(t *testing.T, text string) (image.Image, string) {
	t.Helper()
	var data strings.Builder
	last := ""
	rest := regexp.MustCompile(`\x1b_G([^;]*);([^\x1b]*)\x1b\\`).ReplaceAllStringFunc(text, func(s string) string {
		keys, payload, _ := strings.Cut(s[3:len(s)-2], ";")
		if data.Len() == 0 && !strings.HasPrefix(keys, "a=T,f=100,q=2,") || data.Len() > 0 && !strings.HasPrefix(keys, "m=") || len(payload) > 4096 {
			t.Errorf("a chunk of %d bytes has the keys %q", len(payload), keys)
		}
		last = keys[len(keys)-3:]
		data.WriteString(payload)
		return ""
	})
	if last != "m=0" {
		t.Errorf("the last chunk ends with %q", last)
	}
	return decodePNG(t, data.String()), rest
}

func decodePNG(t *testing.T, text string) image.Image {
	t.Helper()
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// itermPicture is kittyPicture for the protocol of iTerm2.
func itermPicture(t *testing.T, text string) (image.Image, string) {
	t.Helper()
	m := regexp.MustCompile(`\x1b\]1337;File=inline=1;size=(\d+);width=(\d+)px;height=(\d+)px:([^\a]*)\a`).FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("no picture in %q", text)
	}
	img := decodePNG(t, m[4])
	if size := img.Bounds().Size(); m[2] != strconv.Itoa(size.X) || m[3] != strconv.Itoa(size.Y) {
		t.Errorf("the picture has %v pixels, the command says %s × %s", size, m[2], m[3])
	}
	return img, strings.Replace(text, m[0], "", 1)
}

// sixelPicture is kittyPicture for Sixel. It follows the manual of DEC's VT330 and VT340: a machine that reads byte by byte.
func sixelPicture(t *testing.T, text string) (image.Image, string) {
	t.Helper()
	begin := strings.Index(text, "\x1bP")
	end := begin + strings.Index(text[max(begin, 0):], "\x1b\\")
	if begin < 0 || end < begin {
		t.Fatalf("no picture in %q", text)
	}
	_, body, ok := strings.Cut(text[begin:end], "q")
	if !ok {
		t.Fatal("the sequence is no Sixel picture")
	}
	numbers := func() (list []int) { // parameters, separated by semicolons
		for {
			n := 0
			for body != "" && body[0] >= '0' && body[0] <= '9' {
				n = 10*n + int(body[0]-'0')
				body = body[1:]
			}
			list = append(list, n)
			if body == "" || body[0] != ';' {
				return list
			}
			body = body[1:]
		}
	}
	var img *image.RGBA
	registers := map[int]color.RGBA{}
	pen, x, top, repeat := color.RGBA{}, 0, 0, 1
	for body != "" {
		c := body[0]
		body = body[1:]
		switch {
		case c == '"':
			p := numbers()
			img = image.NewRGBA(image.Rect(0, 0, p[2], p[3]))
		case c == '#':
			p := numbers()
			if len(p) == 5 {
				if p[1] != 2 || max(p[2], p[3], p[4]) > 100 || p[0] > 255 {
					t.Fatalf("the color %v is not valid", p)
				}
				scaled := func(v int) uint8 { return uint8(float64(v)*2.55 + 0.5) }
				registers[p[0]] = color.RGBA{scaled(p[2]), scaled(p[3]), scaled(p[4]), 255}
			}
			if pen, ok = registers[p[0]]; !ok {
				t.Fatalf("register %d has no color", p[0])
			}
		case c == '!':
			repeat = numbers()[0]
		case c == '$':
			x = 0
		case c == '-':
			x, top = 0, top+6
		case c >= '?' && c <= '~':
			for range repeat {
				for bit := range 6 {
					if (c-'?')>>bit&1 != 0 {
						if !(image.Pt(x, top+bit).In(img.Bounds())) {
							t.Fatalf("the pixel %d, %d is outside of the picture", x, top+bit)
						}
						img.SetRGBA(x, top+bit, pen)
					}
				}
				x++
			}
			repeat = 1
		default:
			t.Fatalf("byte %q in a picture", c)
		}
	}
	return img, text[:begin] + text[end+2:]
}

// compare expects two pictures with equal pixels, except for a distance of each channel.
func compare(t *testing.T, got, want image.Image, distance int) {
	t.Helper()
	if got.Bounds() != want.Bounds() {
		t.Fatalf("the picture has %v pixels, not %v", got.Bounds(), want.Bounds())
	}
	off, far := 0, 0
	for y := range want.Bounds().Dy() {
		for x := range want.Bounds().Dx() {
			a, b := color.RGBAModel.Convert(got.At(x, y)).(color.RGBA), color.RGBAModel.Convert(want.At(x, y)).(color.RGBA)
			for _, d := range []int{int(a.R) - int(b.R), int(a.G) - int(b.G), int(a.B) - int(b.B), int(a.A) - int(b.A)} {
				far = max(far, d, -d)
				if max(d, -d) > distance {
					off++
				}
			}
		}
	}
	if off > 0 {
		t.Errorf("%d values of pixels differ, by up to %d", off, far)
	}
}

// TestPictures runs plot at terminals that show pictures, and decodes what they get.
func TestPictures(t *testing.T) {
	for _, c := range []struct {
		name, answer string
		env          []string
		picture      func(*testing.T, string) (image.Image, string)
		distance     int
	}{
		{"kitty answers", kittyAnswer, nil, kittyPicture, 0},
		{"sixel answers", sixelAnswer, nil, sixelPicture, 6}, // a register has percents, rounded to 4 for 256 colors
		{"kitty tells", "", []string{"TERM=xterm-kitty"}, kittyPicture, 0},
		{"iTerm2 tells", "", []string{"TERM_PROGRAM=iTerm.app"}, itermPicture, 0},
		{"tmux answers", sixelAnswer, []string{"TMUX=/tmp/x,1,0", "KITTY_WINDOW_ID=1"}, sixelPicture, 6},
		{"the user chooses", "", []string{"OREPL_GRAPHICS=sixel", "TERM=dumb"}, sixelPicture, 6},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "plot.js"), []byte(plotScript), 0o600); err != nil {
				t.Fatal(err)
			}
			text := showing{t: t, dir: dir, answer: c.answer, env: c.env}.run("run", "plot.js")
			if asked := strings.Count(text, question); asked != len(c.answer)/max(len(c.answer), 1) {
				t.Errorf("the terminal was asked %d times", asked)
			}
			got, rest := c.picture(t, strings.Replace(text, question, "", 1))
			if rest != "\nafter\n" {
				t.Errorf("around the picture: %q", rest)
			}
			f, err := os.Open(filepath.Join(dir, "want.png"))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			want, err := png.Decode(f)
			if err != nil {
				t.Fatal(err)
			}
			compare(t, got, want, c.distance)
		})
	}
}

// TestNoPictures runs plot where text must appear, without an escape sequence besides the question.
func TestNoPictures(t *testing.T) {
	for _, c := range []struct {
		name, answer string
		env          []string
		asked        bool
	}{
		{"no graphics", plainAnswer, nil, true},
		{"no answer", "", nil, true},
		{"an answer without an end", "\x1b[?62;4" + strings.Repeat(";1", 5000), nil, true},
		{"dumb", "", []string{"TERM=dumb"}, false},
		{"the user chooses", "", []string{"OREPL_GRAPHICS=text", "TERM=xterm-kitty"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "plot.js"), []byte(plotScript), 0o600); err != nil {
				t.Fatal(err)
			}
			text := showing{t: t, dir: dir, answer: c.answer, env: c.env}.run("run", "plot.js")
			if strings.Contains(text, question) != c.asked {
				t.Errorf("asked: %v, in %q", !c.asked, text)
			}
			text = strings.Replace(text, question, "", 1)
			if !strings.Contains(text, "● rise   ○ fall") || !strings.Contains(text, "after\n") || strings.Contains(text, "\x1b") {
				t.Errorf("got %q", text)
			}
		})
	}
	t.Run("a file", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "plot.js"), []byte(plotScript), 0o600); err != nil {
			t.Fatal(err)
		}
		if text := (showing{t: t, dir: dir, env: []string{"OREPL_GRAPHICS=kitty", "PATH=" + os.Getenv("PATH")}}.run("run", "plot.js")); !strings.Contains(text, "\x1b_G") {
			t.Errorf("at a terminal: %q", text)
		}
		cmd := exec.Command(filepath.Join(dir, "orepl"), "run", "plot.js")
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "OREPL_GRAPHICS=kitty", "TERM=xterm-kitty")
		out, err := cmd.CombinedOutput()
		if err != nil || strings.Contains(string(out), "\x1b") || !strings.Contains(string(out), "rise") {
			t.Errorf("into a file: %v, %q", err, out)
		}
	})
	t.Run("a wrong choice", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "plot.js"), []byte(plotScript), 0o600); err != nil {
			t.Fatal(err)
		}
		text := showing{t: t, dir: dir, env: []string{"OREPL_GRAPHICS=png", "NO_COLOR=1"}}.run("run", "plot.js")
		if !strings.Contains(text, `OREPL_GRAPHICS is "png"; it must be kitty, iterm2, sixel or text`) || !strings.Contains(text, "plot.js:4") {
			t.Errorf("got %q", text)
		}
	})
}

// TestPictureAtThePrompt draws at the prompt of a terminal with Sixel graphics.
func TestPictureAtThePrompt(t *testing.T) {
	dir := t.TempDir()
	text := showing{t: t, dir: dir, answer: sixelAnswer, keys: "plot([1, 2, 4]); 'do' + 'ne'\r.exit\r", env: []string{"NO_COLOR=1"}}.run()
	img, rest := sixelPicture(t, text)
	if size := img.Bounds().Size(); size != image.Pt(59*16, 20*32) {
		t.Errorf("the picture has %v pixels", size)
	}
	if !strings.Contains(rest, "'done'") && !strings.Contains(rest, `"done"`) {
		t.Errorf("the prompt did not go on: %q", rest)
	}
}
