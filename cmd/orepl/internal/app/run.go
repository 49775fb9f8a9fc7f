package app

import (
	"time"

	"github.com/orepl/orepl/lang"
)

// limitFlags are the flags that bound a script.
type limitFlags struct {
	timeout time.Duration
	memory  uint
}

func (inv *invocation) limits() *limitFlags {
	l := &limitFlags{}
	inv.flags.DurationVar(&l.timeout, "timeout", 0, "end the script after this `time`, such as 30s")
	inv.flags.UintVar(&l.memory, "memory", 0, "end the script when its heap exceeds this many `MiB`")
	return l
}

func (l *limitFlags) options() lang.Limits {
	return lang.Limits{Time: l.timeout, Memory: uint64(l.memory) << 20}
}

// runScript is orepl run.
func runScript(inv *invocation) error {
	limits := inv.limits()
	args, err := inv.parse()
	if err != nil {
		return err
	}
	if len(args) == 0 {
		return &usageError{"the script's file is missing", "write: orepl run FILE [ARGS…]"}
	}
	return inv.script(args, limits)
}

// script runs a file with arguments.
func (inv *invocation) script(args []string, limits *limitFlags) error {
	rt := inv.open()
	e, err := inv.engine(rt, lang.Options{Args: args[1:], Limits: limits.options()})
	if err != nil {
		return err
	}
	_, err = e.RunFile(inv.ctx, args[0])
	return inv.close(e, rt, err)
}
