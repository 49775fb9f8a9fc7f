package app

import (
	"io"

	"github.com/orepl/orepl/cmd/orepl/internal/repl"
	"github.com/orepl/orepl/lang"
)

// runREPL is orepl repl. Without a terminal it runs standard input as a script.
func runREPL(inv *invocation) error {
	args, err := inv.parse()
	if err != nil {
		return err
	}
	if len(args) > 0 {
		return &usageError{"orepl repl takes no arguments", "to run a script, write: orepl run FILE"}
	}
	if !isTerminal(inv.Stdin) {
		text, err := io.ReadAll(inv.Stdin)
		if err != nil {
			return err
		}
		rt := inv.open()
		e, err := inv.engine(rt, lang.Options{Prompt: true})
		if err != nil {
			return err
		}
		_, err = e.Run(inv.ctx, "stdin.js", string(text))
		return inv.close(e, rt, err)
	}
	rt := inv.open()
	e, err := inv.engine(rt, lang.Options{Prompt: true})
	if err != nil {
		return err
	}
	err = repl.Run(inv.ctx, repl.Options{
		Engine: e, Stdout: inv.Stdout, Colors: inv.colors(inv.Stdout), Home: inv.env("HOME"),
	})
	return inv.close(e, rt, err)
}
