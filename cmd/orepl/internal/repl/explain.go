package repl

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/orepl/orepl/bindings/offload"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/kernel"
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
	if form != "" && form != "ir" && form != "opt" && form != "js" {
		return wrongUse(".explain", "%q is no form of a kernel", form)
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
		if near := diag.Nearest(name, names); near != "" {
			return d.WithHint("did you mean %s?", near)
		}
		return d.WithHint("a kernel is compiled when it is launched; .explain lists those that were")
	}
	for _, c := range found {
		if err := p.explainOne(c, form); err != nil {
			return err
		}
	}
	return nil
}

func (p *prompt) explainOne(c offload.Compilation, form string) error {
	p.printf("%s%s\n", p.paint(bold, c.Name), signature(c.Kernel))
	if form == "" {
		t := tabwriter.NewWriter(p.term, 0, 8, 2, ' ', 0)
		for i := range c.Kernel.Params {
			k := &c.Kernel.Params[i]
			fmt.Fprintf(t, "  %s\t%s\n", k.Name, reason(k))
		}
		if err := t.Flush(); err != nil {
			return err
		}
		for _, w := range c.Kernel.Warnings {
			p.report(w)
		}
		form = "opt"
	}
	text, err := p.Emit(form, c)
	if err != nil {
		return err
	}
	p.printf("%s", text)
	return nil
}

// reason is why a parameter has its type.
func reason(k *kernel.Param) string {
	if k.Reason != "" {
		return k.Reason
	}
	return paramType(k)
}
