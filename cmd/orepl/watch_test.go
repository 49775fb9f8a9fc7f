package main

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestWatch edits an import, then a data file, then stops an endless script, and waits for the following run each time.
func TestWatch(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("main.js", `import { word } from './word.js'
import fs from 'fs'
console.log('run:', word, fs.readTextSync('data.txt'))
fs.writeTextSync('result.txt', String(Math.random()))
fs.readTextSync('result.txt')
await process.run('true')
if (word === 'endless') for (;;);
`)
	write("word.js", `export const word = 'one'`)
	write("data.txt", "a")
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	orepl := filepath.Join(t.TempDir(), "orepl")
	if err := os.Symlink(exe, orepl); err != nil { // the test binary acts as the command under this name
		t.Fatal(err)
	}
	cmd := exec.Command(orepl, "run", "--watch", "main.js")
	cmd.Dir = dir
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := make(chan string)
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(io.Reader(out)); s.Scan(); {
			lines <- s.Text()
		}
	}()
	expect := func(want string) {
		t.Helper()
		end := time.After(time.Minute)
		for {
			select {
			case line, ok := <-lines:
				if !ok {
					t.Fatalf("the command ended before %q", want)
				}
				if strings.Contains(line, want) {
					return
				}
			case <-end:
				t.Fatalf("no %q", want)
			}
		}
	}
	expect("run: one a")
	expect("waiting for a change")
	write("word.js", `export const word = 'second'`)
	expect("word.js changed")
	expect("run: second a")
	expect("waiting for a change")
	write("data.txt", "bb")
	expect("run: second bb")
	expect("waiting for a change")
	write("word.js", `export const word = `)
	expect("syntax")
	expect("waiting for a change")
	write("word.js", `export const word = 'endless'`)
	expect("run: endless bb")
	write("word.js", `export const word = 'last one'`)
	expect("run: last one bb")
	expect("waiting for a change")
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 130 {
		t.Errorf("%v", err)
	}
}
