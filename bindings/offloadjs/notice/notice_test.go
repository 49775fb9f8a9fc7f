package notice

import (
	"bytes"
	"testing"
	"time"
)

// screen is a terminal that reports each write.
type screen struct{ written chan string }

func (s screen) Write(b []byte) (int, error) { s.written <- string(b); return len(b), nil }

func (screen) Size() (columns, rows int) { return 80, 24 }

func TestAfter(t *testing.T) {
	s := screen{make(chan string, 1)}
	defer After(s, 0, "it compiles")()
	if got := <-s.written; got != "it compiles\n" {
		t.Errorf("written %q", got)
	}
	After(s, time.Hour, "never")()
	var file bytes.Buffer
	After(&file, 0, "never")()
	if file.Len() > 0 || len(s.written) > 0 {
		t.Errorf("a file got %q", file.String())
	}
}
