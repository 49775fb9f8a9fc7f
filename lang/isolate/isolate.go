// Package isolate runs a script engine in a child process behind the engine's own calls: Run, RunFile, Import and Eval.
// Some operations of the interpreter cannot be interrupted, and fatal errors of Go cannot be caught. The end of the child
// process ends both: the host survives, in bounded time, with an error that describes the cause.
//
// The child is the same program, started again. It must call [Serve] first thing in main:
//
//	func main() {
//		isolate.Serve(func(o lang.Options) (*lang.Engine, func() error, error) { … })
//		… the program itself …
//	}
//
// Serve returns at once in the program itself, and never in a child. Values do not cross the border, their JSON does.
package isolate

import (
	"encoding/json"
	"errors"

	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
)

// childVariable distinguishes a child from the program itself.
const childVariable = "OREPL_ISOLATED_CHILD"

// A config is the first message to a child: the part of the options that can cross the border.
type config struct {
	Args        []string
	Env         map[string]string
	Dir         string
	Prompt      bool
	Colors      bool
	NoWarnings  bool
	Limits      lang.Limits
	AskRead     bool // the host has a policy for reading: ask it
	AskWrite    bool
	AskRun      bool
	AskNative   bool
	TellErrors  bool   // the host takes the errors that belong to no call
	MemoryBound uint64 // of the process, in bytes; 0: none
	ResultBytes int    // of the JSON of a result: more need not be sent
}

// A bound is how large a result may be: the host keeps it, so it counts as the script's memory.
type bound struct {
	bytes  int // of its JSON
	values int // in its JSON: each is an object of the host's interpreter
}

// defaultResultBytes bounds a result where memory is not limited.
const defaultResultBytes = 64 << 20

// bytesPerValue is the part of the bound on bytes that each value uses: the interpreter's size of a number in an array.
const bytesPerValue = 16

func resultBound(l lang.Limits) bound {
	bytes := defaultResultBytes
	if l.Memory > 0 {
		bytes = int(min(l.Memory, maxFrame))
	}
	return bound{bytes, bytes / bytesPerValue}
}

// check refuses a result that is too large.
func (b bound) check(result []byte) error {
	const hint = "give less at a time, write it to a file, or change the memory limit, which bounds results (without one they have 64 MiB)"
	if len(result) > b.bytes {
		return diag.New("out-of-resources", "the result has more than the %d bytes of JSON that an isolated engine may give", b.bytes).WithHint(hint)
	}
	if countValues(result) > b.values {
		return diag.New("out-of-resources", "the result has more than the %d values that an isolated engine may give", b.values).WithHint(hint)
	}
	return nil
}

// countValues counts the values in JSON, itself included. Empty arrays and objects count twice.
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
	Name      string // of the text, the path of a file, or the import
	Text      string
	Allowed   bool   // the answer to a question
	Reason    string // why not
	QuestionN int    // which question
}

type operation string

const (
	opRun    operation = "run"
	opFile   operation = "file"
	opImport operation = "import"
	opEval   operation = "eval"
	opCancel operation = "cancel" // the call with the ID
	opAnswer operation = "answer" // to a question about a file
	opClose  operation = "close"
)

// A reply is a message from the child: the end of a call, an error of none, or a question.
type reply struct {
	ID     int
	Ready  bool // the child is up
	Result json.RawMessage
	Error  *failure
	Status int // the script's process.exitCode

	Background *failure // an error that belongs to no call

	Question  string // "read" or "write"; empty if this is no question
	Path      string
	QuestionN int
}

// A failure is an error that crosses the border.
type failure struct {
	Exit    *int // the script asked to end with this status
	Message string
	Code    string
	Hint    string
	Report  *report // further fields of a diagnostic
}

// A report is a diagnostic that crosses the border: its cause is a diagnostic or a text.
type report struct {
	Diagnostic diag.Diagnostic
	Cause      *failure
}

func newFailure(err error) *failure {
	if err == nil {
		return nil
	}
	var exit *lang.ExitError
	if errors.As(err, &exit) {
		return &failure{Exit: &exit.Code, Message: exit.Error()}
	}
	var known *diag.Diagnostic
	if errors.As(err, &known) {
		d := *known
		d.Cause, d.Thrown = nil, nil
		return &failure{Message: err.Error(), Report: &report{Diagnostic: d, Cause: newFailure(known.Cause)}}
	}
	return &failure{Message: err.Error(), Code: diag.Code(err), Hint: diag.Hint(err)}
}

// A remoteError is an error of the child that is no diagnostic.
type remoteError struct{ message, code, hint string }

func (e *remoteError) Error() string { return e.message }
func (e *remoteError) Code() string  { return e.code }
func (e *remoteError) Hint() string  { return e.hint }

func (f *failure) err() error {
	switch {
	case f == nil:
		return nil
	case f.Exit != nil:
		return &lang.ExitError{Code: *f.Exit}
	case f.Report == nil:
		return &remoteError{f.Message, f.Code, f.Hint}
	}
	d := f.Report.Diagnostic
	d.Cause = f.Report.Cause.err()
	return &d
}
