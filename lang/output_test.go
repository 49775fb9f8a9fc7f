package lang_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/orepl/orepl/lang"
)

// writes counts the calls of Write and records the text.
type writes struct {
	mu    sync.Mutex
	text  bytes.Buffer
	calls int
}

func (w *writes) Write(data []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls++
	return w.text.Write(data)
}

func (w *writes) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// TestPrintLine checks that lines of several goroutines are complete and in order, with few writes.
func TestPrintLine(t *testing.T) {
	var w writes
	e, err := lang.New(lang.Options{Stdout: &w})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	const items, lines = 4, 25_000
	var all sync.WaitGroup
	for i := range items {
		all.Go(func() {
			for k := range lines {
				e.PrintLine(fmt.Sprint(i, " ", k))
			}
		})
	}
	all.Wait()
	e.Flush()
	var next [items]int
	for line := range strings.Lines(w.String()) {
		var i, k int
		if n, err := fmt.Sscanf(line, "%d %d\n", &i, &k); n != 2 || err != nil || next[i] != k {
			t.Fatalf("the line %q after %v", line, next)
		}
		next[i]++
	}
	if next != [items]int{lines, lines, lines, lines} {
		t.Errorf("%v lines", next)
	}
	if w.calls > 2000 {
		t.Errorf("%d writes", w.calls)
	}
}

// TestPrintLineOrder prints lines between other text, before an error, and without anything after them.
func TestPrintLineOrder(t *testing.T) {
	var w writes
	e, err := lang.New(lang.Options{Stdout: &w, Stderr: &w})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(e.Options().Stdout, "a")
	e.PrintLine("b")
	fmt.Fprintln(e.Options().Stdout, "c")
	e.PrintLine("d")
	fmt.Fprintln(e.Options().Stderr, "e")
	e.PrintLine("f")
	if e.Terminal() != &w || w.String() != "a\nb\nc\nd\ne\nf\n" {
		t.Errorf("printed %q", w.String())
	}
	e.PrintLine("g")
	if _, err := e.Run(context.Background(), "x.js", "throw new Error('wrong')"); err == nil || !strings.HasSuffix(w.String(), "g\n") {
		t.Errorf("%v, printed %q", err, w.String())
	}
	e.PrintLine("h")
	for end := time.Now().Add(time.Minute); !strings.HasSuffix(w.String(), "h\n"); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("printed %q", w.String())
		}
	}
	e.PrintLine("i")
	if err := e.Close(); err != nil || !strings.HasSuffix(w.String(), "i\n") {
		t.Errorf("%v, printed %q", err, w.String())
	}
	if e.PrintLine("j"); !strings.HasSuffix(w.String(), "j\n") {
		t.Errorf("after Close: %q", w.String())
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { panic(errors.New("a writer that panics")) }

// TestPrintLineToABrokenWriter checks that a writer that panics does not end the process, and that its failure is reported
// once.
func TestPrintLineToABrokenWriter(t *testing.T) {
	e, err := lang.New(lang.Options{Stdout: broken{}})
	if err != nil {
		t.Fatal(err)
	}
	const want = "print lines of kernels: the writer panicked: a writer that panics"
	e.PrintLine("x")
	time.Sleep(50 * time.Millisecond)
	if _, err := e.Run(t.Context(), "x.js", ""); err == nil || err.Error() != want {
		t.Errorf("Run returned %v", err)
	}
	e.PrintLine("y")
	if err := e.Close(); err == nil || err.Error() != want {
		t.Errorf("Close returned %v", err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

// TestPrintLineBesideErrors prints to a writer that is Stderr, too, from two goroutines.
func TestPrintLineBesideErrors(t *testing.T) {
	var w bytes.Buffer
	e, err := lang.New(lang.Options{Stdout: &w, Stderr: &w})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 10000 {
			e.PrintLine("a line")
		}
	}()
	for range 1000 {
		fmt.Fprintln(e.Options().Stderr, "an error")
	}
	<-done
	if err := e.Close(); err != nil || w.Len() != 10000*7+1000*9 {
		t.Errorf("%d bytes, %v", w.Len(), err)
	}
}
