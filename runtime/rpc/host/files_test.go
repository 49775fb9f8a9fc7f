package host

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/orepl/orepl/runtime/offload"
)

// counted counts the reads of a file.
type counted struct {
	offload.File
	reads int
}

func (c *counted) Read(data []byte) (int, error) {
	c.reads++
	return c.File.Read(data)
}

// TestLines reads lines, parts of lines and bytes behind them in few reads, and writes at the place that was read up to.
func TestLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lines")
	text := strings.Repeat("one line\n", 1000) + "the last"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	opened, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	c := &counted{File: opened}
	f := &file{File: c}
	want := func(got []byte, text string) {
		t.Helper()
		if string(got) != text {
			t.Fatalf("read %q, want %q", got, text)
		}
	}
	for range 998 {
		want(f.read(100, true), "one line\n")
	}
	if c.reads > 5 {
		t.Errorf("%d reads", c.reads)
	}
	want(f.read(4, true), "one ")
	f.back = append(f.back, 'x')
	want(f.read(6, false), "xline\n")
	if at, err := f.Seek(0, io.SeekCurrent); err != nil || at-f.kept() != 999*9 {
		t.Errorf("at %d, %v", at-f.kept(), err)
	}
	want(f.read(100, true), "one line\n")
	if f.ended {
		t.Error("ended before the end")
	}
	want(f.read(4, true), "the ")
	if n := f.write([]byte("LAST")); n != 4 || f.failed {
		t.Errorf("wrote %d", n)
	}
	if want(f.read(100, true), ""); !f.ended || f.failed {
		t.Errorf("ended %v, failed %v", f.ended, f.failed)
	}
	if data, err := os.ReadFile(path); err != nil || !strings.HasSuffix(string(data), "one line\nthe LAST") {
		t.Errorf("the file ends with %q, %v", data[max(0, len(data)-20):], err)
	}
}

// TestLinesOfAPipe writes between two reads of lines to a file that cannot seek. What was read ahead is not lost.
func TestLinesOfAPipe(t *testing.T) {
	in, feed, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	defer feed.Close()
	if _, err := feed.WriteString("one\ntwo\n"); err != nil {
		t.Fatal(err)
	}
	var written strings.Builder
	f := &file{File: both{in, &written}}
	if got := string(f.read(100, true)); got != "one\n" {
		t.Fatalf("read %q", got)
	}
	if n := f.write([]byte("hello")); n != 5 || f.failed || written.String() != "hello" {
		t.Errorf("wrote %d bytes, %q, failed %v", n, written.String(), f.failed)
	}
	if got := string(f.read(100, true)); got != "two\n" {
		t.Errorf("read %q after a write", got)
	}
}

// both reads from one file and writes elsewhere.
type both struct {
	offload.File
	to io.Writer
}

func (b both) Write(data []byte) (int, error) { return b.to.Write(data) }

// stuck has a position that cannot change.
type stuck struct{ both }

func (stuck) Seek(offset int64, _ int) (int64, error) {
	if offset != 0 {
		return 0, syscall.EIO
	}
	return 8, nil
}

func (stuck) Read(data []byte) (int, error) { return copy(data, "one\ntwo\n"), nil }

// TestWriteStuck checks that no line is written after a failed write whose file position cannot be restored.
func TestWriteStuck(t *testing.T) {
	var written strings.Builder
	f := &file{File: stuck{both{nil, &written}}}
	f.read(100, true)
	if n := f.write([]byte("hello")); n != 0 || !f.failed || written.Len() > 0 {
		t.Errorf("wrote %d bytes to the wrong place, failed %v", n, f.failed)
	}
}
