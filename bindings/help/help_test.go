package help_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/bindings/inside"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/offload"
)

func run(t *testing.T, script string) (string, error) {
	t.Helper()
	rt := orepl.Open(orepl.Options{Plugins: []offload.Plugin{cpu.New(cpu.Options{})}})
	defer rt.Close()
	var out bytes.Buffer
	e, err := inside.Of(rt).NewEngine(lang.Options{Stdout: &out, Prompt: true})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	_, err = e.Run(context.Background(), "help.js", script)
	return out.String(), err
}

func TestHelp(t *testing.T) {
	for _, c := range []struct{ script, want string }{
		{"help()", "fs               Files: reading, writing, directories."},
		{"help('fs')", "readText         Reads a UTF-8 text file."},
		{"help('fs.readText')", "readText(path: string): Promise<string>\n"},
		{"help(fs.readText)", "readText(path: string): Promise<string>\n"},
		{"help(console)", "console: Console"},
		{"help(console.table)", "table("},
		{"help(f32)", "f32: Type<'f32'>"},
		{"help(device('cpu'))", "class Device\n"},
		{"help(device('cpu').buffer(f32, 1))", "class Buffer<"},
		{"help(device('cpu').queue.sync)", "sync(options?: { signal?: AbortSignal }): Promise<void>"},
		{"help(URL.canParse)", "canParse("},
		{"help('g.barrier')", "barrier(): void"},
		{"help('Math.fma')", "one rounding"},
		{"help(Math.cos)", "cos(x: number): number\n"},
		{"help([].map)", "Array.prototype.map\n"},
		{"help(JSON)", "JSON\n  JSON.parse(text)"},
		{"help('Math.random')", "On the host only"},
		{"help(offload)", "module 'offload'"},
		{"help(help)", "help(what?: unknown): void"},
		{"help(setTimeout)", "Example:\n  setTimeout("},
	} {
		out, err := run(t, c.script)
		if err != nil || !strings.Contains(out, c.want) {
			t.Errorf("%s: no %q in\n%s%v", c.script, c.want, out, err)
		}
	}
}

func TestUnknownNamesHint(t *testing.T) {
	_, err := run(t, "help('fs.readTxet')")
	if diag.Code(err) != "not-found" || !strings.Contains(diag.Hint(err), `did you mean "fs.readText"?`) {
		t.Errorf("%v, hint %q", err, diag.Hint(err))
	}
	if _, err = run(t, "help({})"); !strings.Contains(diag.Hint(err), "help()") {
		t.Errorf("%v, hint %q", err, diag.Hint(err))
	}
}
