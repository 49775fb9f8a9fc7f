package cpu

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/opt"
	"github.com/orepl/orepl/plugins/cpu/internal/machine"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd"
	"github.com/orepl/orepl/runtime/offload"
)

// Listing implements [offload.Lister]: format "asm" is the kernel's vector code with the lines of its source, "engine"
// says what runs it.
func (p *program) Listing(name, format string) (string, error) {
	if format != "asm" && format != "engine" {
		return "", offload.Errorf(offload.Unsupported, "listing", "the CPU device lists code as asm, not %s", format).On(p.device.id, name)
	}
	i := slices.IndexFunc(p.module.kernels, func(k *kernel) bool { return k.info.Name == name })
	if i < 0 {
		return "", offload.Errorf(offload.NotFound, "listing", "the program has no kernel of this name").On(p.device.id, name)
	}
	k := p.module.kernels[i]
	if format == "engine" {
		v, err := k.variant(offload.ChecksOn)
		if err != nil {
			return "", err
		}
		return k.engine(v), nil
	}
	return list(p.device.modules.engines, k.module, k.optimized)
}

// List compiles the kernels of a valid module and lists their code as [offload.Lister] does.
func List(m *ir.Module, options Options) (string, error) {
	choices, err := options.choices()
	if err != nil {
		return "", err
	}
	m = m.Clone()
	f := newFunctions()
	if err := f.expand(m); err != nil {
		return "", err
	}
	opt.Run(m, opt.Default, nil)
	var parts []string
	for _, k := range m.Kernels {
		text, err := list(choices.engines(&machine.Info{}, f), m, k)
		if err != nil {
			return "", err
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "\n"), nil
}

// list gives the code of a kernel, or says why it has none.
func list(engines []engine, m *ir.Module, k *ir.Kernel) (string, error) {
	text := "\t# kernel " + k.Name + "\n"
	for _, e := range engines {
		v, ok := e.(vectorizer)
		if !ok {
			continue
		}
		p, err := spmd.Compile(k, spmd.Options{Features: v.features, Gang: v.gang})
		var u *spmd.UnsupportedError
		if err == nil {
			err = p.Check()
		}
		if errors.As(err, &u) {
			return text + "\t# run by the interpreter: " + refusal(m, k, err) + "\n", nil
		}
		if err != nil {
			return "", err
		}
		code, err := p.Listing(func(site int) string {
			pos, source := position(m, k, site)
			if pos.Line == 0 {
				return ""
			}
			return fmt.Sprintf("%v  %s", pos, source)
		})
		return text + "\t# " + p.Describe() + "\n" + code, err
	}
	return text + "\t# run by the interpreter\n", nil
}
