package orepl_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
)

// TestCSVIntoBuffers reads a table of 10 MB into buffers and checks every field. Fields that do not fit are errors with
// their line.
func TestCSVIntoBuffers(t *testing.T) {
	dir := t.TempDir()
	var text bytes.Buffer
	text.WriteString("id,price,name,level\n")
	const rows = 400_000
	for i := range rows {
		fmt.Fprintf(&text, "%d,%d.5,the name %d,%d\n", i, i%1000, i%10, i%256)
	}
	if text.Len() < 10_000_000 {
		t.Fatalf("only %d bytes", text.Len())
	}
	if err := os.WriteFile(filepath.Join(dir, "big.csv"), text.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	e, err := open(t).Engine(orepl.EngineOptions{Policy: lang.AllowAll, Dir: dir, Stdout: &out})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	_, err = e.Run(context.Background(), "read.js", `
		import fs from 'fs'
		import { device, kernel, f32, u8, i32, i64, u32 } from 'offload'
		const dev = device('cpu'), n = 400000
		const price = dev.buffer(f32, n + 1), level = dev.buffer(u8, n), id = dev.buffer(i64, n), wrong = dev.buffer(u32, 1)
		price.fill(-1)
		const table = await fs.readCSV('big.csv', { into: { price, level, id } })
		console.log(table.rows, table.names, table.columns)
		kernel((g, price, level, id, wrong) => {
			const i = g.x
			if (price[i] !== i % 1000 + 0.5 || level[i] !== i % 256 || i32(id[i]) !== i) Atomics.add(wrong, 0, 1)
		}).launch({ size: n }, price, level, id, wrong)
		console.log(await wrong.read(), await price.read(n, 1))
		fs.writeTextSync('small.csv', 'a,b\n1,x\n300,y\n')
		console.log(fs.readCSVSync('small.csv', { into: { a: price }, types: { b: 'string' } }).columns, await price.read(0, 3))`)
	if err != nil {
		t.Fatal(diag.Format(err, false))
	}
	want := "400000 [ 'id', 'price', 'name', 'level' ] {}\nUint32Array(1) [ 0 ] Float32Array(1) [ -1 ]\n{ b: [ 'x', 'y' ] } Float32Array(3) [ 1, 300, 2.5 ]\n"
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &out, want)
	}
	for options, want := range map[string]string{
		"{ into: { a: dev.buffer(f32, 1) } }":                "small.csv, line 3: column \"a\": the buffer has 1 elements, and the file more rows",
		"{ into: { a: dev.buffer(u8, 2) } }":                 "line 3: column \"a\": 300 is not between 0 and 255",
		"{ into: { c: dev.buffer(u8, 2) } }":                 "the file has no column \"c\"",
		"{ into: { a: [] } }":                                "into has no buffer for column \"a\"",
		"{ into: 3 }":                                        "into must be an object",
		"{ into: { a: dev.buffer(struct({ a: f16 }), 2) } }": "cannot go into a buffer of opaque",
		"{ into: { b: dev.buffer(f32, 2) } }":                "\"x\" is no number",
		"{ into: { a: (() => { const b = dev.buffer(f32, 2); b.free(); return b })() } }": "freed",
	} {
		_, err := e.Run(context.Background(), "wrong.js", "import fs from 'fs'\nimport { device, struct, u8, f16, f32 } from 'offload'\nconst dev = device('cpu')\nawait fs.readCSV('small.csv', "+options+")")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", options, err, want)
		}
	}
}

// TestCSVStreams reads a file into buffers that is larger than the script's memory limit. As a value of the script it
// exceeds the limit.
func TestCSVStreams(t *testing.T) {
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, "huge.csv"))
	if err != nil {
		t.Fatal(err)
	}
	const rows = 1_000_000
	w := bufio.NewWriter(f)
	fmt.Fprintln(w, "x,note")
	for i := range rows {
		fmt.Fprintf(w, "%d,this is note number %d of the file\n", i, i)
	}
	if err := errors.Join(w.Flush(), f.Close()); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	const room = 16 << 20
	if info.Size() < 2*room {
		t.Fatalf("the file has only %d bytes", info.Size())
	}
	rt := open(t)
	run := func(text string) (string, error) {
		var out bytes.Buffer
		e, err := rt.Engine(orepl.EngineOptions{Policy: lang.AllowAll, Dir: dir, Stdout: &out, Limits: lang.Limits{Memory: room}})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		_, err = e.Run(context.Background(), "read.js", text)
		return out.String(), err
	}
	out, err := run(`import { readCSV } from 'fs'
		import { device, f32 } from 'offload'
		const x = device('cpu').buffer(f32, 1e6)
		const { rows } = await readCSV('huge.csv', { into: { x } })
		console.log(rows, await x.read(999998))
		x.free()`)
	if err != nil || out != "1000000 Float32Array(2) [ 999998, 999999 ]\n" {
		t.Errorf("into a buffer: %q, %v", out, err)
	}
	if _, err = run(`import { readCSV } from 'fs'; await readCSV('huge.csv')`); diag.Code(err) != "out-of-memory" {
		t.Errorf("as a value: %v", err)
	}
}

// TestCSVReaderStops checks that an unterminated quote does not buffer the whole file: the end of the call stops the reader.
func TestCSVReaderStops(t *testing.T) {
	dir := t.TempDir()
	text := append([]byte("x\n\""), bytes.Repeat([]byte("y, z\n"), 1<<20)...)
	if err := os.WriteFile(filepath.Join(dir, "quote.csv"), text, 0o644); err != nil {
		t.Fatal(err)
	}
	e, err := open(t).Engine(orepl.EngineOptions{Policy: lang.AllowAll, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	_, err = e.Run(context.Background(), "read.js", `import { readCSV } from 'fs'; await readCSV('quote.csv')`)
	if err == nil || !strings.Contains(diag.Format(err, false), "read quote.csv, line 2: the quote that begins here is never closed") {
		t.Errorf("%s", diag.Format(err, false))
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err = e.Run(ctx, "read.js", `import { readCSV } from 'fs'; await readCSV('quote.csv')`); diag.Code(err) != "cancelled" {
		t.Errorf("cancelled: %v", err)
	}
}
