// Package process implements the module 'process': the arguments, environment and streams of a script, and programs that it
// starts. Its default export is a global.
//
// # Design
//
// A script with a policy of files may start no programs unless the policy names them, since a program ignores the policy.
package process

import (
	"io"
	"maps"
	"math/big"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings"
	"github.com/orepl/orepl/bindings/process/input"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/internals"
)

// Module returns the module 'process'.
func Module() bindings.Module {
	member := func(kind bindings.Kind, name, signature, help string) bindings.Entry {
		return bindings.Entry{Name: name, Kind: kind, Signature: signature, Help: help}
	}
	write := []bindings.Entry{member(bindings.Method, "write", "write(text: string | Uint8Array): boolean", "Writes text or bytes, without a line terminator. Returns true, or throws if writing fails.")}
	return bindings.Module{
		Module:  lang.Module{Name: "process", Globals: []string{"process"}, Instantiate: instantiate},
		Help:    "The process that runs the script: arguments, environment, standard streams, exit.",
		Default: "process",
		Types: `/** The options of process.run. */
interface RunOptions {
  /** The standard input. Default: empty. */
  input?: string | ArrayBufferView | ArrayBuffer
  /** The working directory. Default: that of the script. */
  cwd?: string
  /** The environment variables. Default: those of the script. */
  env?: Record<string, string>
  /** The time limit in milliseconds. A program that runs longer is killed, and the promise is rejected. Default: no limit. */
  timeout?: number
  /** Aborting it kills the program and rejects the promise with the signal's reason. */
  signal?: AbortSignal
  /** Receives each line of the standard output, which is then not collected. */
  stdout?: (line: string) => void
  /** Receives each line of the standard error, which is then not collected. */
  stderr?: (line: string) => void
}
/** The standard input of a script. Reads happen in the order of the calls. */
interface StandardInput {
  /** Reads the rest as UTF-8 text. */
  text(): Promise<string>
  /** Reads the rest as bytes. */
  bytes(): Promise<Uint8Array>
  /** Reads lines as they come, without their terminators. */
  lines(): AsyncIterableIterator<string>
}
/** The exit status of a program, or -1 if a signal ended it, and its collected output. */
interface RunResult { code: number; stdout: string; stderr: string }`,
		Entries: func() []bindings.Entry {
			return []bindings.Entry{{
				Name: "process", Kind: bindings.Object, Signature: "process: Process",
				Help: "The process that runs the script.", Example: "console.log(process.argv.length > 0, process.platform.length > 0)",
				Members: []bindings.Entry{
					member(bindings.Property, "argv", "argv: string[]", "The path of the program, the path of the script, and the script's arguments, as in Node. At the prompt and for the code of -e, the path of the script is missing."),
					member(bindings.Property, "env", "env: Record<string, string>", "A copy of the environment variables that the script may read."),
					member(bindings.Property, "platform", "platform: string", "The operating system, such as 'linux'."),
					member(bindings.Property, "arch", "arch: string", "The processor architecture, such as 'x64' or 'arm64'."),
					member(bindings.Property, "pid", "pid: number", "The process id."),
					{
						Name: "stdin", Kind: bindings.Object, Signature: "stdin: StandardInput", Help: "Standard input. Scripts of orepl run and the code of -e may read it. Elsewhere reads are rejected with permission-denied, unless the Go program passes an input to the script.",
						Example: "for await (const line of process.stdin.lines()) console.log(line.toUpperCase())",
						Members: []bindings.Entry{
							member(bindings.Method, "text", "text(): Promise<string>", "Reads the rest as UTF-8 text. Another encoding is an error."),
							member(bindings.Method, "bytes", "bytes(): Promise<Uint8Array>", "Reads the rest as bytes."),
							member(bindings.Method, "lines", "lines(): AsyncIterableIterator<string>", "Reads lines of UTF-8 text as they arrive, without their terminators. If a loop ends early, later calls read the rest."),
						},
					},
					{Name: "stdout", Kind: bindings.Object, Signature: "stdout: { write(text: string | Uint8Array): boolean }", Help: "Standard output.", Members: write},
					{Name: "stderr", Kind: bindings.Object, Signature: "stderr: { write(text: string | Uint8Array): boolean }", Help: "Standard error.", Members: write},
					member(bindings.Method, "cwd", "cwd(): string", "Returns the working directory, the base of relative paths."),
					member(bindings.Method, "exit", "exit(code?: number): never", "Ends the script with an exit status from 0 to 255. No later code runs, not even finally blocks. The default status is exitCode, or else 0."),
					{Name: "exitCode", Kind: bindings.Property, Signature: "exitCode: number | null | undefined", Help: "The exit status, from 0 to 255, of a script that runs to its end. Default: 0. A script that fails exits with 107 regardless, with 124 if its time limit passed, and with 130 after Ctrl-C."},
					member(bindings.Method, "hrtime", "hrtime(): bigint", "Returns the time of a monotonic clock in nanoseconds, from an arbitrary start."),
					{
						Name: "run", Kind: bindings.Method, Signature: "run(program: string, args?: readonly string[], options?: RunOptions): Promise<RunResult>",
						Help:    "Runs a program and returns a promise of its exit status and output. A name without a slash is looked for in the directories of PATH; a missing program is not-found. The output is collected, or passed line by line to the functions stdout and stderr while the program runs; a slow function blocks the program's writes. At most 64 MiB of each are collected, or passed as one line. If a quarter of the script's memory limit is less, it counts instead. Beyond this the program is killed, and the promise is rejected with out-of-resources. A status other than 0 is not an error. The program is killed when the script ends.",
						Example: "const { code, stdout } = await process.run('echo', ['hello'])\nconsole.log(code, stdout)",
					},
					member(bindings.Method, "memoryUsage", "memoryUsage(): { heapUsed: number; total: number }", "Returns the memory of the process in bytes: heapUsed is the part of Go's heap in use, and total what Go's runtime has obtained from the system."),
				},
			}}
		},
	}
}

func instantiate(e *lang.Engine) (*goja.Object, error) {
	o := bindings.NewExports(e)
	vm, opts := e.VM(), e.Options()
	argv := []any{program()}
	if script := e.Script(); script != "" {
		argv = append(argv, script)
	}
	for _, a := range opts.Args {
		argv = append(argv, a)
	}
	o.Set("argv", vm.NewArray(argv...))
	env := vm.NewObject()
	for _, name := range slices.Sorted(maps.Keys(opts.Env)) {
		if err := internals.Define(env, name, vm.ToValue(opts.Env[name])); err != nil {
			return nil, err
		}
	}
	o.Set("env", env)
	o.Set("platform", runtime.GOOS)
	o.Set("arch", arch())
	o.Set("pid", os.Getpid())
	o.Set("stdin", input.Object(e))
	o.Set("stdout", stream(e, "process.stdout.write", opts.Stdout))
	o.Set("stderr", stream(e, "process.stderr.write", opts.Stderr))
	o.Add("cwd", func(goja.FunctionCall) (goja.Value, error) { return vm.ToValue(opts.Dir), nil })
	o.Add("exit", func(call goja.FunctionCall) (goja.Value, error) {
		a := e.Args("process.exit", call)
		code := int64(e.Status())
		if a.Has(0) {
			code = status(a)
		}
		if a.Err() != nil {
			return nil, a.Err()
		}
		e.Exit(int(code))
		return nil, nil
	})
	exitCode(e, o.Object)
	o.AddAsync("run", newChildren(e).run)
	began := time.Now()
	o.Add("hrtime", func(goja.FunctionCall) (goja.Value, error) {
		return vm.ToValue(big.NewInt(time.Since(began).Nanoseconds())), nil
	})
	o.Add("memoryUsage", func(goja.FunctionCall) (goja.Value, error) {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		u := vm.NewObject()
		_ = u.Set("heapUsed", m.HeapAlloc)
		return u, u.Set("total", m.Sys)
	})
	object, err := o.Done()
	if err != nil {
		return nil, err
	}
	x := bindings.NewExports(e)
	x.Set("process", object)
	x.Set("default", object)
	return x.Done()
}

// status parses an exit status, the first argument.
func status(a *lang.Args) int64 {
	code := a.Int(0, "code")
	if code < 0 || code > 255 {
		a.Fail("code", "must be from 0 to 255, not %d", code)
	}
	return code
}

// exitCode defines the property process.exitCode. It is undefined until set, as in Node.
func exitCode(e *lang.Engine, process *goja.Object) {
	given := goja.Undefined()
	get := e.Func("exitCode", func(goja.FunctionCall) (goja.Value, error) { return given, nil })
	set := e.Func("exitCode", func(call goja.FunctionCall) (goja.Value, error) {
		v := call.Argument(0)
		code := int64(0)
		if !goja.IsUndefined(v) && !goja.IsNull(v) {
			a := e.Args("process.exitCode", call)
			if code = status(a); a.Err() != nil {
				return nil, a.Err()
			}
		}
		given = v
		e.SetStatus(int(code))
		return nil, nil
	})
	_ = process.DefineAccessorProperty("exitCode", get, set, goja.FLAG_FALSE, goja.FLAG_TRUE) // cannot fail on a new object
}

// program returns the path of this program.
func program() string {
	if path, err := os.Executable(); err == nil {
		return path
	}
	return os.Args[0]
}

// arch returns x64 for amd64, as in Node, and Go's name for any other processor architecture.
func arch() string {
	if runtime.GOARCH == "amd64" {
		return "x64"
	}
	return runtime.GOARCH
}

func stream(e *lang.Engine, name string, w io.Writer) *goja.Object {
	o := e.VM().NewObject()
	_ = o.Set("write", e.Func("write", func(call goja.FunctionCall) (goja.Value, error) {
		a := e.Args(name, call)
		if b, ok := e.Bytes(call.Argument(0)); ok {
			_, err := w.Write(b)
			return e.VM().ToValue(err == nil), err
		}
		text := a.String(0, "text")
		if a.Err() != nil {
			return nil, a.Err()
		}
		_, err := io.WriteString(w, text)
		return e.VM().ToValue(err == nil), err
	}))
	return o
}
