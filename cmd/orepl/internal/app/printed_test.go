package app

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/image"
	"github.com/orepl/orepl/runtime/offload"
)

// evil changes a terminal's title, clears its screen, goes to the line's start, and reverses text.
const evil = "\x1b]0;title\x07\x1b[2J\r\u009b31m\u202e"

// hostileContainer is a container whose strings have characters that a terminal obeys.
func hostileContainer(t *testing.T) []byte {
	t.Helper()
	var entries []image.BundleEntry
	for _, kind := range []image.BundleKind{image.BundleObject, image.BundlePTX, image.BundleSPIRV} {
		entries = append(entries, image.BundleEntry{Kind: kind, Producer: 77, Data: []byte(".version 7.0\n.target sm_90" + evil + "\n.visible .entry k" + evil + "()"),
			Strings: map[string]string{"triple": "x86_64" + evil, "arch": "v1" + evil, "key" + evil: "value" + evil}})
	}
	data, err := image.WriteBundle(1, entries)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestPrinted runs all commands on a hostile container with a hostile name, and looks for characters that a terminal obeys.
func TestPrinted(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	file := "file" + evil + ".offload"
	script := filepath.Join(dir, "script"+evil+".js")
	write := func(name string, data []byte) {
		t.Helper()
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(file, hostileContainer(t))
	write("damaged"+evil, []byte("\x10\xff\x10\xad"+evil))
	write(script, []byte(`import { register, device, live, i32, kernel } from 'offload'
const evil = '\x1b]0;title\x07\x1b[2J\r\x9b31m\u202e'
const b = device('cpu').buffer(i32, 4, { label: 'label' + evil })
for (const f of [file => register(file), file => import(file), () => device('cpu' + evil), () => { throw new Error('message' + evil) }])
  try { console.log(await f('./file' + evil + '.offload')) } catch (e) { console.log(e); console.error(e) }
console.log(b, live(), { ['key' + evil]: 'text' + evil }, ['text' + evil], new Map([[evil, evil]]), Symbol(evil), { [Symbol(evil)]: 1 },
  Object.defineProperty(() => 1, 'name', { value: evil }), new (class { static { Object.defineProperty(this, 'name', { value: evil }) } }))
const k = kernel((g, x) => { x[g.x + 9] = 1 })
await k.launch({ size: 1 }, b)
`))
	for _, args := range [][]string{
		{"image", "list", file}, {"image", "list", "--devices", file}, {"image", "verify", file}, {"image", "extract", "--target", "nvptx64", file, "-o", "out"},
		{"image", "extract", "--target", evil, file, "-o", "out"}, {"image", "drop", "--target", evil, file}, {"image", "list", "damaged" + evil},
		{"image", "verify", "damaged" + evil}, {"image", "strip", file}, {"image", "list", "none" + evil}, {"image", "pack", "-o", evil + "/x", "--target", "cpu=" + file},
		{"image", evil}, {evil}, {"run", evil}, {"run", script}, {"run", "--leaks", script}, {"run", "--" + evil, script}, {"kernel", script}, {"bench", script},
		{"devices", evil}, {"conform", evil}, {"conform", "--run", "none" + evil, "cpu"}, {"help", evil}, {"types", "--out", evil + "/x"}, {"repl", "-e", "throw new Error(" + "'\\x1b[2J')"},
	} {
		var out, told bytes.Buffer
		Main(System{Args: args, Stdout: &out, Stderr: &told, Stdin: strings.NewReader(""), Plugins: []offload.Plugin{cpu.New(cpu.Options{})}})
		for name, text := range map[string]string{"output": out.String(), "errors": told.String()} {
			at := strings.IndexFunc(text, func(r rune) bool {
				return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r))
			})
			if at >= 0 {
				t.Errorf("%q: the %s have %q", args, name, text[max(0, at-60):min(len(text), at+60)])
			}
		}
		if out.Len()+told.Len() == 0 {
			t.Errorf("%q printed nothing", args)
		}
	}
}

// full is an output that takes nothing, as the file on a full disk.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// TestFullOutput checks that commands fail if their output cannot be written.
func TestFullOutput(t *testing.T) {
	for _, args := range [][]string{
		{"help"}, {"help", "run"}, {"help", "exit-codes"}, {"help", "fs.readText"}, {"help", "image"}, {"version"}, {"version", "-h"}, {"devices"}, {"devices", "--json"}, {"types"},
	} {
		var told bytes.Buffer
		code := Main(System{Args: args, Stdout: full{}, Stderr: &told, Stdin: strings.NewReader(""), Plugins: []offload.Plugin{cpu.New(cpu.Options{})}})
		if code != ExitScript || !strings.Contains(told.String(), "no space left") {
			t.Errorf("%q: exit code %d and %q", args, code, told.String())
		}
	}
}
