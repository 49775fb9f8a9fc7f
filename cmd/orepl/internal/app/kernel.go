package app

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/orepl/orepl/bindings/inside"
	"github.com/orepl/orepl/bindings/offloadjs/launch"
	"github.com/orepl/orepl/kernels"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/kernel/emit/clc"
	"github.com/orepl/orepl/lang/kernel/emit/ptx"
	"github.com/orepl/orepl/lang/kernel/emitjs"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/lower"
	"github.com/orepl/orepl/lang/kernel/opt"
	"github.com/orepl/orepl/lang/spelling"
	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/image"
)

// emitters maps the kinds of --emit to functions that convert compiled kernels to text.
var emitters = map[string]func(*invocation, ...launch.Compilation) (string, error){
	"ir": each(func(_ *invocation, c launch.Compilation) (string, error) { return c.Kernel.Module.String(), nil }),
	"opt": each(func(_ *invocation, c launch.Compilation) (string, error) {
		m, err := expanded(c)
		if err != nil {
			return "", err
		}
		opt.Run(m, opt.Default, nil)
		return m.String(), nil
	}),
	"js": func(_ *invocation, list ...launch.Compilation) (string, error) {
		var all []*ir.Kernel
		for _, c := range list {
			m, err := expanded(c)
			if err != nil {
				return "", err
			}
			all = append(all, m.Kernels...)
		}
		return emitjs.Module(all...)
	},
	"clc": lowered(clc.Target, nil, func(_ []string, list ...*lower.Kernel) (string, error) { return clc.Emit(list...) }),
	"ptx": lowered(ptx.Target, ptx.Unroll, func(files []string, list ...*lower.Kernel) (string, error) {
		return ptx.Options{Files: files}.Emit(list...)
	}),
	"warnings": each(func(_ *invocation, c launch.Compilation) (string, error) { return c.Warnings(), nil }),
	"asm": each(func(inv *invocation, c launch.Compilation) (string, error) {
		var options cpu.Options
		if engine := inv.flags.Lookup("engine"); engine != nil && engine.Value.String() != "" { // the prompt does not have this flag
			options.Debug = "cpu-engine=" + engine.Value.String()
		}
		var groups []cpu.Group
		for _, s := range c.Shapes() {
			groups = append(groups, cpu.Group{Size: s.Group, Ragged: s.Ragged})
		}
		return cpu.List(c.Kernel.Module, options, groups...)
	}),
}

// lowered returns an emitter that lowers kernels for a target. prepare, if not nil, converts a kernel before lowering. emit
// receives the names of the source files, or nil unless they are equal for all kernels.
func lowered(target func() (*lower.Target, error), prepare func(*ir.Kernel) *ir.Kernel, emit func(files []string, list ...*lower.Kernel) (string, error)) func(*invocation, ...launch.Compilation) (string, error) {
	return func(_ *invocation, list ...launch.Compilation) (string, error) {
		to, err := target()
		if err != nil {
			return "", err
		}
		var all []*lower.Kernel
		var files []string
		for i, c := range list {
			m, err := expanded(c)
			if err != nil {
				return "", err
			}
			if i == 0 {
				files = m.Files
			} else if !slices.Equal(files, m.Files) {
				files = nil
			}
			opt.Run(m, opt.Default, nil)
			for _, k := range m.Kernels {
				if prepare != nil {
					k = prepare(k)
				}
				l, err := lower.Lower(k, to, lower.Options{MaxGroup: largestGroup(c)})
				if err != nil {
					return "", lowerError(m, k, err)
				}
				all = append(all, l)
			}
		}
		return emit(files, all...)
	}
}

// lowerError adds the source position to the error of a kernel that cannot be lowered. It returns errors without a site
// unchanged.
func lowerError(m *ir.Module, k *ir.Kernel, err error) error {
	var unsupported *lower.UnsupportedError
	if !errors.As(err, &unsupported) || unsupported.Site >= len(k.Sites) {
		return err
	}
	d := diag.New("unsupported", "%v", err)
	if s := k.Sites[unsupported.Site]; s.File < len(m.Files) && s.Line > 0 {
		d.Position = diag.Position{File: m.Files[s.File], Line: s.Line, Column: s.Col}
		d.Message += fmt.Sprintf(" in `%s`", s.Text)
	}
	return d
}

// largestGroup returns the number of items of the largest group in launches of the kernel, at least that of default groups.
func largestGroup(c launch.Compilation) int {
	items := 256
	for _, s := range c.Shapes() {
		items = max(items, s.Group[0]*s.Group[1]*s.Group[2])
	}
	return items
}

// each returns an emitter that joins the texts of the kernels.
func each(emit func(*invocation, launch.Compilation) (string, error)) func(*invocation, ...launch.Compilation) (string, error) {
	return func(inv *invocation, list ...launch.Compilation) (string, error) {
		var texts []string
		for _, c := range list {
			text, err := emit(inv, c)
			if err != nil {
				return "", err
			}
			texts = append(texts, text)
		}
		return strings.Join(texts, "\n"), nil
	}
}

// expanded returns a copy of the kernel's module in which the calls of library functions are inlined.
func expanded(c launch.Compilation) (*ir.Module, error) {
	m := c.Kernel.Module.Clone()
	return m, kernels.New().Expand(m)
}

// runKernel implements orepl kernel.
func runKernel(inv *invocation) error {
	out := inv.flags.String("o", "", "write the kernels as portable IR to a `file`, a container that register(file) takes, in place of showing them")
	emit := inv.flags.String("emit", "ir", "the `kind` of text to show: ir, opt (optimised IR), js, asm (the CPU device's code), clc (OpenCL C), ptx (for NVIDIA) or warnings; ir unless given")
	name := inv.flags.String("name", "", "only the kernel of this `name`")
	engine := inv.flags.String("engine", "", "the instruction `set` of --emit asm: avx2 or avx512; the best of this machine unless given")
	stop := inv.flags.Bool("stop-at-launch", false, "end the script in place of the launch after which every kernel that it has made so far is compiled; with --name, in place of that kernel's first launch")
	limits := inv.limits()
	args, err := inv.parse()
	if err != nil {
		return err
	}
	if len(args) == 0 {
		return &usageError{"the script's file is missing", "write: orepl kernel [--emit ir] FILE [ARGS…]"}
	}
	if err := checkFile(args[0], "write: orepl kernel [--emit ir] FILE [ARGS…]"); err != nil {
		return err
	}
	// Flags may also follow the file; arguments after "--" are the script's.
	rest, err := inv.parseArgs(args[1:])
	if err != nil {
		return err
	}
	args = append(args[:1:1], rest...)
	emitter := emitters[*emit]
	if emitter == nil {
		return &usageError{fmt.Sprintf("--emit %s is unknown", *emit), "write --emit ir, opt, js, asm, clc, ptx or warnings"}
	}
	switch {
	case *out != "" && isSet(inv.flags, "emit"):
		return &usageError{"-o and --emit exclude each other", "-o writes portable IR for register(); --emit shows a text"}
	case *engine != "" && *emit != "asm":
		return &usageError{"--engine is of --emit asm alone", "write --emit asm --engine " + *engine}
	case *engine != "" && *engine != "avx2" && *engine != "avx512":
		return &usageError{fmt.Sprintf("--engine %s is unknown", *engine), "write --engine avx2 or avx512"}
	}
	opts, err := limits.options(lang.Options{Args: args[1:]})
	if err != nil {
		return err
	}
	rt := inv.open()
	script := *inv // separates the script's output from the listing
	script.Stdout = inv.Stderr
	e, err := script.engine(rt, opts)
	if err != nil {
		return err
	}
	var compiled []launch.Compilation
	inside.Of(rt).Environment.Observe(func(c launch.Compilation) { compiled = append(compiled, c) })
	stopped := false
	if *stop {
		inside.Of(rt).Environment.StopAtLaunch(*name, func() error {
			stopped = true
			e.Exit(ExitOK) // an exit, which the script cannot catch
			return errStopped
		})
	}
	if _, err = e.RunFile(inv.ctx, args[0]); stopped {
		err = nil
	}
	shown := slices.DeleteFunc(slices.Clone(compiled), func(c launch.Compilation) bool { return *name != "" && c.Name != *name })
	switch {
	case *out != "" && err != nil: // after a failure, kernels may be missing
	case *out != "" && len(shown) > 0:
		data, failure := bundle(args[0], shown)
		if failure == nil {
			failure = image.ReplaceFile(*out, data)
		}
		err = failure
	case len(shown) > 0:
		text, err := emitter(inv, shown...)
		if err != nil {
			return inv.close(e, rt, err)
		}
		fmt.Fprint(output{inv}, text)
	case err == nil:
		err = noKernel(args[0], *name, compiled)
	}
	return inv.close(e, rt, err)
}

// errStopped is the error of the launch at which --stop-at-launch ends a script.
var errStopped = errors.New("stopped at a launch")

// noKernel returns the usage error for a script that compiled no kernel, or none of the name.
func noKernel(file, name string, compiled []launch.Compilation) error {
	if len(compiled) == 0 {
		return &usageError{file + " compiled no kernel",
			"a kernel is compiled when it is launched, or when it is made with a signature: kernel({ x: [f32] }, (g, x) => { … })"}
	}
	var names []string
	for _, c := range compiled {
		names = append(names, c.Name)
	}
	hint := "it compiled " + strings.Join(names, ", ")
	if near := spelling.Nearest(name, names); near != "" {
		hint = "did you mean " + near + "? " + hint
	}
	return &usageError{fmt.Sprintf("%s compiled no kernel %q", file, name), hint}
}
