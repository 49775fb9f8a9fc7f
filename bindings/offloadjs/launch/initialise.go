package launch

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/offloadjs/buffers"
	"github.com/orepl/orepl/bindings/offloadjs/element"
	"github.com/orepl/orepl/lang/kernel"
	kerneldiag "github.com/orepl/orepl/lang/kernel/diag"
	"github.com/orepl/orepl/lang/spelling"
	contract "github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// Initialise launches a kernel that stores the result of init, a function of the indices, in each element. A nil queue is the
// default queue of the buffer's device.
func (m *Module) Initialise(b *buffers.Buffer, init goja.Value, dims []int, q *session.Queue) error {
	indices := [][]string{nil, {"g.x"}, {"g.y", "g.x"}, {"g.z", "g.y", "g.x"}}[len(dims)]
	length, _ := element.Exported(init.(*goja.Object).Get("length")).(int64)
	params := int(length)
	if params > len(indices) {
		return contract.Errorf(contract.InvalidArgument, "create buffer", "the initialiser takes %d indices, but the buffer has %s", params, spelling.Count(len(dims), "dimension")).
			On(b.Device().ID(), b.Label())
	}
	inputs, names := m.capture.BuffersOf(init, "g", "out", "init")
	defer m.capture.Pass(names)()
	list, types := "g, out", []kernel.Arg{{Kind: kernel.Buffer, Elem: b.Elem.Elem, Rank: len(dims)}}
	args := []session.Arg{session.Buf(b.Buffer)}
	for _, in := range inputs {
		list += ", " + names[in]
		types = append(types, kernel.Arg{Kind: kernel.Buffer, Elem: in.Elem.Elem, Rank: len(in.Dims())})
		args = append(args, session.Buf(in.Buffer))
	}
	text := fmt.Sprintf("(%s) => { out[%s] = init(%s) }", list, strings.Join(indices, "]["), strings.Join(indices[:params], ", "))
	k, err := m.wrapKernel(text, "init", init)
	if err != nil {
		return err
	}
	size := make([]int, len(dims))
	for i, d := range dims {
		size[len(dims)-1-i] = d
	}
	s, err := m.specialize(k, types, false)
	if err != nil {
		return adviseInitialiser(err)
	}
	c, err := m.kernelOn(k, s, b.Device())
	if err != nil {
		return err
	}
	if q == nil {
		if q, err = m.queues.DefaultOf(b.Device()); err != nil {
			return err
		}
	}
	if err := m.Start(q, c, session.Config{Size: size, Pos: m.Caller(), Services: m.rpc.Printing()}, args...); err != nil {
		return err
	}
	l := launchesOf(size, nil)
	for _, n := range dims {
		l.Extents["out"] = append(l.Extents["out"], int64(n))
	}
	for _, in := range inputs {
		for _, n := range in.Dims() {
			l.Extents[names[in]] = append(l.Extents[names[in]], int64(n))
		}
	}
	m.warnOfNumbers(k, s)
	m.warnOfOverflows(k, s, l)
	return nil
}

// adviseInitialiser replaces hints that an initialiser cannot follow, because it has neither the item object nor arguments of its
// own.
func adviseInitialiser(err error) error {
	var list kerneldiag.List
	if !errors.As(err, &list) {
		return err
	}
	for _, d := range list {
		switch {
		case d.ID == kerneldiag.UnknownMath && strings.Contains(d.Rewrite, "random("):
			d.Rewrite = "import { random } from 'kernels', and write i => random(seed, 0, i)"
		case strings.Contains(d.Rewrite, "pass it as an argument"), strings.Contains(d.Rewrite, "g."):
			d.Rewrite = "an initialiser has its indices and what it captures; launch a kernel, which has an item object and arguments"
		}
	}
	return err
}

// wrapKernel returns a kernel of generated text that calls a script function by name.
func (m *Module) wrapKernel(text, name string, fn goja.Value) (*Kernel, error) {
	inner, info, err := m.capture.Source(fn)
	if err != nil {
		return nil, err
	}
	src := &kernel.Source{
		Text:     text,
		Position: func(int) (string, int, int) { return inner.Position(0) },
		Capture: func(n string) (any, error) {
			if n == name {
				return inner, nil
			}
			return nil, nil
		},
	}
	f, err := kernel.Parse(src)
	if err != nil {
		return nil, err
	}
	declared := cmp.Or(info.Name, name)
	return &Kernel{fn: f, name: declared, text: inner.Text, params: f.Params(), opts: kernel.Options{Name: declared, Warnings: true},
		compiled: map[string]*specialization{}, checked: map[string]*specialization{}}, nil
}
