// Package observe describes what a runtime does, for metrics, logs and traces of the program around it.
//
// # Design
//
// A hook is one function, so the runtime depends on no system of metrics. Packages below this one adapt hooks to some systems; they
// are not linked into programs that do not use them.
package observe

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/orepl/orepl/runtime/offload"
)

// Kind is a kind of span.
type Kind string

// The kinds of spans.
const (
	Run      Kind = "run"           // a run of a pipeline, waiting for an instance included
	Reload   Kind = "reload"        // the load of a changed pipeline
	Instance Kind = "instance"      // the load of an instance of a pipeline, which chooses its device
	Load     Kind = "load"          // the first load of a library's image on a device, which may compile it
	Launch   Kind = "kernel"        // a launch on a device
	Copy     Kind = "copy"          // a copy between host and device or between devices, or a fill
	Host     Kind = "host function" // a function of the program in a queue
	Failure  Kind = "failure"       // a failed command, without a duration
)

// Span is an operation that has ended.
type Span struct {
	Kind     Kind
	Name     string // the pipeline's file, the kernel, the library, or the kind of copy, such as "write"
	Device   string // id, such as "cpu"; empty if there is none
	Owner    string // name of the engine or pipeline; empty if it has none, and for images that engines share
	Start    time.Time
	Duration time.Duration
	Bytes    int64           // of a copy
	Detail   string          // of an instance: why it has its device and no other one
	Err      error           // nil if it succeeded
	Refused  bool            // of a run: Err is the caller's fault, who passed values that do not fit
	Context  context.Context // of a run, a reload or an instance; nil for commands of devices
}

// Code returns the code of the error, such as "out-of-bounds", "error" for one without a code, and "" for none. It is "refused" for any
// error that is the caller's fault.
func (s Span) Code() string {
	switch {
	case s.Err == nil:
		return ""
	case s.Refused:
		return "refused"
	}
	var coded interface{ Code() string }
	if errors.As(s.Err, &coded) && coded.Code() != "" {
		return coded.Code()
	}
	var device *offload.Error
	if errors.As(s.Err, &device) {
		return string(device.Code)
	}
	return "error"
}

// Hook receives each span soon after its end. It is called on several goroutines at once and must return quickly. It must not
// call the runtime.
type Hook func(Span)

// All returns a hook that calls several in order. Nil hooks are left out.
func All(hooks ...Hook) Hook {
	return func(s Span) {
		for _, h := range hooks {
			if h != nil {
				h(s)
			}
		}
	}
}

// Sink passes spans to a hook and keeps the names of owners. The methods accept nil, which has no hook.
type Sink struct {
	hook  Hook
	names sync.Map // by number
}

// NewSink returns the sink of a hook, or nil for none.
func NewSink(hook Hook) *Sink {
	if hook == nil {
		return nil
	}
	return &Sink{hook: hook}
}

// Name sets the name of an owner; an empty one removes it.
func (s *Sink) Name(number uint64, name string) {
	switch {
	case s == nil:
	case name == "":
		s.names.Delete(number)
	default:
		s.names.Store(number, name)
	}
}

// Owner returns the name of an owner, or "".
func (s *Sink) Owner(number uint64) string {
	if s == nil {
		return ""
	}
	name, _ := s.names.Load(number)
	text, _ := name.(string)
	return text
}

// Send passes a span to the hook. It sets the owner's name if the number is not 0, and the start to the current time if it is
// zero.
func (s *Sink) Send(span Span, owner uint64) {
	if s == nil {
		return
	}
	if owner != 0 {
		span.Owner = s.Owner(owner)
	}
	if span.Start.IsZero() {
		span.Start = time.Now()
	}
	s.hook(span)
}
