// Package hostile runs hostile scripts, which are files in the archives of this folder.
package hostile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/bindings/inside"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/isolate"
	"github.com/orepl/orepl/plugins/all"
	"github.com/orepl/orepl/runtime/stopwatch"
)

// bound is the time limit of every attempt on a busy machine.
const bound = 20 * time.Second

// shortTime is the time limit of attempts for which a timeout is an accepted result.
const shortTime = 200 * time.Millisecond

// Environment variables of a process that runs an attempt without isolation: the attempt's name, and whether it may time
// out.
const (
	inProcess  = "OREPL_HOSTILE"
	mayTimeOut = "OREPL_HOSTILE_TIME"
)

func TestMain(m *testing.M) {
	isolate.Serve(build)
	if name := os.Getenv(inProcess); name != "" {
		os.Exit(runInProcess(name))
	}
	if seed, err := strconv.ParseUint(os.Getenv(fuzzSeed), 10, 64); err == nil {
		duration, err := time.ParseDuration(os.Getenv(fuzzTime))
		if err != nil {
			panic(err)
		}
		os.Exit(runFuzz(seed, duration))
	}
	if err := os.Setenv("HOSTILE_SECRET", "of the host"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

func build(s isolate.Setup) (isolate.Served, error) {
	e, closeRest, err := open(s.Options)
	return isolate.Served{Engine: e, Close: closeRest}, err
}

func open(o lang.Options) (*lang.Engine, func() error, error) {
	rt := orepl.Open(orepl.Options{Plugins: all.Plugins()})
	e, err := inside.Of(rt).NewEngine(o)
	return e, func() error { return rt.Shutdown(context.Background()) }, err
}

// options returns the limits of an attempt. Attempts that must hit a memory or stack limit have more time.
func options(t interface{ Fatal(...any) }, allowed string, mayTimeOut bool) lang.Options {
	inside, err := lang.Inside(allowed)
	if err != nil {
		t.Fatal(err)
	}
	limit := 15 * time.Second
	if mayTimeOut {
		limit = shortTime
	}
	return lang.Options{
		Dir:    allowed,
		Limits: lang.Limits{Time: limit, Memory: 40 << 20, DeviceMemory: 64 << 20, Launches: 100, CallDepth: 1000},
		Policy: lang.Policy{Read: inside, Write: inside},
	}
}

// attempt is one script.
type attempt struct {
	name, text string
	expect     []string // accepted error codes; "ok" for success
	isolated   bool     // the attempt needs isolation in its own process
}

func attempts(t *testing.T) []attempt {
	archives, err := filepath.Glob("*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var list []attempt
	for _, path := range archives {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			a := attempt{name: strings.TrimSuffix(path, ".txtar") + "-" + f.Name, text: string(f.Data)}
			for line := range strings.Lines(a.text) {
				if codes, ok := strings.CutPrefix(line, "// expect: "); ok {
					a.expect = strings.Fields(codes)
				}
				a.isolated = a.isolated || strings.HasPrefix(line, "// only isolated: ")
			}
			if len(a.expect) == 0 {
				t.Fatalf("%s says not what is expected", a.name)
			}
			list = append(list, a)
		}
	}
	return list
}

// lair creates the folder that scripts may use, next to files that they must not read.
func lair(t *testing.T, list []attempt) (allowed string) {
	dir := t.TempDir()
	allowed = filepath.Join(dir, "allowed")
	write := func(path, text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(allowed, 0o700); err != nil {
		t.Fatal(err)
	}
	write(filepath.Join(dir, "secret.txt"), "secret")
	write(filepath.Join(dir, "secret.js"), "console.log('ESCAPED')")
	write(filepath.Join(dir, "secret.so"), "secret")
	write(filepath.Join(allowed, "inside.txt"), "inside\n")
	write(filepath.Join(allowed, "time-endless.js"), "for (;;);")
	for name, target := range map[string]string{"link": "../secret.txt", "linkdir": "..", "dangling": "../new.txt"} {
		if err := os.Symlink(target, filepath.Join(allowed, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, a := range list {
		write(filepath.Join(allowed, a.name), a.text)
	}
	return allowed
}

func (a *attempt) check(t *testing.T, code, output, message string, took time.Duration) {
	t.Helper()
	if !slices.Contains(a.expect, code) {
		t.Errorf("ended with %q, expected %q\n%.2000s%.2000s", code, a.expect, output, message)
	}
	if strings.Contains(output, "ESCAPED") {
		t.Errorf("escaped:\n%.2000s", output)
	}
	if took > bound {
		t.Errorf("took %v", took)
	}
}

func code(err error) string {
	if err == nil {
		return "ok"
	}
	return diag.Code(err)
}

func TestCount(t *testing.T) {
	isolated := 0
	list := attempts(t)
	for _, a := range list {
		if a.isolated {
			isolated++
		}
	}
	if len(list) < 60 || isolated > 6 {
		t.Errorf("%d attempts, %d of them for isolation only", len(list), isolated)
	}
}

// TestIsolated checks that the host survives every attempt with isolation, in bounded time, with an error code.
func TestIsolated(t *testing.T) {
	t.Parallel() // each attempt runs in its own process
	list := attempts(t)
	allowed := lair(t, list)
	for _, a := range list {
		t.Run(a.name, func(t *testing.T) {
			var out bytes.Buffer
			o := options(t, allowed, slices.Contains(a.expect, "timeout"))
			o.Stdout, o.Stderr = &out, &out
			began := stopwatch.Start()
			e, err := isolate.Start(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			_, err = e.RunFile(t.Context(), a.name)
			took := began.Elapsed()
			_ = e.Close()
			message := ""
			if err != nil {
				message = diag.Format(err, false)
			}
			a.check(t, code(err), out.String(), message, took)
		})
	}
	if _, err := os.Stat(filepath.Join(allowed, "..", "new.txt")); err == nil {
		t.Error("a file was planted")
	}
}

// TestInProcess checks that the engine without isolation survives all attempts except the marked ones, each in a child
// process.
func TestInProcess(t *testing.T) {
	t.Parallel()
	list := attempts(t)
	allowed := lair(t, list)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range list {
		t.Run(a.name, func(t *testing.T) {
			limit := bound
			if a.isolated {
				limit = 2 * shortTime // expected to pass
			}
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			cmd := exec.CommandContext(ctx, program)
			cmd.Dir = allowed
			cmd.Env = []string{inProcess + "=" + a.name, "HOME=" + allowed}
			if slices.Contains(a.expect, "timeout") {
				cmd.Env = append(cmd.Env, mayTimeOut+"=1")
			}
			began := stopwatch.Start()
			var message bytes.Buffer
			cmd.Stderr = &message
			out, err := cmd.Output()
			took := began.Elapsed()
			text, last, survived := strings.Cut(string(out), "SURVIVED ")
			switch {
			case a.isolated && survived && err == nil:
				t.Errorf("survives after %v with %s: it needs no isolation", took, last)
			case a.isolated:
			case !survived || err != nil:
				t.Errorf("the process ended: %v\n%.1000s%.3000s", err, out, message.Bytes())
			default:
				a.check(t, strings.TrimSpace(last), text, message.String(), took)
			}
		})
	}
}

// runInProcess runs one attempt in bounded memory and reports that the process survived.
func runInProcess(name string) int {
	if err := isolate.BoundMemory(1 << 30); err != nil {
		fmt.Println(err)
		return 1
	}
	dir, err := os.Getwd()
	if err != nil {
		fmt.Println(err)
		return 1
	}
	e, closeRest, err := open(options(fatal{}, dir, os.Getenv(mayTimeOut) != ""))
	if err != nil {
		fmt.Println(err)
		return 1
	}
	_, err = e.RunFile(context.Background(), name)
	if err != nil {
		diag.Print(os.Stderr, err, false)
	}
	if again, evalErr := e.Eval(context.Background(), "p", "6 * 7"); evalErr != nil || again.ToInteger() != 42 {
		fmt.Println("the engine is unusable:", again, evalErr)
		return 1
	}
	fmt.Println("SURVIVED", code(err))
	_ = errors.Join(e.Close(), closeRest()) // errors of unfinished work of hostile scripts are ignored
	return 0
}

type fatal struct{}

func (fatal) Fatal(v ...any) { fmt.Println(v...); os.Exit(1) }
