package repl

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"github.com/orepl/orepl/bindings/offload"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/kernel"
	"github.com/orepl/orepl/lang/spelling"
)

// keptKernels is how many compiled kernels .explain knows.
const keptKernels = 200

// noteCompiled keeps what kernels were compiled to. A kernel that is written anew replaces the old one.
func (p *prompt) noteCompiled(c offload.Compilation) {
	p.compiledMu.Lock()
	defer p.compiledMu.Unlock()
	p.compiled = slices.DeleteFunc(p.compiled, func(old offload.Compilation) bool {
		return old.Name == c.Name && signature(old.Kernel) == signature(c.Kernel)
	})
	p.compiled = append(p.compiled, c)
	p.compiled = p.compiled[max(0, len(p.compiled)-keptKernels):]
}

// signature writes a kernel's parameters with their types.
func signature(k *kernel.Compiled) string {
	list := make([]string, len(k.Params))
	for i := range k.Params {
		list[i] = k.Params[i].Name + ": " + paramType(&k.Params[i])
	}
	return "(" + strings.Join(list, ", ") + ")"
}

func paramType(k *kernel.Param) string {
	if k.Rank == 0 {
		return k.Type.String()
	}
	return k.Elem.String() + strings.Repeat("[]", k.Rank)
}

func (p *prompt) explain(args string) error {
	p.compiledMu.Lock()
	all := slices.Clone(p.compiled)
	p.compiledMu.Unlock()
	name, form, _ := strings.Cut(args, " ")
	form = strings.TrimSpace(form)
	if name == "" {
		if len(all) == 0 {
			return diag.New("not-found", "no kernel was compiled yet").WithHint("a kernel is compiled when it is launched, or when it is written with a signature")
		}
		for _, c := range all {
			p.printf("%s%s\n", p.paint(bold, c.Name), signature(c.Kernel))
		}
		return nil
	}
	emit := p.Emit[form]
	if form == "" {
		emit = func(c offload.Compilation) (string, error) { return c.Explain(), nil }
	}
	if emit == nil {
		forms := slices.Sorted(maps.Keys(p.Emit))
		return diag.New("invalid-argument", "%q is no form of a kernel", form).WithHint("the forms are %s", strings.Join(forms, ", "))
	}
	var names []string
	var found []offload.Compilation
	for _, c := range all {
		names = append(names, c.Name)
		if c.Name == name {
			found = append(found, c)
		}
	}
	if len(found) == 0 {
		d := diag.New("not-found", "no kernel %s was compiled", name)
		if near := spelling.Nearest(name, names); near != "" {
			return d.WithHint("did you mean %s?", near)
		}
		return d.WithHint("a kernel is compiled when it is launched; .explain lists those that were")
	}
	for _, c := range found {
		text, err := emit(c)
		if err != nil {
			return err
		}
		_ = p.flow(func(b *bytes.Buffer) error { b.WriteString(text); return nil })
	}
	return nil
}
