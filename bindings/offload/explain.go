package offload

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/kernel"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/opt"
	contract "github.com/orepl/orepl/runtime/offload"
)

// explainText is kernel.explain(): for each signature that the kernel was compiled for, why its scalars have their
// types, how items that lie beside each other access memory, which checks stayed, and the warnings.
func (m *instance) explainText(k *kernelObject, _ goja.FunctionCall) (goja.Value, error) {
	if len(k.compiled) == 0 {
		return nil, contract.Errorf(contract.InvalidArgument, "explain", "the kernel was not compiled yet").On("", k.name).
			WithHint("launch it first, or give it a signature: kernel({x: [f32]}, …)")
	}
	var parts []string
	for _, s := range k.compiled {
		parts = append(parts, explanation(k.name, s.Compiled)+engines(s))
	}
	slices.Sort(parts)
	return m.vm.ToValue(strings.Join(parts, "\n")), nil
}

// Explain is what kernel.explain() says of this compilation.
func (c Compilation) Explain() string { return explanation(c.Name, c.Kernel) }

func explanation(name string, s *kernel.Compiled) string {
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
	for _, line := range accesses(s.Module) {
		fmt.Fprintf(&b, "  %s\n", line)
	}
	for _, w := range s.Warnings {
		fmt.Fprintf(&b, "  warning at %d:%d: %s [%s]; %s\n", w.Line, w.Col, w.Message, w.ID, w.Rewrite)
	}
	return b.String()
}

// accesses says of each access to a buffer how far apart the elements are that items beside each other touch, and
// whether its bounds are checked at run time.
func accesses(m *ir.Module) []string {
	m = m.Clone()
	opt.Run(m, opt.Default, nil)
	k := m.Kernels[0]
	affine := opt.FindAffine(k, k.Uniformity(ir.Scope{}))
	var lines []string
	k.Body.Walk(func(in *ir.Instr) {
		n := in.NumIndices()
		if in.Array == nil || in.Array.Space != ir.Global || n == 0 {
			return
		}
		site := k.Sites[in.Site]
		line := fmt.Sprintf("`%s` at %d:%d: %s, %s", site.Text, site.Line, site.Col, pattern(affine, in, n), checking(in, n))
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	})
	return lines
}

// pattern is how the elements lie that neighbours along x access.
func pattern(a *opt.Affine, in *ir.Instr, n int) string {
	along := 0
	for i, index := range in.Args[:n] {
		s, ok := a.Strides(index)
		switch {
		case !ok:
			return "gathered, since the index is computed from data"
		case i < n-1 && s[0] != 0:
			return "strided by rows"
		}
		along = int(s[0])
	}
	switch along {
	case 0:
		return "the same element for all items along x"
	case 1:
		return "contiguous"
	}
	return fmt.Sprintf("strided by %d elements", along)
}

func checking(in *ir.Instr, n int) string {
	for i := range n {
		if in.Proved>>i&1 == 0 {
			return "checked, since nothing in the kernel bounds the index"
		}
	}
	return "not checked, since it is proved in bounds"
}

// kernelWarnings is kernel.warnings: what the compiler found doubtful, for all signatures so far.
func (m *instance) kernelWarnings(k *kernelObject) (goja.Value, error) {
	list := []any{}
	var seen []string
	for _, s := range k.compiled {
		for _, w := range s.Warnings {
			if slices.Contains(seen, w.Error()) {
				continue
			}
			seen = append(seen, w.Error())
			list = append(list, map[string]any{"id": string(w.ID), "message": w.Message, "hint": w.Rewrite,
				"file": w.File, "line": w.Line, "column": w.Col})
		}
	}
	return m.vm.ToValue(list), nil
}
