package launch

import (
	"fmt"
	"strings"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/offloadjs/buffers"
	"github.com/orepl/orepl/bindings/offloadjs/capture"
	"github.com/orepl/orepl/bindings/offloadjs/devices"
	"github.com/orepl/orepl/bindings/offloadjs/itemtrace"
	"github.com/orepl/orepl/bindings/offloadjs/library"
	"github.com/orepl/orepl/bindings/offloadjs/queues"
	"github.com/orepl/orepl/bindings/offloadjs/replay"
	"github.com/orepl/orepl/bindings/offloadjs/script"
	"github.com/orepl/orepl/bindings/offloadjs/service"
	"github.com/orepl/orepl/bindings/offloadjs/types"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/inspect"
	"github.com/orepl/orepl/lang/kernel"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/runtime/session"
)

// Module holds the kernels of one engine.
type Module struct {
	*script.Script
	env     *Environment
	types   *types.Module
	devices *devices.Module
	queues  *queues.Module
	buffers *buffers.Module
	capture *capture.Module
	traces  *itemtrace.Module
	rpc     *service.Registry
	used    *library.Uses

	class      *lang.Class[*Kernel]
	boundClass *lang.Class[*boundLaunch]
	refused    func(error) (goja.Value, error) // returns what a launch that failed returns in place of its error; nil unless set by Refuse

	tape *replay.Tape // receives the launches; may be nil

	scratch
}

// scratch holds memory that launches reuse, and caches.
type scratch struct {
	announced map[string]bool // platforms other than the CPU's that have begun to compile a kernel
	checked   *goja.Object    // the last validated options object
	parsed    parsedOptions   // of the last launch whose options have a key
	key       []byte
	argBuffer []kernel.Arg
	bound     []session.Arg
}

// Rooms are the parts of the module that kernels use.
type Rooms struct {
	Types   *types.Module
	Devices *devices.Module
	Queues  *queues.Module
	Buffers *buffers.Module
	Capture *capture.Module
	Traces  *itemtrace.Module
	RPC     *service.Registry
}

// New defines the classes of kernels. used gets the libraries of kernels.
func New(s *script.Script, env *Environment, used *library.Uses, r Rooms) *Module {
	m := &Module{
		Script: s, env: env, types: r.Types, devices: r.Devices, queues: r.Queues, buffers: r.Buffers, capture: r.Capture, traces: r.Traces, rpc: r.RPC,
		used: used,
	}
	m.define()
	m.defineBoundLaunch()
	return m
}

// Constructors returns the constructors of the classes that scripts see.
func (m *Module) Constructors() []*goja.Object {
	return []*goja.Object{m.class.Constructor(), m.boundClass.Constructor()}
}

// Register registers a module of kernels until the engine closes.
func (m *Module) Register(label string, mod *ir.Module) (*session.Library, error) {
	lib, err := m.env.libraries.Acquire(m.Engine.Running(), label, mod)
	if err != nil {
		return nil, err
	}
	m.used.Add(lib)
	return lib.Library, nil
}

// Refuse sets what a launch that failed returns in place of its error, except for bound launches; nil ends that.
func (m *Module) Refuse(fn func(error) (goja.Value, error)) { m.refused = fn }

// Of returns the kernel of a script's value, or nil.
func (m *Module) Of(v goja.Value) *Kernel { k, _ := m.class.Of(v); return k }

// RecordTo adds later launches, except those of bound launches, to a tape; nil ends that.
func (m *Module) RecordTo(t *replay.Tape) { m.tape = t }

func (m *Module) define() {
	m.class = lang.NewClass(m.Engine, lang.ClassSpec[*Kernel]{
		Name: "Kernel",
		Methods: []lang.Method[*Kernel]{
			script.Method(m.Script, "launch", m.launch),
			script.Method(m.Script, "bind", m.bind),
			script.Method(m.Script, "occupancy", m.occupancy),
			script.Method(m.Script, "explain", m.explain),
			script.Method(m.Script, "debug", m.debug),
		},
		Fields: []lang.Field[*Kernel]{
			script.Field(m.Script, "warnings", m.warnings),
			script.Value(m.Script, "name", func(k *Kernel) any { return k.name }),
			script.Value(m.Script, "source", func(k *Kernel) any { return k.text }),
		},
		Inspect: func(k *Kernel, _ inspect.Options) string { return inspectKernel(k) },
		Row:     kernelRow,
		JSON:    script.WithoutJSON[*Kernel]("Kernel", "write what identifies it, such as k.name or k.source"),
	})
}

func kernelRow(k *Kernel) [][2]string {
	_, compiled, _ := strings.Cut(inspectKernel(k), "\n")
	return [][2]string{{"name", k.name}, {"parameters", strings.Join(k.params, ", ")},
		{"compiled for", strings.ReplaceAll(strings.TrimSpace(compiled), "\n  ", "; ")}}
}

// inspectKernel formats a kernel with its compiled signatures.
func inspectKernel(k *Kernel) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Kernel %s(%s)", k.name, strings.Join(k.params, ", "))
	for _, s := range k.compiled {
		b.WriteString("\n  ")
		for i := range s.Params {
			p := &s.Params[i]
			if i > 0 {
				b.WriteString(", ")
			}
			if p.Rank > 0 {
				fmt.Fprintf(&b, "%s: %s%s", p.Name, p.Elem, strings.Repeat("[]", p.Rank))
			} else {
				fmt.Fprintf(&b, "%s: %s", p.Name, p.Type)
			}
		}
	}
	return b.String()
}
