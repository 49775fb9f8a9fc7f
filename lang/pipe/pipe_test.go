//go:build !windows

package pipe // Windows closes pipes instead, because they have no deadlines

import (
	"bytes"
	"io"
	"os"
	"testing"
	"time"
)

func TestWhatIsInThePipeIsReadAndNobodyElseIsWaitedFor(t *testing.T) {
	for _, waits := range []bool{true, false} { // whether the reader waits when the process ends
		in, out, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer out.Close() // kept open beyond the end of reading
		r := NewReader(in, 100*time.Millisecond)
		want := bytes.Repeat([]byte("words "), 5000)
		got := make(chan []byte)
		read := func() {
			text, err := io.ReadAll(r)
			if err != nil {
				t.Error(err)
			}
			got <- text
		}
		if waits {
			go read()
		}
		if _, err := out.Write(want); err != nil {
			t.Fatal(err)
		}
		r.End()
		if !waits {
			go read()
		}
		select {
		case text := <-got:
			if !bytes.Equal(text, want) {
				t.Errorf("waits %v: got %d bytes of %d", waits, len(text), len(want))
			}
		case <-time.After(time.Minute):
			t.Fatalf("waits %v: the reader waits for who holds the pipe", waits)
		}
		_ = r.Close()
	}
}

// TestAnotherWriterIsNotReadForEver checks that a process that keeps writing does not block the reader.
func TestAnotherWriterIsNotReadForEver(t *testing.T) {
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	go func() {
		for {
			if _, err := out.Write(make([]byte, 4096)); err != nil {
				return
			}
		}
	}()
	r := NewReader(in, time.Minute)
	r.End()
	text, err := io.ReadAll(r)
	if err != nil || len(text) > capacity {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	_ = r.Close()
}
