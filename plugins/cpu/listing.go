package cpu

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/opt"
	"github.com/orepl/orepl/plugins/cpu/internal/machine"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd"
	"github.com/orepl/orepl/plugins/portable"
	"github.com/orepl/orepl/runtime/offload"
)

// Listing implements [offload.Lister]. Format "asm" returns the kernel's vector code with source lines, or the reason why it has
// none. Format "engine" names the code that runs, and the reasons why better engines do not run the kernel. Errors:
// Unsupported for another format, NotFound for an unknown kernel, and an error of its compilation.
func (p *program) Listing(name, format string) (string, error) {
	if format != "asm" && format != "engine" {
		return "", offload.Errorf(offload.Unsupported, "listing", "the CPU device lists code as asm, not %s", format).On(p.device.id, name)
	}
	i := slices.IndexFunc(p.module.Value.kernels, func(k *kernel) bool { return k.info.Name == name })
	if i < 0 {
		return "", offload.Errorf(offload.NotFound, "listing", "the program has no kernel of this name").On(p.device.id, name)
	}
	k := p.module.Value.kernels[i]
	if format == "engine" {
		v, err := k.variant(offload.ChecksOn)
		if err != nil {
			return "", err
		}
		return k.engine(v), nil
	}
	return list(p.device.modules.engines, k.module, k.optimized, nil)
}

// List compiles the kernels of a valid module and returns their code for launches with the groups; groups that run the same
// code share a listing. A kernel without vector code has a text with the reason instead. Without groups, List returns the code
// of typical launches. If groups of the default size run as one gang each, their code comes first. The switch cpu-engine may
// name an engine that this machine cannot run.
func List(m *ir.Module, options Options, groups ...Group) (string, error) {
	switches, err := options.switches()
	if err != nil {
		return "", err
	}
	choices := choicesFor(switches)
	choices.features = cmp.Or(needs.Get()[switches.CPUEngine], choices.features)
	m = m.Clone()
	if err := expand(m); err != nil {
		return "", err
	}
	opt.Run(m, opt.Default, nil)
	var parts []string
	for _, k := range m.Kernels {
		text, err := list(choices.engines(&machine.Info{}), m, k, groups)
		if err != nil {
			return "", err
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "\n"), nil
}

// Group is a work-group size of launches.
type Group struct {
	Size   [3]int
	Ragged bool // the launch's size is not a multiple of Size
}

// list returns the code of a kernel for launches with these groups, or a text with the reason why it has none.
func list(engines []engine, m *ir.Module, k *ir.Kernel, groups []Group) (string, error) {
	text := "\t# kernel " + k.Name + "\n"
	for _, e := range engines {
		v, ok := e.(vectorizer)
		if !ok {
			continue
		}
		p, err := spmd.Compile(k, spmd.Options{Features: v.features, Gang: v.gang, Dump: v.dump})
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
		return listCode(text, p, groups, func(site int) string {
			pos, source := portable.Position(m, k, site)
			if pos.Line == 0 {
				return ""
			}
			return fmt.Sprintf("%v  %s", pos, source)
		})
	}
	return text + "\t# run by the interpreter\n", nil
}

// listCode returns the code that launches with these groups run, after the text head. Without groups, it lists typical launches.
// describe returns the source line of a site, or "".
func listCode(head string, p *spmd.Program, groups []Group, describe func(site int) string) (string, error) {
	oneGang := p.OneGangGroups()
	if len(groups) == 0 && len(oneGang) > 0 {
		groups = []Group{{Size: offload.DefaultGroupSize([3]int{1, 1, 1})}, {Ragged: true}}
	}
	var specs []spmd.Spec
	add := func(s spmd.Spec) {
		if !slices.Contains(specs, s) {
			specs = append(specs, s)
		}
	}
	for _, g := range groups {
		if s, ok := p.OneGang(g.Size[0]); ok && !g.Ragged && g.Size[1] == 1 && g.Size[2] == 1 && slices.Contains(oneGang, g.Size[0]) {
			add(s)
		} else {
			add(p.Listed())
		}
	}
	if len(specs) == 0 {
		add(p.Listed())
	}
	if len(oneGang) > 0 {
		var sizes []string
		for _, n := range oneGang {
			sizes = append(sizes, fmt.Sprint(n))
		}
		head += "\t# groups of " + strings.Join(sizes, ", ") + " work-items along x alone, if they are complete, run as one gang each, by code of their own\n"
	}
	text := head
	for i, s := range specs {
		code, err := p.List(s, describe)
		if err != nil {
			return "", err
		}
		if i > 0 {
			text += "\n"
		}
		what := p.Describe(s)
		if s == p.Listed() && len(oneGang) > 0 {
			what += ": other groups"
		}
		text += "\t# " + what + "\n" + code
	}
	return text, nil
}
