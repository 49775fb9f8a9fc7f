package array

import (
	"github.com/orepl/orepl/bindings/array/built"
	"github.com/orepl/orepl/lang/kernel"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// Sequence holds the commands of an operation. It issues them again for other arrays of the same types and shapes, without
// compiling kernels, checking shapes and describing launches again. It is not safe for concurrent use.
type Sequence struct {
	inputs   int
	slots    []slot
	commands []command
	kernels  []*built.Kernel
	result   int // slot; -1 without a result
	elem     ir.Elem

	arrays []*session.Buffer // by slot, while the commands are issued
	args   []session.Arg
	busy   bool
}

// slot is an array of a sequence: an input, a new array, or a part of another one.
type slot struct {
	opts   session.BufferOptions // of a new array
	result bool                  // the label is that of the result
	of     int                   // slot of the array with the memory; its own for an input and a new array
	view   session.ViewOptions   // of a part; without extents for the whole array
}

// command is a command of a sequence: a new array, a launch, a copy or a fill.
type command struct {
	kind    commandKind
	to      int // slot
	from    int
	pattern []byte
	call    *session.Call
	config  session.Config
	args    []argument
}

type commandKind int

const (
	allocates commandKind = iota
	launches
	copies
	fills
)

// argument is an argument of a launch: an array, a value, or a number of the caller.
type argument struct {
	slot  int // -1 for a value or number
	value session.Arg
	place int // of a number, from 1
	param *kernel.Param
}

// recorder records the commands of an operation. A nil recorder records nothing.
type recorder struct {
	sequence *Sequence
	places   map[*session.Buffer]int
	failed   bool // a command cannot be recorded
}

// Record records the commands until [Run.Recorded]. The inputs are different arrays that are stored.
func (r *Run) Record(inputs []Array) {
	r.records = &recorder{sequence: &Sequence{inputs: len(inputs), result: -1}, places: map[*session.Buffer]int{}}
	for i, a := range inputs {
		r.records.places[a.Buffer] = i
		r.records.sequence.slots = append(r.records.sequence.slots, slot{of: i})
	}
}

// Recorded ends the record. It returns the commands, or nil if they depend on more than the types and shapes of the inputs.
// result is that of the operation, an input or an array that the commands make, or the zero Array.
func (r *Run) Recorded(result Array) *Sequence {
	rec := r.records
	r.records = nil
	if rec == nil || rec.failed {
		return nil
	}
	s := rec.sequence
	if result.Buffer != nil {
		at, ok := rec.places[result.Buffer]
		if !ok {
			return nil
		}
		s.result, s.elem = at, result.Elem
	}
	s.arrays = make([]*session.Buffer, len(s.slots))
	return s
}

func (c *recorder) fail() {
	if c != nil {
		c.failed = true
	}
}

// place returns the slot of an array. The record fails if the array has none.
func (c *recorder) place(b *session.Buffer) int {
	at, ok := c.places[b]
	if !ok {
		c.failed = true
	}
	return at
}

// add adds s as the slot of the array b, and returns the slot's number.
func (c *recorder) add(b *session.Buffer, s slot) int {
	at := len(c.sequence.slots)
	if s.view.Dims == nil {
		s.of = at
	}
	c.sequence.slots, c.places[b] = append(c.sequence.slots, s), at
	return at
}

func (c *recorder) allocated(b *session.Buffer, opts session.BufferOptions, result bool) {
	if c == nil {
		return
	}
	opts.Queue, opts.Pos, opts.Context = nil, offload.Position{}, nil
	at := c.add(b, slot{opts: opts, result: result})
	c.sequence.commands = append(c.sequence.commands, command{kind: allocates, to: at})
}

func (c *recorder) viewed(v, of *session.Buffer) {
	if c == nil {
		return
	}
	root := c.sequence.slots[c.place(of)].of
	for b, at := range c.places {
		if at != root {
			continue
		}
		_, begin, _, _ := b.Memory()
		_, offset, _, _ := v.Memory()
		opts := session.ViewOptions{Start: (offset - begin) / int64(b.Elem()), Dims: v.Dims(), Type: v.Type(), Elem: v.Elem()}
		c.add(v, slot{of: root, view: opts})
		return
	}
	c.failed = true
}

func (c *recorder) copied(to, from *session.Buffer) {
	if c != nil {
		c.sequence.commands = append(c.sequence.commands, command{kind: copies, to: c.place(to), from: c.place(from)})
	}
}

func (c *recorder) filled(b *session.Buffer, pattern []byte) {
	if c != nil {
		c.sequence.commands = append(c.sequence.commands, command{kind: fills, to: c.place(b), pattern: pattern})
	}
}

func (c *recorder) launched(k *built.Kernel, call *session.Call, cfg session.Config, args []arg, values []session.Arg) {
	if c == nil {
		return
	}
	l := command{kind: launches, call: call, config: cfg}
	for i, a := range args {
		v := argument{slot: -1, value: values[i], place: a.place, param: &k.Params[i]}
		if a.array.Buffer != nil {
			v.slot = c.place(a.array.Buffer)
		}
		l.args = append(l.args, v)
	}
	c.sequence.commands = append(c.sequence.commands, l)
	c.sequence.kernels = append(c.sequence.kernels, k)
	call.Unbind() // the buffers of this run
}

// Len returns the number of commands.
func (s *Sequence) Len() int { return len(s.commands) }

// Issue issues the commands for other inputs, and for numbers in the order of their places. ok is false if the caller has to run
// the operation instead: nothing has happened then. If a command fails, ok is true and the new arrays are freed.
func (s *Sequence) Issue(r *Run, inputs []*session.Buffer, numbers []float64) (result Array, ok bool, err error) {
	if s.busy || len(inputs) != s.inputs || r.Queue.Watched() || !r.cache.Keep(s.kernels) {
		return Array{}, false, nil
	}
	for _, b := range inputs {
		if b.Freed() || b.Device() != r.Queue.Device() {
			return Array{}, false, nil
		}
	}
	for i := range s.commands {
		for k := range s.commands[i].args {
			if a := &s.commands[i].args[k]; a.place > 0 && a.param.CheckNumber(numbers[a.place-1]) != nil {
				return Array{}, false, nil
			}
		}
	}
	s.busy = true
	copy(s.arrays, inputs)
	defer s.end()
	for i := range s.commands {
		if err := s.issue(r, &s.commands[i], numbers); err != nil {
			return Array{}, true, err
		}
	}
	if s.result < 0 {
		return Array{}, true, nil
	}
	b, err := s.array(s.result, r.Label)
	s.arrays[s.slots[s.result].of] = nil // which end does not free
	return Array{Buffer: b, Elem: s.elem}, true, err
}

// end ends an issue: it frees the new arrays except the result, which Issue has removed from s.arrays, and clears s.arrays and
// s.args.
func (s *Sequence) end() {
	for i, b := range s.arrays {
		if b != nil && i >= s.inputs {
			_ = b.Free() // the commands keep the memory
		}
	}
	clear(s.arrays)
	clear(s.args)
	s.busy = false
}

// array returns the array of a slot. For a part it makes a view with the label.
func (s *Sequence) array(at int, label string) (*session.Buffer, error) {
	c := &s.slots[at]
	b := s.arrays[c.of]
	if c.view.Dims == nil {
		return b, nil
	}
	opts := c.view
	opts.Label = label
	return b.View(opts)
}

func (s *Sequence) issue(r *Run, c *command, numbers []float64) error {
	switch c.kind {
	case allocates:
		slot := &s.slots[c.to]
		opts := slot.opts
		if opts.Queue, opts.Pos = r.Queue, r.Pos; slot.result {
			opts.Label = r.Label
		}
		b, err := r.Host.NewBuffer(r.Queue.Device(), opts)
		s.arrays[c.to] = b
		return err
	case launches:
		return s.launch(r, c, numbers)
	}
	to, err := s.array(c.to, "")
	if err != nil {
		return err
	}
	if c.kind == fills {
		return r.Queue.Fill(to, c.pattern)
	}
	from, err := s.array(c.from, "")
	if err != nil {
		return err
	}
	return r.Queue.Copy(to, from)
}

func (s *Sequence) launch(r *Run, c *command, numbers []float64) error {
	s.args = s.args[:0]
	for i := range c.args {
		a := &c.args[i]
		v := a.value
		switch {
		case a.slot >= 0:
			b, err := s.array(a.slot, "")
			if err != nil {
				return err
			}
			v = session.Buf(b)
		case a.place > 0:
			t, _ := v.Scalar()
			v = session.Bits(t, numberBits(a.param.Type, numbers[a.place-1]))
		}
		s.args = append(s.args, v)
	}
	cfg := c.config
	cfg.Pos = r.Pos
	if err := c.call.Rebind(cfg, s.args...); err != nil {
		return err
	}
	err := r.Host.Launch(r.Queue, c.call)
	c.call.Unbind()
	return err
}
