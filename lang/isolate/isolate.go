// Package isolate runs a script engine in a child process behind the engine's own calls: Run, RunFile, Import and Eval. Some
// operations of the interpreter cannot be interrupted, and fatal errors of Go cannot be caught. Either may end the child
// process; the host survives, in bounded time, with an error that describes the cause.
//
// The child is another process of the same program, which must call [Serve] first in main:
//
//	func main() {
//		isolate.Serve(func(s isolate.Setup) (isolate.Served, error) { … })
//		… the program itself …
//	}
//
// Serve returns immediately in the program itself, and never in a child. Results are passed between the processes as JSON. A
// program may add calls of its own, see [Engine.Handle], whose data is in a [Memory] that both processes map.
//
// # Design
//
// The bound on memory is RLIMIT_DATA, which counts writable private memory. Go and drivers reserve too many addresses for a
// bound on the address space.
package isolate

import (
	"encoding/json"
	"errors"

	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
)

// childVariable is the environment variable that marks a child process.
const childVariable = "OREPL_ISOLATED_CHILD"

// A config is the first message to a child: the options that can be serialized.
type config struct {
	Args        []string
	Env         map[string]string
	Dir         string
	Prompt      bool
	Colors      bool
	NoWarnings  bool
	Limits      lang.Limits
	AskRead     bool // the host has a read policy, which the child must query
	AskWrite    bool
	AskRun      bool
	AskNative   bool
	AskDevice   bool
	Plugins     []string        // of the policy
	Shared      bool            // the child has a memory that it shares with the host
	Program     json.RawMessage // see Config
	Input       bool            // the script reads the standard input, which both processes share
	TellErrors  bool            // the host receives errors that belong to no call
	MemoryBound uint64          // maximum memory of the process in bytes; 0: no maximum
	ResultBytes int             // maximum size of a result's JSON in bytes
}

// A bound is the maximum size of a result. The host stores the result, so it counts towards the script's memory.
type bound struct {
	bytes  int // size of the JSON
	values int // number of JSON values, each of which becomes an object in the host's interpreter
}

// defaultResultBytes is the maximum size of a result in bytes if memory is unlimited.
const defaultResultBytes = 64 << 20

// bytesPerValue is the memory per value of a result: the interpreter's size of a number in an array.
const bytesPerValue = 16

func resultBound(l lang.Limits) bound {
	bytes := defaultResultBytes
	if l.Memory > 0 {
		bytes = int(min(l.Memory, maxFrame))
	}
	return bound{bytes, bytes / bytesPerValue}
}

// check returns an error if a result is too large.
func (b bound) check(result []byte) error {
	const hint = "give less at a time, write it to a file, or change the memory limit, which bounds results (without one they have 64 MiB)"
	if len(result) > b.bytes {
		return diag.New("out-of-resources", "the result has more than the %d bytes of JSON that an isolated engine may return", b.bytes).WithHint(hint)
	}
	if countValues(result) > b.values {
		return diag.New("out-of-resources", "the result has more than the %d values that an isolated engine may return", b.values).WithHint(hint)
	}
	return nil
}

// countValues returns the number of values in a JSON text, including the text's own. Empty arrays and objects count twice.
func countValues(text []byte) int {
	n, quoted := 1, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case !quoted && (c == ',' || c == '[' || c == '{'):
			n++
		}
	}
	return n
}

// A request is a message from the host.
type request struct {
	ID        int
	Op        operation
	Name      string // name of the text, path of the file, or import specifier
	Text      string
	Body      json.RawMessage // of a program's own call
	Allowed   bool            // the answer to a policy query
	Reason    string          // reason of a denial
	QuestionN int             // number of the query
}

type operation string

const (
	opRun    operation = "run"
	opFile   operation = "file"
	opImport operation = "import"
	opEval   operation = "eval"
	opHandle operation = "handle" // a call of the program
	opCancel operation = "cancel" // cancels the call with the ID
	opAnswer operation = "answer" // answers a policy query
	opClose  operation = "close"
)

// A reply is a message from the child: the end of a call, a background error, or a policy query.
type reply struct {
	ID     int
	Ready  bool // the child has started
	Result json.RawMessage
	Error  *Failure
	Status int // the script's process.exitCode

	Background *Failure // an error that belongs to no call

	Question  string // such as "read"; empty if this is not a query
	Path      string
	QuestionN int
}

// A Failure is the serialized form of an error.
type Failure struct {
	Exit    *int // exit status, if the script called exit
	Message string
	Code    string
	Hint    string
	Report  *report    // further fields of a diagnostic
	Joined  []*Failure // of joined errors
}

// A report is the serialized form of a diagnostic, whose cause is a diagnostic or a text.
type report struct {
	Diagnostic diag.Diagnostic
	Cause      *Failure
}

// NewFailure returns the serialized form of an error, or nil for nil.
func NewFailure(err error) *Failure {
	if err == nil {
		return nil
	}
	if all, joined := err.(interface{ Unwrap() []error }); joined {
		f := &Failure{Message: err.Error()}
		for _, one := range all.Unwrap() {
			f.Joined = append(f.Joined, NewFailure(one))
		}
		return f
	}
	var exit *lang.ExitError
	if errors.As(err, &exit) {
		return &Failure{Exit: &exit.Code, Message: exit.Error()}
	}
	var known *diag.Diagnostic
	if errors.As(err, &known) {
		d := *known
		d.Cause, d.Thrown = nil, nil
		return &Failure{Message: err.Error(), Report: &report{Diagnostic: d, Cause: NewFailure(known.Cause)}}
	}
	return &Failure{Message: err.Error(), Code: diag.Code(err), Hint: diag.Hint(err)}
}

// A remoteError is an error of the child that is not a diagnostic.
type remoteError struct{ message, code, hint string }

func (e *remoteError) Error() string { return e.message }
func (e *remoteError) Code() string  { return e.code }
func (e *remoteError) Hint() string  { return e.hint }

// Err returns the error that f describes, or nil for nil. It is a [lang.ExitError], a diagnostic, a list of diagnostics, joined errors, or
// an error with a code and a hint.
func (f *Failure) Err() error {
	switch {
	case f == nil:
		return nil
	case f.Joined != nil:
		all := make([]error, len(f.Joined))
		var list diag.List
		for i, one := range f.Joined {
			all[i] = one.Err()
			if d, ok := all[i].(*diag.Diagnostic); ok {
				list = append(list, d)
			}
		}
		if len(list) == len(all) {
			return list
		}
		return errors.Join(all...)
	case f.Exit != nil:
		return &lang.ExitError{Code: *f.Exit}
	case f.Report == nil:
		return &remoteError{f.Message, f.Code, f.Hint}
	}
	d := f.Report.Diagnostic
	d.Cause = f.Report.Cause.Err()
	return &d
}
