package app

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/orepl/orepl/bindings/offload"
	"github.com/orepl/orepl/cmd/orepl/internal/repl"
	"github.com/orepl/orepl/lang"
)

// closingTime is how long commands that still run on devices may take when a person leaves the prompt.
const closingTime = 2 * time.Second

// runREPL is orepl repl. Without a terminal it runs standard input as a script.
func runREPL(inv *invocation) error {
	args, err := inv.parse()
	if err != nil {
		return err
	}
	if len(args) > 0 {
		return &usageError{"orepl repl takes no arguments", "to run a script, write: orepl run FILE"}
	}
	rt := inv.open()
	if !isTerminal(inv.Stdin) {
		text, err := io.ReadAll(inv.Stdin)
		if err != nil {
			return err
		}
		e, err := inv.engine(rt, lang.Options{Prompt: true})
		if err != nil {
			return err
		}
		_, err = e.Run(inv.ctx, "stdin.js", string(text))
		return inv.close(e, rt, err)
	}
	// Ctrl-C ends the invocation's context for good, but at the prompt only what runs.
	ctx := context.WithoutCancel(inv.ctx)
	err = repl.Run(ctx, repl.Options{
		NewEngine: rt.NewEngine, Engine: lang.Options{Env: inv.environ()},
		Session: rt.Session(), Compiled: rt.Environment().Observe, Registry: rt.Registry(),
		Emit:  inv.forms(),
		Stdin: inv.Stdin, Stdout: inv.Stdout, Colors: inv.colors(inv.Stdout),
		History: inv.history(), Exit: os.Exit,
	})
	closing, cancel := context.WithTimeout(ctx, closingTime)
	defer cancel()
	if cerr := rt.Close(closing); err == nil {
		err = cerr
	}
	return err
}

// forms are the emitters of kernels.
func (inv *invocation) forms() map[string]func(offload.Compilation) (string, error) {
	forms := make(map[string]func(offload.Compilation) (string, error), len(emitters))
	for name, emit := range emitters {
		forms[name] = func(c offload.Compilation) (string, error) { return emit(inv, c) }
	}
	return forms
}

// history is the file that keeps what was entered at the prompt: OREPL_HISTORY, or a file in the home directory. An
// empty OREPL_HISTORY keeps nothing.
func (inv *invocation) history() string {
	if file, set := inv.environ()["OREPL_HISTORY"]; set {
		return file
	}
	if home := inv.env("HOME"); home != "" {
		return filepath.Join(home, ".orepl_history")
	}
	return ""
}
