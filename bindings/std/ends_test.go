package std

import (
	"context"
	"errors"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/runtime/stopwatch"
)

// TestReadingEndsWithTheCall checks that the end of a call stops the reading of an endless file and of a pipe without a
// writer, synchronous or not.
func TestReadingEndsWithTheCall(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"fs.readTextSync('pipe')", "await fs.readText('pipe')", "fs.readBytesSync('/dev/zero')", "await fs.readBytes('/dev/zero')", "fs.readCSVSync('pipe')",
	} {
		e, _, _ := engine(t, lang.Options{Dir: dir, Prompt: true})
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		began := stopwatch.Start()
		_, err := e.Run(ctx, "t.js", text)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) || began.Elapsed() > time.Minute {
			t.Errorf("%s: %v after %v", text, err, began.Elapsed())
		}
		if w, err := os.OpenFile(filepath.Join(dir, "pipe"), os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil { // lets the reader go
			_ = w.Close()
		}
	}
}

// TestPicturesKeepTheMemoryLimit checks that a picture that exceeds the memory limit is rejected before it is decoded.
func TestPicturesKeepTheMemoryLimit(t *testing.T) {
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, "large.png"))
	if err != nil {
		t.Fatal(err)
	}
	if err := png.Encode(f, image.NewGray(image.Rect(0, 0, 1<<13, 1<<12))); err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	e, _, _ := engine(t, lang.Options{Dir: dir, Prompt: true, Limits: lang.Limits{Memory: 256 << 20}})
	_, err = e.Run(t.Context(), "t.js", "await fs.readImage('large.png')")
	if diag.Code(err) != "out-of-memory" || !strings.Contains(err.Error(), "8192×4096 pixels need 384 MiB; 256 MiB are allowed") {
		t.Errorf("%v", err)
	}
}

// TestModulesKeepTheirClasses checks that modules work after a script has replaced the language's classes, and with
// undefined options.
func TestModulesKeepTheirClasses(t *testing.T) {
	e, out, _ := engine(t, lang.Options{Prompt: true})
	const text = `
fs.writeJSONSync('a.json', { a: 1 })
globalThis.Date = globalThis.JSON = 1
fs.writeJSONSync('a.json', { a: 2 }, undefined)
console.log('%j', fs.readJSONSync('a.json'), typeof fs.statSync('a.json').modified.getTime())
console.log('%d %d %f %i %d %d', Infinity, 1e-7, -Infinity, -0.5, 1e21, NaN)
console.dir({ a: [1] }, { items: undefined, colors: undefined, depth: undefined })
fs.writeImageSync('a.png', { width: 1, height: 1, data: new Uint8Array(1) }, { quality: undefined })
console.log(fs.readImageSync('a.png', { channels: undefined }).channels)
for (const o of [{ env: 3 }, { timeout: NaN }, { timeout: -1 }]) await process.run('true', [], o).catch(e => console.log(e.message))
console.log((await process.run('true', [], { timeout: 1e300, env: undefined })).code)`
	const want = `{"a":2} number
Infinity 1e-7 -Infinity -0 1e+21 NaN
{ a: [ 1 ] }
1
process.run: env must be an object of strings
process.run: timeout must be a number of milliseconds above 0
process.run: timeout must be a number of milliseconds above 0
0
`
	if _, err := e.Run(t.Context(), "t.js", text); err != nil || out.String() != want {
		t.Errorf("%v\n%s", diag.Format(err, false), out)
	}
}

// TestTablesOfManyColumns checks that the time of a table is linear in the number of its columns.
func TestTablesOfManyColumns(t *testing.T) {
	e, out, _ := engine(t, lang.Options{Limits: lang.Limits{Time: 20 * time.Second}})
	_, err := e.Run(t.Context(), "t.js", "console.table([Object.fromEntries(Array.from({ length: 200000 }, (_, i) => [i, 1]))])")
	if err != nil || !strings.Contains(out.String(), " 199999 │") {
		t.Errorf("%v", err)
	}
}
