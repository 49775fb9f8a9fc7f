package fs_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
)

// python runs a script of testdata in a folder. It skips the test if Python or a module is not installed.
func python(t *testing.T, dir, module, script string, args ...string) {
	t.Helper()
	const command = "/usr/bin/python3" // Debian's, which finds Debian's modules
	if err := exec.Command(command, "-c", "import "+module).Run(); err != nil {
		t.Skipf("%s cannot import %s: %v", command, module, err)
	}
	path, err := filepath.Abs(filepath.Join("testdata", script))
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(command, append([]string{path}, args...)...)
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", script, args, err, out)
	}
}

// runIn runs a script in a folder and returns its output.
func runIn(t *testing.T, dir, script string) string {
	t.Helper()
	var out bytes.Buffer
	e, err := orepl.Open(orepl.Options{}).Engine(orepl.EngineOptions{Policy: lang.AllowAll, Dir: dir, Stdout: &out})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if _, err := e.Run(t.Context(), "peer.js", script); err != nil {
		t.Fatal(diag.Format(err, false))
	}
	return strings.TrimSpace(out.String())
}

// count returns the number of random files: few, or many in a long run.
func count(few, many int) string {
	if os.Getenv("OREPL_TEST_LONG") == "1" {
		few = many
	}
	return strconv.Itoa(few)
}

// TestCSVAgainstPython reads tables that Python's csv wrote, and writes them for Python to read.
func TestCSVAgainstPython(t *testing.T) {
	dir, n := t.TempDir(), count(300, 5000)
	python(t, dir, "csv", "tables.py", "write", n, "1")
	out := runIn(t, dir, `import { readJSONSync, readCSVSync, writeCSVSync } from 'fs'
let wrong = 0, rows = 0
readJSONSync('tables.json').forEach((t, i) => {
  const types = Object.fromEntries(t.names.map((n, j) => [n, t.kinds[j]]))
  const got = readCSVSync(i + '.csv', { separator: t.separator, types })
  const number = x => Object.is(x, -0) ? '-0.0' : String(x)
  const columns = {}
  const same = got.rows === t.rows.length && got.names.join('\0') === t.names.join('\0') && t.names.every((n, j) => {
    const c = columns[n] = Object.getOwnPropertyDescriptor(got.columns, n).value
    return t.rows.every((row, k) => {
      if (t.kinds[j] !== 'f64') return String(c[k]) === row[j]
      const want = row[j] === 'nan' ? NaN : row[j] === 'inf' ? Infinity : row[j] === '-inf' ? -Infinity : Number(row[j])
      return Object.is(c[k], want)
    })
  })
  if (!same && wrong++ < 3) console.log(i, JSON.stringify(t), JSON.stringify(got.names), JSON.stringify(Object.values(got.columns).map(c => Array.from(c, String))))
  rows += got.rows
  writeCSVSync(i + '.out.csv', columns, { separator: t.separator })
})
console.log(wrong, rows > 500)`)
	if out != "0 true" {
		t.Fatal(out)
	}
	python(t, dir, "csv", "tables.py", "check", n)
}

// TestPNGAgainstPillow reads PNG files of all colour types and depths, and writes their pixels for Pillow to read.
func TestPNGAgainstPillow(t *testing.T) {
	dir, n := t.TempDir(), count(150, 2000)
	python(t, dir, "PIL", "pictures.py", "write", n, "1")
	out := runIn(t, dir, `import { readJSONSync, readImageSync, writeImageSync } from 'fs'
let wrong = 0
readJSONSync('pictures.json').forEach((p, i) => {
  const got = readImageSync(i + '.png')
  const same = got.width === p.width && got.height === p.height && got.channels === p.channels && got.data.length === p.data.length && got.data.every((v, k) => v === p.data[k])
  if (!same && wrong++ < 3) console.log(i, JSON.stringify(p), JSON.stringify({ ...got, data: Array.from(got.data) }))
  const gray = readImageSync(i + '.png', { channels: 1 }).data, four = readImageSync(i + '.png', { channels: 4 }).data
  const luma = (r, g, b) => r * 19595 + g * 38470 + b * 7471 + 0x8000 >> 16
  if (!gray.every((v, k) => v === luma(four[4 * k], four[4 * k + 1], four[4 * k + 2]))) wrong++
  writeImageSync(i + '.out.png', got)
})
console.log(wrong)`)
	if out != "0" {
		t.Fatal(out)
	}
	python(t, dir, "PIL", "pictures.py", "check", n)
}

// TestOrientation reads JPEG files with each Exif orientation, and with values that are none, in both byte orders.
func TestOrientation(t *testing.T) {
	dir := t.TempDir()
	python(t, dir, "PIL", "pictures.py", "turned")
	out := runIn(t, dir, `import { readJSONSync, readImageSync } from 'fs'
for (const p of readJSONSync('turned.json')) {
  const got = readImageSync(p.name), centres = []
  for (let y = 8; y < got.height; y += 16) for (let x = 8; x < got.width; x += 16) centres.push(Array.from(got.data.slice(4 * (y * got.width + x), 4 * (y * got.width + x) + 3)))
  const near = centres.length === p.centres.length && centres.every((c, i) => c.every((v, k) => Math.abs(v - p.centres[i][k]) < 8))
  if (got.width !== p.width || got.height !== p.height || !near) console.log(p.name, got.width, got.height, JSON.stringify(centres), JSON.stringify(p))
}`)
	if out != "" {
		t.Error(out)
	}
}
