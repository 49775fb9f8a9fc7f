// Package trace runs one work-item of a kernel in the interpreter and records the actions of its statements.
//
// The kernel is compiled with [kernel.Options.Trace]. The item's whole work-group runs, so that barriers and group operations
// have the results of a launch. If the kernel does not observe its group, the adjacent items run too.
//
// # Design
//
// The items of a whole group run, since one alone would wait at a barrier for ever. Marks are calls of a service, so the IR,
// its verifier and the interpreter need nothing new.
package trace

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/orepl/orepl/lang/kernel"
	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
)

// Trace is the list of one item's actions.
type Trace struct {
	Steps []Step        // in execution order; a called function's steps precede the step of the call
	Fault *interp.Fault // fault of the item, or nil
	// Ended reports whether the item completed; otherwise it faulted or was stopped.
	Ended bool
	// Cut reports whether the item was stopped because Options.Limit was reached.
	Cut bool

	kernel *ir.Kernel
	module *ir.Module
}

// Step is one execution of a statement or of its condition.
type Step struct {
	Site   int // index in [ir.Kernel.Sites]
	Depth  int // number of enclosing active steps, from calls of helper functions
	Events []Event
}

// Event is a value that was set, loaded, stored or printed.
type Event struct {
	Kind  kernel.MarkKind // MarkValue, MarkLoad, MarkStore, MarkAtomic or MarkPrint
	Name  string          // variable, "return", or "" for a condition; for accesses the array
	Index []interp.Scalar // indices of an access
	Value interp.Scalar   // the value; for MarkAtomic the old one
	Text  string          // MarkPrint

	path   []ir.Step
	record *ir.Record
}

// Options configure a run.
type Options struct {
	Races bool // detect races; see [interp.Options]
	Limit int  // maximum number of steps and events together; 0: none
}

// Run runs the group of an item and returns the item's trace. Library calls in c's module must have been expanded. l holds the
// size, group size and arguments of the launch. Its Stop ends the run early. Run sets Stop itself when the item has ended or
// the limit is reached. It returns an error for an item outside of the size, and for a launch or kernel that the interpreter
// refuses.
func Run(c *kernel.Compiled, l interp.Launch, item [3]int, o Options) (*Trace, error) {
	k := c.Kernel
	p, err := interp.Compile(k, interp.Options{Races: o.Races})
	if err != nil {
		return nil, err
	}
	t := &Trace{kernel: k, module: c.Module}
	r := &recorder{trace: t, marks: c.Marks, item: item, limit: o.Limit, stop: l.Stop}
	if r.stop == nil {
		r.stop = new(atomic.Bool)
	}
	l.Stop, l.Services, l.Watch = r.stop, r, &item
	for axis, n := range item {
		if n < 0 || n >= l.Size[axis] {
			return nil, fmt.Errorf("item %v is outside of size %v", item, l.Size)
		}
	}
	if _, err := p.Prepare(&l); err != nil {
		return nil, err
	}
	group := l.GroupOf(item)
	t.Fault = p.Run(p.NewWorker(), &l, group, group+1)
	for len(r.open) > 0 { // steps that a fault interrupted
		r.end()
	}
	return t, nil
}

// recorder implements the services of a traced launch.
type recorder struct {
	trace *Trace
	marks []kernel.Mark
	item  [3]int       // the traced item
	limit int          // maximum number of steps and events; 0 is none
	kept  int          // number of steps and events so far
	open  []Step       // steps that have begun and not ended
	stop  *atomic.Bool // ends the launch
}

// Print does nothing, because marks contain the prints.
func (r *recorder) Print(int, [3]int, string) {}

// Call records a mark of the traced item. It ignores the marks of other items, and all marks after the item's end or the trace's
// limit. It returns an error for services other than the trace's.
func (r *recorder) Call(_ int, name string, item [3]int, args []interp.Scalar, _ ir.Type) (uint64, error) {
	if name != kernel.TraceService {
		return 0, fmt.Errorf("there is no service %q in a trace", name)
	}
	if item != r.item || r.trace.Cut || r.trace.Ended {
		return 0, nil
	}
	m := &r.marks[args[0].Bits]
	args = args[1:]
	switch m.Kind {
	case kernel.MarkBegin:
		if r.count() {
			r.open = append(r.open, Step{Site: m.Site, Depth: len(r.open)})
		}
	case kernel.MarkEnd:
		r.end()
	case kernel.MarkExit:
		r.trace.Ended = true
		r.stop.Store(true) // the rest of the group is no longer needed
	case kernel.MarkValue:
		for i, name := range m.Names {
			r.add(Event{Kind: m.Kind, Name: name, Value: args[i]})
		}
	case kernel.MarkPrint:
		r.add(Event{Kind: m.Kind, Text: message(m.Text, args)})
	default:
		last := len(args) - 1
		r.add(Event{Kind: m.Kind, Name: m.Array.Name, Index: slices.Clone(args[:last]), Value: args[last],
			path: m.Path, record: m.Array.Elem.Record})
	}
	return 0, nil
}

// count counts a step or an event, and reports whether the limit allows it.
func (r *recorder) count() bool {
	if r.kept++; r.limit > 0 && r.kept > r.limit {
		r.trace.Cut = true
		r.stop.Store(true)
	}
	return !r.trace.Cut
}

func (r *recorder) add(e Event) {
	if n := len(r.open); n > 0 && r.count() {
		r.open[n-1].Events = append(r.open[n-1].Events, e)
	}
}

func (r *recorder) end() {
	n := len(r.open) - 1
	r.trace.Steps = append(r.trace.Steps, r.open[n])
	r.open = r.open[:n]
}

// Where returns the site with an index, such as [Step.Site], and its file.
func (t *Trace) Where(site int) (file string, s ir.Site) {
	s = t.kernel.Sites[site]
	return t.module.Files[s.File], s
}

// Access returns the source form of an access with the values of its indices, such as ps[3].v[1].
func (e *Event) Access() string {
	text := []byte(e.Name)
	index, record := e.Index, e.record
	for _, s := range e.path {
		if s.Kind == ir.StepField {
			f := &record.Fields[s.Field]
			text, record = append(append(text, '.'), f.Name...), f.Elem.Record
			continue
		}
		if s.Kind == ir.StepFlat {
			text = append(text, ".flat"...)
		}
		text = append(interp.AppendScalar(append(text, '['), index[0]), ']')
		index = index[1:]
	}
	return string(text)
}

// message returns the pieces of a text with the values between them.
func message(pieces []string, values []interp.Scalar) string {
	var text []byte
	for i, p := range pieces {
		text = append(text, p...)
		if i < len(values) {
			text = interp.AppendScalar(text, values[i])
		}
	}
	return string(text)
}
