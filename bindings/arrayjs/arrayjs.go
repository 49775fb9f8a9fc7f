// Package arrayjs offers the operations of package bindings/array to scripts: as methods of buffers and devices, and as the
// module 'array'.
package arrayjs

import (
	"errors"
	"sync"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings"
	"github.com/orepl/orepl/bindings/array"
	"github.com/orepl/orepl/bindings/offloadjs"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// Extension returns the methods of buffers and devices that run the operations.
func Extension(ops *array.Ops) offloadjs.Extension {
	return offloadjs.Extension{
		Types:  types,
		Buffer: sync.OnceValue(func() []offloadjs.BufferMethod { return bufferMethods(ops) }),
		Device: sync.OnceValue(func() (list []offloadjs.DeviceMethod) {
			for _, c := range constructors() {
				list = append(list, c.device(ops))
			}
			return list
		}),
	}
}

func bufferMethods(ops *array.Ops) (all []offloadjs.BufferMethod) {
	s := &operations{ops: ops, joins: map[string]*method{}}
	for _, list := range [][]method{elementwise(), reductions(), scans(), gathers(), parts(), sorts(), matrices()} {
		for i := range list {
			m := &list[i]
			s.count++
			if m.number = s.count; m.joins {
				s.joins[m.Name] = m
			}
			all = append(all, m.buffer(s))
		}
	}
	return all
}

// operations holds the operations of a session, and the methods of buffers that take joined arrays.
type operations struct {
	ops   *array.Ops
	joins map[string]*method // those that take joined arrays
	count int
}

// types holds the TypeScript declarations that the entries refer to.
const types = `
/** The options of array operations: the queue of the launches, by default that of the device, and the label of the result. */
interface ArrayOptions { queue?: Queue; label?: string }
/** The type of a result: that of the function's value by default. */
interface MapOptions extends ArrayOptions { type?: Type }
/** The axis of a reduction: its number; a negative number counts from the last axis. keepDims keeps reduced axes, with the extent 1. */
interface AxisOptions extends ArrayOptions { axis?: number; keepDims?: boolean }
/** The axes of a reduction. Several ones are reduced as one, in row-major order. */
interface AxesOptions extends ArrayOptions { axis?: number | readonly number[]; keepDims?: boolean }
/** The order in which elements are combined: that of their indices by default. */
interface ReduceOptions extends AxesOptions { order?: 'fixed' | 'any' }
/** A sum of elements: a bigint for elements of 64-bit integers. */
type Total<T> = 0 extends 1 & T ? any : T extends 'i64' | 'u64' ? bigint : number
/** A product of arrays of R and Q dimensions: of two vectors a number. */
type Product<R, Q> = 0 extends 1 & R ? Buffer : 0 extends 1 & Q ? Buffer : [R, Q] extends [1, 1] ? Promise<number> : Buffer
/** The order of a sort. */
interface SortOptions extends ArrayOptions { axis?: number; descending?: boolean }
/** The seed of random numbers and their range, or for normal() their mean and standard deviation. Without a seed, each call uses a different one. */
interface RandomOptions extends ArrayOptions { seed?: number; from?: number; to?: number }
interface NormalOptions extends ArrayOptions { seed?: number; mean?: number; deviation?: number }
`

// method is a method of buffers.
type method struct {
	bindings.Entry
	number   int // identifies the method
	promised bool
	joins    bool // takes joined arrays
	parts    bool // makes joined arrays of stored ones only
	numbers  bool // the commands of calls with other numbers as arguments are the same
	options  []string
	run      func(c *call, x array.Array) (goja.Value, error)
}

func (m *method) buffer(of *operations) offloadjs.BufferMethod {
	return offloadjs.BufferMethod{Entry: m.Entry, Promised: m.promised, Call: func(h offloadjs.Host, b offloadjs.Elements, js goja.FunctionCall) (goja.Value, error) {
		s := of.repeats(h)
		r := s.request(h, m, b, nil, js.Arguments)
		defer s.done(r)
		if v, ok, err := s.again(h, m, r, b.Device(), js); ok {
			return v, err
		}
		c := begin(of.ops, h, m.Name, b.Device(), js.Arguments, m.options...)
		if c.err != nil {
			return nil, c.err
		}
		if b.Elem.Record != nil {
			c.failHint("let a kernel copy a field to a buffer of its own", "the buffer has elements of the record %s; arrays have numbers", b.Elem)
			return nil, c.err
		}
		return s.run(c, m, r, array.Array{Buffer: b.Buffer, Elem: b.Elem}, js)
	}}
}

// constructor is a method of devices that makes an array.
type constructor struct {
	bindings.Entry
	options []string
	run     func(c *call) (array.Array, error)
}

func (m constructor) device(ops *array.Ops) offloadjs.DeviceMethod {
	return offloadjs.DeviceMethod{Entry: m.Entry, Call: func(h offloadjs.Host, d *session.Device, js goja.FunctionCall) (goja.Value, error) {
		c := begin(ops, h, m.Name, d, js.Arguments, m.options...)
		if c.err != nil {
			return nil, c.err
		}
		a, err := m.run(c)
		if e, ok := errors.AsType[*offload.Error](err); ok && e.Op == "full" {
			e.Op = m.Name
		}
		return c.result(a, err)
	}}
}
