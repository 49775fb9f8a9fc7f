package launch

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/offloadjs/script"
	"github.com/orepl/orepl/lang/kernel"
	"github.com/orepl/orepl/lang/kernel/advice"
	"github.com/orepl/orepl/lang/kernel/diag"
	"github.com/orepl/orepl/lang/spelling"
	contract "github.com/orepl/orepl/runtime/offload"
)

// explain implements kernel.explain(). For each compiled signature, it describes the inferred types, the access patterns,
// the remaining checks and the warnings.
func (m *Module) explain(k *Kernel, _ goja.FunctionCall) (goja.Value, error) {
	if len(k.compiled) == 0 {
		return nil, contract.Errorf(contract.InvalidArgument, "explain", "the kernel was not compiled yet").On("", k.name).
			WithHint("launch it first, or give it a signature: kernel({x: [f32]}, …)")
	}
	var parts []string
	for _, s := range k.compiled {
		parts = append(parts, explanation(k.name, s.Compiled, s.warnings())+engines(s))
	}
	slices.Sort(parts)
	return m.VM.ToValue(strings.Join(parts, "\n")), nil
}

// Explain returns the text of kernel.explain() for this compilation.
func (c Compilation) Explain() string { return explanation(c.Name, c.Kernel, c.spec.warnings()) }

func explanation(name string, s *kernel.Compiled, warnings diag.List) string {
	var b strings.Builder
	var params []string
	for i := range s.Params {
		p := &s.Params[i]
		if p.Rank > 0 {
			params = append(params, fmt.Sprintf("%s: %s%s", p.Name, p.Elem, strings.Repeat("[]", p.Rank)))
		} else {
			params = append(params, fmt.Sprintf("%s: %s", p.Name, p.Type))
		}
	}
	fmt.Fprintf(&b, "%s(%s)\n", name, strings.Join(params, ", "))
	for i := range s.Params {
		if p := &s.Params[i]; p.Rank == 0 {
			fmt.Fprintf(&b, "  %s is %s\n", p.Name, p.Reason)
		}
	}
	accesses := append(advice.Accesses(s), advice.Shared(s)...)
	for i := range accesses {
		fmt.Fprintf(&b, "  %s\n", &accesses[i])
	}
	tiles := advice.Tiles(s)
	for i := range tiles {
		fmt.Fprintf(&b, "  %s\n", &tiles[i])
	}
	for _, w := range warnings {
		at := fmt.Sprintf("%d:%d", w.Line, w.Column)
		if w.File != s.Module.Files[s.Kernel.Sites[0].File] {
			at = w.Position.String() // the position is in a helper of another module
		}
		fmt.Fprintf(&b, "  warning at %s: %s [%s]; %s\n", at, w.Message, w.ID, w.Rewrite)
	}
	return b.String()
}

// warnings returns the warnings for a compiled kernel and its launches so far.
func (s *specialization) warnings() diag.List {
	list := append(advice.Warnings(s.Compiled), s.overflow.list(s.Compiled, s.types)...)
	list = append(list, s.races.List(s.Compiled)...)
	list = append(list, s.inexact...)
	if slices.ContainsFunc(s.launched(), func(s Shape) bool { return s.Ragged }) {
		list = append(list, advice.RaggedTiles(s.Compiled)...)
	}
	if i := slices.IndexFunc(s.launched(), narrow); i >= 0 {
		list = append(list, advice.NarrowGroups(s.Compiled, s.launched()[i].Group)...)
	}
	return list.Sort()
}

// launched returns the recorded shapes of launches, as [Compilation.Shapes] does.
func (s *specialization) launched() []Shape {
	if s.shapes == nil {
		return nil
	}
	return s.shapes.all()
}

// narrow reports whether groups have several rows of fewer than 64 work-items.
func narrow(s Shape) bool { return s.Group[0] < 64 && s.Group[1]*s.Group[2] > 1 }

// Warnings returns the warnings as text: a heading with the kernel's name, then one line per warning with its position. Without
// warnings it is one line that says so.
func (c Compilation) Warnings() string {
	var b strings.Builder
	list := c.spec.warnings()
	if len(list) > 0 {
		fmt.Fprintf(&b, "%s: %s\n", c.Name, spelling.Count(len(list), "warning"))
	}
	for _, w := range list {
		fmt.Fprintf(&b, "%s: warning: %s [%s]; %s\n", w.Position, w.Message, w.ID, w.Rewrite)
	}
	if len(list) == 0 {
		fmt.Fprintf(&b, "%s: no warnings\n", c.Name)
	}
	return b.String()
}

// warnings implements kernel.warnings, which returns the distinct warnings for all signatures so far.
func (m *Module) warnings(k *Kernel) (goja.Value, error) {
	list := []any{}
	var seen []string
	for _, s := range k.compiled {
		for _, w := range s.warnings() {
			if slices.Contains(seen, w.Error()) {
				continue
			}
			seen = append(seen, w.Error())
			list = append(list, m.Object([]script.Pair{{"id", string(w.ID)}, {"message", w.Message}, {"hint", w.Rewrite},
				{"file", w.File}, {"line", w.Line}, {"column", w.Column}}...))
		}
	}
	return m.VM.NewArray(list...), nil
}
