package isolate

import (
	"io"
	"os"
	"reflect"
	"sync"
)

// takeTurns returns writers for a child's output and errors, which different goroutines write. If out and errs are the same
// writer, the results call it one at a time. If out is a file, both are returned as they are: the child writes to a file
// itself.
func takeTurns(out, errs io.Writer) (io.Writer, io.Writer) {
	if _, file := out.(*os.File); file || !same(out, errs) {
		return out, errs
	}
	shared := &turns{to: out}
	return shared, shared
}

// same reports whether two writers are equal. Writers of types that Go cannot compare are not.
func same(a, b io.Writer) bool {
	return reflect.ValueOf(a).Comparable() && reflect.ValueOf(b).Comparable() && a == b
}

// turns is a writer that is called by one goroutine at a time.
type turns struct {
	mu sync.Mutex
	to io.Writer
}

func (t *turns) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.to.Write(p)
}
