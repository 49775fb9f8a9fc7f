// Package repl is the prompt: it reads blocks of lines, runs them in an engine and prints their values.
package repl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	"github.com/dop251/goja"
	"github.com/peterh/liner"

	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/inspect"
)

// Options configure a prompt.
type Options struct {
	Engine *lang.Engine
	Stdout io.Writer
	Colors bool
	Home   string // directory of the history file; empty: history is not kept
}

// Run reads and evaluates until end of input or .exit.
func Run(ctx context.Context, o Options) error {
	line := liner.NewLiner()
	defer line.Close()
	line.SetCtrlCAborts(true)
	line.SetMultiLineMode(true)
	history := ""
	if o.Home != "" {
		history = filepath.Join(o.Home, ".orepl_history")
		if f, err := os.Open(history); err == nil {
			_, _ = line.ReadHistory(f) // a damaged history is no reason not to start
			f.Close()
		}
	}
	fmt.Fprintln(o.Stdout, "orepl: .help for help, .exit or Ctrl-D to leave")
	for n := 1; ; n++ {
		block, err := read(line)
		switch {
		case errors.Is(err, liner.ErrPromptAborted):
			continue
		case errors.Is(err, io.EOF), block == ".exit":
			return saveHistory(line, history)
		case err != nil:
			return err
		case strings.TrimSpace(block) == "":
			continue
		}
		line.AppendHistory(strings.ReplaceAll(block, "\n", " "))
		if block == ".help" {
			fmt.Fprintln(o.Stdout, ".exit leaves; anything else is JavaScript. The names of the module 'offload' are global.")
			continue
		}
		evaluate(ctx, o, fmt.Sprintf("repl-%d.js", n), block)
	}
}

// read reads lines until they are a complete text.
func read(line *liner.State) (string, error) {
	block, prompt := "", "> "
	for {
		text, err := line.Prompt(prompt)
		if err != nil {
			return "", err
		}
		block += text
		if strings.HasPrefix(block, ".") || !incomplete(block) {
			return block, nil
		}
		block += "\n"
		prompt = "... "
	}
}

// evaluate runs a block and prints its value. Ctrl-C stops it.
func evaluate(ctx context.Context, o Options, name, block string) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	v, err := o.Engine.Eval(ctx, name, block)
	if err != nil {
		diag.Print(o.Stdout, err, o.Colors)
		return
	}
	if v == nil || goja.IsUndefined(v) || strings.HasSuffix(strings.TrimSpace(block), ";") {
		return
	}
	err = o.Engine.Do(ctx, func(*goja.Runtime) error {
		fmt.Fprintln(o.Stdout, o.Engine.InspectValue(v, inspect.Options{Colors: o.Colors}))
		return nil
	})
	if err != nil {
		diag.Print(o.Stdout, err, o.Colors)
	}
}

func saveHistory(line *liner.State, path string) error {
	if path == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return nil // a read-only home is no failure of the session
	}
	defer f.Close()
	_, err = line.WriteHistory(f)
	return err
}
