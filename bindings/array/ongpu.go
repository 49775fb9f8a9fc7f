package array

import (
	"fmt"

	"github.com/orepl/orepl/bindings/array/gpu"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/runtime/offload"
)

// host issues the launches of plans for GPUs.
type host struct {
	*Run
	real ir.Type
}

func (h host) Temp(t ir.Type, dims ...int) (Array, error) { return h.temp(t, dims...) }

func (h host) Launch(l gpu.Launch, args ...any) error {
	p := &program{name: h.op, text: l.Text, full: l.Full, real: h.real}
	for _, b := range l.Bind {
		p.with(b.Name, b.Value)
	}
	list := make([]arg, len(args))
	for i, a := range args {
		switch a := a.(type) {
		case Array:
			list[i] = in(a)
		case int:
			list[i] = i32(a)
		}
	}
	return h.launch(p, groups(l.Groups[0], l.Groups[1], l.Groups[2]), oneRow, list...)
}

// likeGPU returns the properties of the queue's device if operations run the plans for GPUs there, else nil.
func likeGPU(r *Run) *offload.DeviceInfo {
	if d := r.Queue.Device().Info(); d.Type == offload.GPU {
		return d
	}
	return r.asGPU
}

// emulated reports whether the queue's device is a processor behind a GPU's interface, on which barriers are slow.
func emulated(r *Run) bool { return r.Queue.Device().Info().Class == offload.ClassEmulated }

// passOnGPU sorts keys and indices by a digit as the plan for GPUs does. It stores them in next and at, which then are s.keys
// and s.places.
func passOnGPU(s *radix, d digit, of string, next, at Array) error {
	p := gpu.Digit{Key: s.key, Of: of, By: d.by, Pre: d.pre, Post: d.post, Shift: d.shift, Indexed: s.indexed, First: d.first}
	if d.key == ir.I32 {
		p.Places = fmt.Sprintf("place => { const by = %s; return by(0, place) }", d.by)
	}
	err := gpu.Pass(host{Run: s.Run}, p, int(s.keys.Len()), s.keys, s.places, next, at)
	s.keys, s.places = next, at
	return err
}
