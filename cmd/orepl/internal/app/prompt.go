package app

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/orepl/orepl/bindings/inside"
	"github.com/orepl/orepl/bindings/offloadjs/launch"
	"github.com/orepl/orepl/cmd/orepl/internal/repl"
	"github.com/orepl/orepl/lang"
)

// closingTime bounds the wait for running commands when the prompt ends.
const closingTime = 2 * time.Second

// runREPL implements orepl repl. With -e it runs the code as a script, and without a terminal standard input.
func runREPL(inv *invocation) error {
	code := inv.flags.String("e", "", "run `CODE` as a script in which the names of the prompt are global")
	load := inv.flags.String("i", "", "load `FILE` before the first prompt, as .load does")
	noInit := inv.flags.Bool("no-init", false, "do not load the start-up file: what OREPL_INIT names, or orepl/init.js in the directory of configurations")
	quiet := inv.noWarnings()
	args, err := inv.parse()
	if err != nil {
		return err
	}
	if *code != "" {
		if *load != "" {
			return &usageError{"-e and -i are given", "-i FILE leaves you at the prompt; import('FILE') in the code loads a file, too"}
		}
		return inv.evaluate("eval.js", *code, lang.Options{Args: args, Stdin: inv.Stdin})
	}
	if len(args) > 0 {
		return &usageError{"orepl repl takes no arguments", "to run a script, write: orepl run FILE; to load it and stay: orepl -i FILE"}
	}
	if !isTerminal(inv.Stdin) {
		if *load != "" {
			return &usageError{"-i needs a terminal", "to run a script, write: orepl run FILE"}
		}
		text, err := io.ReadAll(inv.Stdin)
		if err != nil {
			return err
		}
		return inv.evaluate("stdin.js", string(text), lang.Options{})
	}
	rt := inv.open()
	init := ""
	if !*noInit {
		init = inv.initFile()
	}
	// Ctrl-C ends the invocation's context permanently, but at the prompt only the running code.
	ctx := context.WithoutCancel(inv.ctx)
	err = repl.Run(ctx, repl.Options{
		NewEngine: inside.Of(rt).NewEngine, Engine: lang.Options{Env: inv.environ(), NoWarnings: *quiet},
		Session: rt.Session(), Compiled: inside.Of(rt).Environment.Observe, Registry: inside.Of(rt).Registry(),
		Emit:  inv.forms(),
		Stdin: inv.Stdin, Stdout: inv.Stdout, Colors: inv.colors(inv.Stdout), Graphics: inv.terminal(),
		History: inv.history(), Init: init, Load: *load, Exit: os.Exit,
	})
	closing, cancel := context.WithTimeoutCause(ctx, closingTime,
		fmt.Errorf("it still ran %v after the prompt was left; press Ctrl-C, or await it, before you leave", closingTime))
	defer cancel()
	if cerr := rt.Shutdown(closing); err == nil {
		err = cerr
	}
	return err
}

// evaluate runs a text as a script with the names of the prompt as globals.
func (inv *invocation) evaluate(name, text string, opts lang.Options) error {
	rt := inv.open()
	opts.Prompt = true
	e, err := inv.engine(rt, opts)
	if err != nil {
		return err
	}
	_, err = e.Run(inv.ctx, name, text)
	return inv.close(e, rt, err)
}

// initFile returns the start-up file of the prompt: OREPL_INIT if that is set, else a file in the configuration folder if it exists.
// It returns "" if there is none. An empty OREPL_INIT disables the file.
func (inv *invocation) initFile() string {
	if file, set := inv.environ()["OREPL_INIT"]; set {
		return file
	}
	dir := inv.env("XDG_CONFIG_HOME")
	if home := inv.env("HOME"); dir == "" && home != "" {
		dir = filepath.Join(home, ".config")
	}
	if file := filepath.Join(dir, "orepl", "init.js"); dir != "" && isFile(file) {
		return file
	}
	return ""
}

// forms returns the emitters of kernels for the prompt.
func (inv *invocation) forms() map[string]func(launch.Compilation) (string, error) {
	forms := make(map[string]func(launch.Compilation) (string, error), len(emitters))
	for name, emit := range emitters {
		forms[name] = func(c launch.Compilation) (string, error) { return emit(inv, c) }
	}
	return forms
}

// history returns the file for the history of blocks: OREPL_HISTORY, or a file in the home folder. An empty OREPL_HISTORY
// disables it.
func (inv *invocation) history() string {
	if file, set := inv.environ()["OREPL_HISTORY"]; set {
		return file
	}
	if home := inv.env("HOME"); home != "" {
		return filepath.Join(home, ".orepl_history")
	}
	return ""
}
