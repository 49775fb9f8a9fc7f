// Package input implements process.stdin, by which scripts read the standard input of their program.
package input

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/heap"
	"github.com/orepl/orepl/lang/source"
)

// chunkBytes is the maximum size of a read, in bytes.
const chunkBytes = 64 << 10

// input is the standard input of an engine. Reads happen in the order of the script's calls.
type input struct {
	e     *lang.Engine
	from  io.Reader
	begun sync.Once
	parts chan part

	iterator *goja.Symbol // Symbol.asyncIterator

	last  chan struct{} // closed at the end of the newest operation; used on the loop's goroutine
	rest  []byte        // bytes that were read and not yet returned; used by the running operation, as ended is
	ended error         // the end, or a failure of the reader
}

// part is the result of a read.
type part struct {
	data []byte
	err  error
}

// Object returns the object process.stdin of an engine.
func Object(e *lang.Engine) *goja.Object {
	in := &input{e: e, from: e.Options().Stdin, parts: make(chan part), last: make(chan struct{})}
	close(in.last)
	vm := e.VM()
	if class, ok := vm.GlobalObject().Get("Symbol").(*goja.Object); ok { // a script may have replaced it
		in.iterator, _ = class.Get("asyncIterator").(*goja.Symbol)
	}
	o := vm.NewObject()
	_ = o.Set("text", e.Func("text", in.text)) // cannot fail on a new object
	_ = o.Set("bytes", e.Func("bytes", in.bytes))
	_ = o.Set("lines", e.Func("lines", in.lines))
	return o
}

func (in *input) text(goja.FunctionCall) (goja.Value, error) {
	return in.operate("process.stdin.text", func(ctx context.Context) (func() (goja.Value, error), error) {
		data, err := in.all(ctx)
		if err == nil {
			err = check("process.stdin.text", data)
		}
		return func() (goja.Value, error) { return in.e.VM().ToValue(string(data)), nil }, err
	}), nil
}

func (in *input) bytes(goja.FunctionCall) (goja.Value, error) {
	return in.operate("process.stdin.bytes", func(ctx context.Context) (func() (goja.Value, error), error) {
		data, err := in.all(ctx)
		return func() (goja.Value, error) { return in.e.TypedArray("Uint8Array", data) }, err
	}), nil
}

const linesName = "process.stdin.lines"

// lines returns an asynchronous iterator of the lines.
func (in *input) lines(goja.FunctionCall) (goja.Value, error) {
	vm := in.e.VM()
	step := func(line string, done bool) (goja.Value, error) {
		o := vm.NewObject()
		if !done {
			_ = o.Set("value", line)
		}
		return o, o.Set("done", done)
	}
	o := vm.NewObject()
	over := false
	_ = o.Set("next", in.e.Func("next", func(goja.FunctionCall) (goja.Value, error) {
		if over {
			done, err := step("", true)
			return in.e.Resolved(done), err
		}
		if line, ok := in.readLine(); ok {
			if err := check(linesName, line); err != nil {
				return in.e.Rejected(err), nil
			}
			next, err := step(string(line), false)
			return in.e.Resolved(next), err
		}
		return in.operate(linesName, func(ctx context.Context) (func() (goja.Value, error), error) {
			line, done, err := in.line(ctx)
			if err == nil {
				err = check(linesName, line)
			}
			return func() (goja.Value, error) { return step(string(line), done) }, err
		}), nil
	}))
	_ = o.Set("return", in.e.Func("return", func(goja.FunctionCall) (goja.Value, error) { // a loop ends early
		over = true
		done, err := step("", true)
		return in.e.Resolved(done), err
	}))
	if in.iterator == nil {
		return o, nil
	}
	return o, o.SetSymbol(in.iterator, in.e.Func("[Symbol.asyncIterator]", func(goja.FunctionCall) (goja.Value, error) { return o, nil }))
}

// operate runs a read after those that began before it, and returns a promise of its result.
func (in *input) operate(label string, read func(context.Context) (func() (goja.Value, error), error)) goja.Value {
	if in.from == nil {
		return in.e.Rejected(diag.New("permission-denied", "%s: this program passes no standard input to its scripts", label).
			WithHint("orepl run passes its own; a Go program sets EngineOptions.Stdin"))
	}
	before, over := in.last, make(chan struct{})
	in.last = over
	return in.e.Async(label, func(ctx context.Context) (func() (goja.Value, error), error) {
		select {
		case <-before:
		case <-ctx.Done():
			go func() { <-before; close(over) }()
			return nil, context.Cause(ctx)
		}
		defer close(over)
		finish, err := read(ctx)
		if err != nil && ctx.Err() == nil {
			if _, known := err.(*diag.Diagnostic); !known {
				err = &diag.Diagnostic{ID: "io-error", Message: label + ": the standard input " + err.Error(), Cause: err}
			}
		}
		return finish, err
	})
}

// all reads to the end.
func (in *input) all(ctx context.Context) ([]byte, error) {
	return heap.ReadAll(ctx, reader{in, ctx}, 0, in.e.Options().Limits.Memory)
}

// readLine returns a line that was read with an earlier one, or false if a read is in progress or no whole line is left. It
// must be called on the loop's goroutine.
func (in *input) readLine() (line []byte, ok bool) {
	select {
	case <-in.last: // no operation uses rest
		return in.cut(0)
	default:
		return nil, false
	}
}

// cut takes the first line from rest, without its line break. There is no line break before from. It returns false if there
// is none behind it either.
func (in *input) cut(from int) (line []byte, ok bool) {
	at := bytes.IndexByte(in.rest[from:], '\n')
	if at < 0 {
		return nil, false
	}
	line, in.rest = in.rest[:from+at], in.rest[from+at+1:]
	return bytes.TrimSuffix(line, []byte("\r")), true
}

// line reads a line without its terminator, \n or \r\n. done is set if no line is left.
func (in *input) line(ctx context.Context) (line []byte, done bool, err error) {
	for from := 0; ; {
		if line, ok := in.cut(from); ok {
			return line, false, nil
		}
		from = len(in.rest)
		if limit := in.e.Options().Limits.Memory; limit > 0 && uint64(from) > limit {
			return nil, false, diag.New("out-of-memory", linesName+": a line is longer than the memory limit of %s", heap.Text(limit))
		}
		if err := in.read(ctx); err == io.EOF {
			line, in.rest = in.rest, nil
			return line, len(line) == 0, nil
		} else if err != nil {
			return nil, false, err
		}
	}
}

// read appends bytes to rest, or returns why there are none: the end of the input, a failure of the reader, or that of ctx.
func (in *input) read(ctx context.Context) error {
	if in.ended != nil {
		return in.ended
	}
	in.begun.Do(func() { go in.pump() })
	select {
	case p := <-in.parts:
		in.rest = append(in.rest, p.data...)
		if in.ended = p.err; len(p.data) > 0 {
			return nil
		}
		return p.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// pump reads while the engine is open. A read of a terminal or a pipe cannot be cancelled, so operations do not read themselves.
func (in *input) pump() {
	for {
		data := make([]byte, chunkBytes)
		n, err := in.from.Read(data)
		if err != nil && err != io.EOF {
			var failed *fs.PathError
			if errors.As(err, &failed) {
				err = failed.Err
			}
			err = fmt.Errorf("cannot be read: %w", err)
		}
		select {
		case in.parts <- part{data[:n], err}:
		case <-in.e.Context().Done():
			return
		}
		if err != nil {
			return
		}
	}
}

// reader reads an input until a context ends.
type reader struct {
	*input
	ctx context.Context
}

// Read implements [io.Reader].
func (r reader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		if err := r.read(r.ctx); err != nil {
			return 0, err
		}
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// check returns an error for bytes that are not UTF-8.
func check(name string, data []byte) error {
	if d := source.CheckEncoding("stdin", string(data)); d != nil {
		d.Message = name + ": " + d.Message
		return d.WithHint("decode the bytes: new TextDecoder('latin1').decode(await process.stdin.bytes())")
	}
	return nil
}
