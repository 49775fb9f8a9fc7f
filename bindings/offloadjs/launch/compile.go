package launch

import (
	"fmt"

	"github.com/orepl/orepl/lang/kernel"
	"github.com/orepl/orepl/lang/kernel/overflow"
)

// comparedLaunches is the maximum number of launches of a script's kernel that compare captured values.
const comparedLaunches = 64

// compile compiles a kernel. It records the parts of captured objects that the compilation reads, if later launches compare them. With
// overflows set, integer overflow is a fault.
func (m *Module) compile(k *Kernel, args []kernel.Arg, overflows bool) (*kernel.Compiled, error) {
	if m.Engine.Options().Prompt || k.compared < comparedLaunches && !k.quiet {
		defer m.capture.Record(&k.captures)()
	}
	opts := k.opts
	if overflows {
		opts.Branches, opts.Warnings = true, false
	}
	defer m.env.session.Trace().Compile("program", "compile "+k.name)()
	code, err := k.fn.Compile(args, opts)
	if err == nil && overflows {
		err = overflow.Check(code)
	}
	return code, err
}

// warnOfChanges warns of captured values that differ from the current ones. In a script it warns once per kernel, and compares them
// at the first comparedLaunches launches only.
func (m *Module) warnOfChanges(k *Kernel) {
	script := !m.Engine.Options().Prompt
	hint := func(path string) string {
		if script {
			return fmt.Sprintf("pass %s as an argument, or make the kernel anew with kernel()", path)
		}
		return fmt.Sprintf("make the kernel anew (enter its definition again), or pass %s as an argument", path)
	}
	if script {
		if k.compared++; k.compared >= comparedLaunches {
			defer func() { k.captures = nil }()
		}
	}
	for _, h := range k.captures {
		path, now, was := h.Changed(m.capture)
		switch {
		case path == "":
			continue
		case now == was && !script:
			m.Engine.WarnAlways(fmt.Sprintf("%s has another value than at the creation of the kernel %s, which keeps the old one", path, k.name),
				"make the kernel anew: enter its definition again")
		case now == was:
			m.Engine.WarnAlways(fmt.Sprintf("%s has another value than at the creation of the kernel %s, which keeps the old one", path, k.name),
				"make the kernel anew with kernel()")
		default:
			m.Engine.WarnAlways(fmt.Sprintf("%s is %s now, but the kernel %s was made when it was %s, and goes on with that", path, now, k.name, was),
				hint(path))
		}
		if script {
			k.compared, k.captures = comparedLaunches, nil
			return
		}
	}
}
