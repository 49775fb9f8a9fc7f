// Package graphjs offers packages runtime/graph and runtime/recording to scripts: the functions graph and record of the module
// 'offload'.
package graphjs

import (
	"bytes"
	"fmt"
	"os"
	"strings"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings"
	"github.com/orepl/orepl/bindings/convert"
	"github.com/orepl/orepl/bindings/offloadjs"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/inspect"
	"github.com/orepl/orepl/lang/internals"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/runtime/graph"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/recording"
	"github.com/orepl/orepl/runtime/session"
)

const types = `
/** A command of a graph. */
interface GraphNode {
  /** The kernel's name or the kind of command, with a number if it repeats, as in 'scale#2'. */
  name: string
  kind: 'launch' | 'write' | 'fill' | 'zero' | 'copy' | 'wait'
  device: string; queue: string
  /** The size, the arguments and the buffers, as text. */
  operands: string
  /** The indices of the nodes that the command depends on. */
  after: number[]
}
`

// Extension returns the function graph and the class of its results.
func Extension() offloadjs.Extension {
	class := bindings.Entry{Name: "Graph", Kind: bindings.Class, Signature: "class Graph", Help: "The commands that a call of graph() captured, which can be issued again. Printing it shows the commands and their dependencies.",
		Members: []bindings.Entry{
			bindings.NewMethod("replay", "Issues all commands again, each on its queue, and returns an event that is reached when they have run. Written data is that of the capture.", "(): Event"),
			bindings.NewMethod("set", "Changes a launch for later replays. node is the launch's name or index. values has new arguments by the names of parameters, and as size the number of work-items. Returns the graph.",
				"(node: string | number, values: Record<string, number | bigint | boolean | Buffer>): this"),
			bindings.NewMethod("replace", "Replaces a buffer in all commands by another one of the same device, type and extents. A buffer that no command uses is not-found. Returns the graph.", "(old: Buffer, fresh: Buffer): this"),
			bindings.NewMethod("svg", "Returns a drawing as the text of an SVG file: a box for each command below those that it depends on. More than 2000 commands are invalid-size.", "(): string"),
			bindings.NewMethod("dot", "Returns the graph in the language of Graphviz.", "(): string"),
			bindings.NewMethod("toString", "Returns a line for each command, with its operands and the commands that it depends on.", "(): string"),
			bindings.NewMethod("free", "Frees the buffers that the graph keeps. Later calls of its methods throw closed, except toString.", "(): void"),
			bindings.NewMethod("[Symbol.dispose]", "Frees or closes the object when a using declaration goes out of scope.", "(): void"),
			bindings.NewProperty("nodes", "GraphNode[]", "The commands in the order of issue."),
		}}
	return offloadjs.Extension{
		Types: types,
		Entries: func() []bindings.Entry {
			return []bindings.Entry{
				bindings.NewFunction("graph", "Captures the commands that a function issues, on all devices, while it runs: launches, copies, writes and fills. They run as usual. The graph issues them again at less cost than the script, shows how they depend on each other, and takes other arguments. Reads are not captured. Functions of queue.host and kernels that call services are errors. Buffers that the function makes and frees are kept by the graph. A graph has at most 65536 commands.",
					"import { device, kernel, graph, f32 } from 'offload'\nconst d = device(), x = d.buffer(f32, 4, i => i), y = d.buffer(f32, 4)\nconst scale = kernel((g, a, x, y) => { y[g.x] = a * x[g.x] })\nconst add = kernel((g, x, y) => { y[g.x] += x[g.x] })\nconst g = await graph(() => { scale.launch({ size: 4 }, 2, x, y); add.launch({ size: 4 }, x, y) })\nconsole.log(g)\ng.set('scale', { a: 10 })\nawait g.replay()\nconsole.log(await y.read())",
					"(fn: () => unknown): Promise<Graph>"),
				class,
				bindings.NewFunction("record", "Records in a file the commands that a function issues on all devices: images, arguments, the order, and the contents of buffers before and after. It blocks the script until all earlier commands have run, and after the function until its commands have. It copies all buffers, which may have at most 1 GiB together. Returns a promise of the number of commands. orepl replay FILE runs the commands again, on the same device or another; with --verify it compares the results.",
					"import { device, kernel, record, f32 } from 'offload'\nconst d = device(), x = d.buffer(f32, 4, i => i), y = d.buffer(f32, 4)\nconst scale = kernel((g, a, x, y) => { y[g.x] = a * x[g.x] })\nconsole.log(await record('scale.orepl', () => { scale.launch({ size: 4 }, 2, x, y) }))",
					"(path: string, fn: () => unknown): Promise<number>"),
			}
		},
		Exports: exports,
	}
}

// captured is a graph of a script.
type captured struct {
	*graph.Graph
	launches int
	freed    bool
}

// module is the state of one engine.
type module struct {
	offloadjs.Host
	e     *lang.Engine
	class *lang.Class[*captured]
}

func exports(h offloadjs.Host) map[string]goja.Value {
	m := &module{Host: h, e: h.Engine()}
	method := func(name string, run func(g *captured, call goja.FunctionCall) (goja.Value, error)) lang.Method[*captured] {
		return lang.Method[*captured]{Name: name, Call: func(g *captured, call goja.FunctionCall) (goja.Value, error) {
			if g.freed && name != "toString" {
				return nil, h.Explain(offload.Errorf(offload.Closed, name, "the graph was freed").WithHint("capture it again"))
			}
			v, err := run(g, call)
			if v == nil && err == nil {
				v = call.This
			}
			return v, h.Explain(err)
		}}
	}
	text := func(s string) goja.Value { return m.e.VM().ToValue(s) }
	m.class = lang.NewClass(m.e, lang.ClassSpec[*captured]{
		Name: "Graph",
		Methods: []lang.Method[*captured]{
			method("replay", func(g *captured, _ goja.FunctionCall) (goja.Value, error) { return m.replay(g) }),
			method("set", func(g *captured, call goja.FunctionCall) (goja.Value, error) { return nil, m.set(g, call) }),
			method("replace", func(g *captured, call goja.FunctionCall) (goja.Value, error) { return nil, m.replace(g, call) }),
			method("svg", func(g *captured, _ goja.FunctionCall) (goja.Value, error) {
				s, err := g.SVG()
				return text(s), err
			}),
			method("dot", func(g *captured, _ goja.FunctionCall) (goja.Value, error) { return text(g.DOT()), nil }),
			method("toString", func(g *captured, _ goja.FunctionCall) (goja.Value, error) { return text(g.String()), nil }),
			method("free", func(g *captured, _ goja.FunctionCall) (goja.Value, error) { return goja.Undefined(), g.free() }),
		},
		Fields:  []lang.Field[*captured]{{Name: "nodes", Get: m.nodes}},
		Inspect: func(g *captured, _ inspect.Options) string { return strings.TrimSuffix(g.String(), "\n") },
		Dispose: (*captured).free,
	})
	fn := m.e.Promised(func(call goja.FunctionCall) (goja.Value, error) {
		v, err := m.capture(call)
		return v, h.Explain(err)
	})
	record := m.e.Promised(func(call goja.FunctionCall) (goja.Value, error) {
		v, err := m.record(call)
		return v, h.Explain(err)
	})
	return map[string]goja.Value{"graph": m.e.Func("graph", fn), "record": m.e.Func("record", record), "Graph": m.class.Constructor()}
}

// capture implements graph(fn).
func (m *module) capture(call goja.FunctionCall) (goja.Value, error) {
	a := m.e.Args("graph", call)
	fn := a.Function(0, "fn")
	if a.Err() != nil {
		return nil, a.Err()
	}
	c := graph.Begin(m.Session(), m.Owner())
	finish := func() (goja.Value, error) {
		g, err := c.Finish()
		if err != nil {
			return nil, err
		}
		w := &captured{Graph: g}
		for _, n := range g.Nodes() {
			if n.Call != nil {
				w.launches++
			}
		}
		return m.class.New(w), nil
	}
	return m.during(fn, c.Abandon, finish)
}

// during calls a function of a script, and then finish, or abandon if the function fails. It returns a promise of finish's value.
func (m *module) during(fn goja.Callable, abandon func(), finish func() (goja.Value, error)) (goja.Value, error) {
	v, err := fn(goja.Undefined())
	if err != nil {
		abandon()
		return nil, err
	}
	if o, ok := v.(*goja.Object); ok {
		if then, ok := goja.AssertFunction(o.Get("then")); ok {
			m.e.Settled(v, func(err error) {
				if err != nil {
					abandon()
				}
			})
			return then(o, m.e.Func("finished", func(goja.FunctionCall) (goja.Value, error) {
				v, err := finish()
				return v, m.Explain(err)
			}))
		}
	}
	if v, err = finish(); err != nil {
		return nil, err
	}
	return m.e.Resolved(v), nil
}

// record implements record(path, fn).
func (m *module) record(call goja.FunctionCall) (goja.Value, error) {
	a := m.e.Args("record", call)
	name, fn := a.String(0, "path"), a.Function(1, "fn")
	if a.Err() != nil {
		return nil, a.Err()
	}
	path, err := m.e.WritePath(name)
	if err != nil {
		return nil, err
	}
	if err := m.MayBlock("record"); err != nil {
		return nil, err
	}
	r, err := recording.Begin(m.e.Running(), m.Session(), m.Owner())
	if err != nil {
		return nil, err
	}
	return m.during(fn, r.Abandon, func() (goja.Value, error) {
		if err := m.MayBlock("record"); err != nil {
			r.Abandon()
			return nil, err
		}
		var out bytes.Buffer
		n, err := r.Finish(m.e.Running(), &out)
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(path, out.Bytes(), 0o666); err != nil {
			return nil, lang.FileError("write", name, err)
		}
		return m.e.VM().ToValue(n), nil
	})
}

func (g *captured) free() error {
	if !g.freed {
		g.freed = true
		g.Free()
	}
	return nil
}

// replay implements graph.replay().
func (m *module) replay(g *captured) (goja.Value, error) {
	launches := g.launches
	for _, q := range g.Queues() {
		if err := m.Enter(q, launches); err != nil {
			return nil, err
		}
		launches = 0 // all are counted at the first queue
	}
	ev, err := g.Replay(m.e.Running())
	if err != nil {
		return nil, err
	}
	return m.Event(ev), nil
}

// node returns the node that a script names by its name or its index.
func (m *module) node(g *captured, v goja.Value) (*graph.Node, error) {
	if name, ok := internals.Export(v).(string); ok {
		return g.Node(name)
	}
	i, ok := internals.Export(v).(int64)
	if !ok {
		return nil, offload.Errorf(offload.InvalidArgument, "set", "node must be the name or the index of a node, not %s", convert.Describe(v))
	}
	if i < 0 || i >= int64(len(g.Nodes())) {
		return nil, offload.Errorf(offload.NotFound, "set", "there is no node %d of %d", i, len(g.Nodes()))
	}
	return g.Nodes()[i], nil
}

// set implements graph.set(node, values). All values are checked before the first one is changed.
func (m *module) set(g *captured, call goja.FunctionCall) error {
	a := m.e.Args("graph.set", call)
	values := a.Object(1, "values")
	if a.Err() != nil {
		return a.Err()
	}
	n, err := m.node(g, call.Argument(0))
	if err != nil {
		return err
	}
	if _, err := n.Parameter(""); n.Call == nil {
		return err
	}
	next := n.Call.Clone()
	for _, name := range values.Keys() {
		v := values.Get(name)
		i, err := n.Parameter(name)
		if err != nil && name == "size" {
			size, err := m.Extents(v)
			if err == nil {
				err = next.SetSize(size...)
			}
			if err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		arg := next.Args()[i]
		if arg.Buffer() != nil {
			b, ok := m.Elements(v)
			if !ok {
				return offload.Errorf(offload.InvalidArgument, "set", "parameter %s is a buffer, not %s", name, convert.Describe(v)).On("", n.Name)
			}
			arg = session.Buf(b.Buffer)
		} else if arg, err = m.scalar(n, name, arg, v); err != nil {
			return err
		}
		if err := next.SetArg(i, arg); err != nil {
			return err
		}
	}
	n.Call = next
	g.Connect()
	return nil
}

// scalar converts a value to the type of an argument.
func (m *module) scalar(n *graph.Node, name string, old session.Arg, v goja.Value) (session.Arg, error) {
	t, _ := old.Scalar()
	for _, scalar := range []ir.Type{ir.Bool, ir.I8, ir.U8, ir.I16, ir.U16, ir.I32, ir.U32, ir.I64, ir.U64, ir.F16, ir.BF16, ir.F32, ir.F64} {
		if scalar.String() != t.String() {
			continue
		}
		bits, err := m.Bits(scalar, v)
		if err != nil {
			return old, offload.Errorf(offload.InvalidArgument, "set", "parameter %s: %v", name, err).On("", n.Name)
		}
		return session.Bits(t, bits), nil
	}
	return old, offload.Errorf(offload.Unsupported, "set", "parameter %s is a struct, which cannot be changed", name).On("", n.Name).
		WithHint("capture the launch again")
}

// replace implements graph.replace(old, fresh).
func (m *module) replace(g *captured, call goja.FunctionCall) error {
	var list [2]offloadjs.Elements
	for i := range list {
		b, ok := m.Elements(call.Argument(i))
		if !ok {
			return offload.Errorf(offload.InvalidArgument, "replace", "expected two buffers; argument %d is %s", i+1, convert.Describe(call.Argument(i)))
		}
		list[i] = b
	}
	return g.Replace(list[0].Buffer, list[1].Buffer)
}

// nodes implements graph.nodes.
func (m *module) nodes(g *captured) (goja.Value, error) {
	vm := m.e.VM()
	list := make([]any, len(g.Nodes()))
	for i, n := range g.Nodes() {
		o := vm.NewObject()
		after := make([]any, len(n.After))
		for k, j := range n.After {
			after[k] = j
		}
		for _, p := range []struct {
			name  string
			value any
		}{{"name", n.Name}, {"kind", string(n.Kind)}, {"device", n.Queue.Device().ID()}, {"queue", n.Queue.Label()}, {"operands", n.Operands()}, {"after", vm.NewArray(after...)}} {
			if err := o.Set(p.name, p.value); err != nil {
				return nil, fmt.Errorf("graph.nodes: %w", err)
			}
		}
		list[i] = o
	}
	return vm.NewArray(list...), nil
}
