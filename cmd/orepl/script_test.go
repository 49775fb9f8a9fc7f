package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"syscall"
	"testing"

	"github.com/orepl/orepl/plugins/all"
	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/debug"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) != "orepl" {
		for _, s := range []os.Signal{os.Interrupt, syscall.SIGHUP} { // programs that tests start must not inherit that they are ignored
			if signal.Ignored(s) {
				signal.Notify(make(chan os.Signal, 1), s)
			}
		}
	}
	testscript.Main(m, map[string]func(){"orepl": main})
}

// TestScripts tests the command line: each file under tests/script is a session of commands with their output and exit
// codes.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           "../../tests/script",
		Cmds:          map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "wrong": wrong},
		Condition:     condition,
		UpdateScripts: os.Getenv("OREPL_UPDATE") != "",
		Setup: func(env *testscript.Env) error {
			env.Setenv("GOROOT", os.Getenv("GOROOT"))
			env.Setenv(debug.Variable, os.Getenv(debug.Variable))
			return nil
		},
	})
}

// wrong is exits for a script with an error: the output must have file, line and column, the code and a hint.
func wrong(ts *testscript.TestScript, neg bool, args []string) {
	exits(ts, neg, args)
	printed := ts.ReadFile("stderr")
	for what, pattern := range map[string]string{
		"a place": `(?m)^ +--> \S+:\d+:\d+$`, "the code": `(?m)^ +\d+ \| .*\n +\| +\^+$`, "a hint": `(?m)^hint: \S`,
	} {
		if !regexp.MustCompile(pattern).MatchString(printed) {
			ts.Fatalf("%v: no %s in\n%s", args[1:], what, printed)
		}
	}
}

// condition reports whether kernels can be compiled for vector extensions, [avx2] and [avx512], and whether the machine has
// an OpenCL driver, [opencl], which CI requires.
func condition(name string) (bool, error) {
	if name == "opencl" {
		list := all.Plugins()
		i := slices.IndexFunc(list, func(p offload.Plugin) bool { return p.Name() == name })
		platform, err := list[i].Open(context.Background())
		switch {
		case err == nil:
			return true, platform.Close()
		case os.Getenv("CI") == "true":
			return false, err
		}
		return false, nil
	}
	platform, err := cpu.New(cpu.Options{Debug: "cpu-engine=" + name}).Open(context.Background())
	if offload.CodeOf(err) == offload.Unsupported {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("condition %s: %w", name, err)
	}
	return true, platform.Close()
}

// exits runs a command and checks its exit code: exits 107 orepl run bad.js.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARGS…]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	code := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var coded interface{ ExitCode() int }
		if !errors.As(err, &coded) {
			ts.Fatalf("%v", err)
		}
		code = coded.ExitCode()
	}
	if code != want {
		ts.Fatalf("%v: exit code %d, expected %d", args[1:], code, want)
	}
}
