// Package process implements the module 'process', whose default export is a global.
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
	"github.com/orepl/orepl/lang"
)

// Module returns the module 'process'.
func Module() bindings.Module {
	member := func(kind bindings.Kind, name, signature, help string) bindings.Entry {
		return bindings.Entry{Name: name, Kind: kind, Signature: signature, Help: help}
	}
	write := []bindings.Entry{member(bindings.Method, "write", "write(text: string | Uint8Array): boolean", "Writes text or bytes, without a line end.")}
	return bindings.Module{
		Module:  lang.Module{Name: "process", Globals: []string{"process"}, Instantiate: instantiate},
		Help:    "The process that runs the script: arguments, environment, standard streams, exit.",
		Default: "process",
		Types: `/** How process.run starts a program. */
interface RunOptions {
  /** What the program reads from its standard input; nothing unless given. */
  input?: string | ArrayBufferView | ArrayBuffer
  /** The directory that it starts in; the script's unless given. */
  cwd?: string
  /** Its environment variables; those of the script unless given. */
  env?: Record<string, string>
  /** Milliseconds after which it is ended, which is an error. */
  timeout?: number
  /** Ends it when it is aborted, which rejects with the signal's reason. */
  signal?: AbortSignal
  /** Receives each line of its standard output. */
  stdout?: (line: string) => void
  /** Receives each line of its standard error. */
  stderr?: (line: string) => void
}
/** What a program ended with: its status, -1 if a signal ended it, and the output that was collected. */
interface RunResult { code: number; stdout: string; stderr: string }`,
		Entries: []bindings.Entry{{
			Name: "process", Kind: bindings.Object, Signature: "process: Process",
			Help: "The process that runs the script.", Example: "console.log(process.argv.length > 0, process.platform.length > 0)",
			Members: []bindings.Entry{
				member(bindings.Property, "argv", "argv: string[]", "The path of the program, that of the script, and its arguments, as in Node. At the prompt there is no script."),
				member(bindings.Property, "env", "env: Record<string, string>", "A copy of the environment variables that the script may see."),
				member(bindings.Property, "platform", "platform: string", "The operating system, such as 'linux'."),
				member(bindings.Property, "arch", "arch: string", "The processor, such as 'x64' or 'arm64'."),
				member(bindings.Property, "pid", "pid: number", "The number of the process."),
				{Name: "stdout", Kind: bindings.Object, Signature: "stdout: { write(text: string | Uint8Array): boolean }", Help: "Standard output.", Members: write},
				{Name: "stderr", Kind: bindings.Object, Signature: "stderr: { write(text: string | Uint8Array): boolean }", Help: "Standard error.", Members: write},
				member(bindings.Method, "cwd", "cwd(): string", "The directory that relative paths start from."),
				member(bindings.Method, "exit", "exit(code?: number): never", "Ends the script with a status. Code behind it, finally blocks included, does not run. Without a status it is that of exitCode, or 0."),
				{Name: "exitCode", Kind: bindings.Property, Signature: "exitCode: number | null | undefined", Help: "The status, from 0 to 255, that the process ends with when the script ends by itself; 0 unless it is set. A script that fails ends with 107 all the same."},
				member(bindings.Method, "hrtime", "hrtime(): bigint", "Nanoseconds of a clock that never goes back."),
				{
					Name: "run", Kind: bindings.Method, Signature: "run(program: string, args?: readonly string[], options?: RunOptions): Promise<RunResult>",
					Help:    "Runs a program and waits for its end. What it prints is collected, or given line by line to the functions stdout and stderr while it runs, no faster than they take it. A status other than 0 is no error. The program ends with the script.",
					Example: "const { code, stdout } = await process.run('echo', ['hello'])\nconsole.log(code, stdout)",
				},
				member(bindings.Method, "memoryUsage", "memoryUsage(): { heapUsed: number; total: number }", "Bytes of memory in use: of the interpreter's heap, and taken from the system."),
			},
		}},
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
		if err := env.Set(name, opts.Env[name]); err != nil {
			return nil, err
		}
	}
	o.Set("env", env)
	o.Set("platform", runtime.GOOS)
	o.Set("arch", arch())
	o.Set("pid", os.Getpid())
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

// arch returns Node's name for the processor architecture.
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
