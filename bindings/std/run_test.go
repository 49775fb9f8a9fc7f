package std

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/runtime/stopwatch"
)

func TestPrograms(t *testing.T) {
	e, out, _ := engine(t, lang.Options{Env: map[string]string{"PATH": "/usr/bin:/bin", "COLOUR": "blue"}})
	for _, c := range []struct{ name, script, want string }{
		{"output", `const r = await process.run('echo', ['a b', 1]); console.log(r)`, "{ code: 0, stdout: 'a b 1\\n', stderr: '' }\n"},
		{"status", `console.log(await process.run('sh', ['-c', 'echo no >&2; exit 3']))`, "{ code: 3, stdout: '', stderr: 'no\\n' }\n"},
		{"input", `console.log((await process.run('cat', [], { input: new Uint8Array([104, 105]) })).stdout)`, "hi\n"},
		{"lines", `const r = await process.run('sh', ['-c', 'echo 1; echo 2 >&2; printf 3'], { stdout: l => console.log('out', l), stderr() {} }); console.log(r.stdout === '')`, "out 1\nout 3\ntrue\n"},
		{"environment", `console.log((await process.run('sh', ['-c', 'echo $COLOUR'])).stdout, (await process.run('sh', ['-c', 'echo $COLOUR'], { env: { COLOUR: 'red' } })).stdout)`, "blue\n red\n\n"},
		{"directory", `console.log((await process.run('pwd', [], { cwd: '/' })).stdout)`, "/\n\n"},
		{"signal", `console.log((await process.run('sh', ['-c', 'kill -9 $$'])).code)`, "-1\n"},
		{"two", `console.log((await Promise.all([1, 2].map(i => process.run('echo', [i])))).map(r => r.stdout.trim()))`, "[ '1', '2' ]\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out.Reset()
			if _, err := e.Run(t.Context(), c.name+".js", c.script); err != nil || out.String() != c.want {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

func TestProgramErrors(t *testing.T) {
	small := lang.Options{Limits: lang.Limits{Memory: 1 << 30}}
	for _, c := range []struct{ script, code, want string }{
		{"await process.run('no-such-program')", "not-found", "there is no program"},
		{"process.run()", "invalid-argument", "program is missing"},
		{"process.run('echo', 'x')", "invalid-argument", "args must be an object"},
		{"process.run('echo', {})", "invalid-argument", "args must be an array"},
		{"process.run('echo', [undefined])", "invalid-argument", "args has no element 0"},
		{"process.run('echo', [], { tiemout: 3 })", "invalid-argument", "tiemout"},
		{"process.run('echo', [], { stdout: 3 })", "invalid-argument", "stdout must be a function"},
		{"process.run('echo', [], { timeout: -1 })", "invalid-argument", "timeout must be"},
		{"await process.run('sleep', ['1000'], { timeout: 20 })", "timeout", "sleep ran longer than 20ms"},
		{"await process.run('yes')", "out-of-resources", "printed more than"},
		{"await process.run('echo', [], { cwd: 'nowhere' })", "io-error", "cannot start echo"},
	} {
		e, _, _ := engine(t, small)
		_, err := e.Run(t.Context(), "t.js", c.script)
		if diag.Code(err) != c.code || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "t.js:1:") {
			t.Errorf("%s: %v [%s]", c.script, err, diag.Code(err))
		}
	}
}

// TestProgramsArePolicy checks that a policy without access to files refuses programs that it does not list.
func TestProgramsArePolicy(t *testing.T) {
	inside, err := lang.Inside(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	e, _, _ := engine(t, lang.Options{Policy: lang.Policy{Read: inside}})
	if _, err := e.Run(t.Context(), "t.js", "await process.run('echo')"); diag.Code(err) != "permission-denied" {
		t.Error(err)
	}
	var asked string
	e, _, _ = engine(t, lang.Options{Policy: lang.Policy{Read: inside, Run: func(path string) error { asked = path; return nil }}})
	if _, err := e.Run(t.Context(), "t.js", "await process.run('echo')"); err != nil || filepath.Base(asked) == "" || !filepath.IsAbs(asked) {
		t.Error(err, asked)
	}
}

// TestProgramsEndWithTheScript checks that a program ends with the call that waits for it, together with its child
// processes.
func TestProgramsEndWithTheScript(t *testing.T) {
	dir := t.TempDir()
	e, _, _ := engine(t, lang.Options{Dir: dir})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		for _, err := os.Stat(filepath.Join(dir, "up")); err != nil && ctx.Err() == nil; _, err = os.Stat(filepath.Join(dir, "up")) {
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	began := stopwatch.Start()
	_, err := e.Run(ctx, "t.js", "await process.run('sh', ['-c', 'sleep 1000 & touch up; wait'])")
	if err == nil || began.Elapsed() > 100*time.Second {
		t.Error(err)
	}
	if _, err := e.Run(t.Context(), "u.js", "console.log(1)"); err != nil {
		t.Error(err)
	}
}

// TestProgramsOfAFailedScriptEnd checks that a program of a failed script has ended when the call returns.
func TestProgramsOfAFailedScriptEnd(t *testing.T) {
	dir := t.TempDir()
	e, _, _ := engine(t, lang.Options{Dir: dir, Env: map[string]string{"PATH": "/usr/bin:/bin"}})
	_, err := e.Run(t.Context(), "t.js", `import { exists } from 'fs'
		process.run('sh', ['-c', 'echo $$ > new; mv new pid; exec sleep 1000']).then(() => console.log('no'))
		while (!await exists('pid')) await new Promise(resolve => setTimeout(resolve, 2))
		throw new Error('mine')`)
	if err == nil || !strings.Contains(err.Error(), "mine") {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	if p, err := os.FindProcess(pid); err == nil && p.Signal(syscall.Signal(0)) == nil {
		t.Errorf("the program %d runs", pid)
	}
}

// TestSignalsEndPrograms checks that a signal ends a program and its child processes, and rejects with the signal's reason.
func TestSignalsEndPrograms(t *testing.T) {
	e, out, _ := engine(t, lang.Options{Env: map[string]string{"PATH": "/usr/bin:/bin"}})
	_, err := e.Run(t.Context(), "t.js", `const c = new AbortController()
		try {
			await process.run('sh', ['-c', 'echo up; sleep 1000 & wait'], { signal: c.signal, stdout: line => c.abort('enough of ' + line) })
		} catch (reason) { console.log(reason) }
		await process.run('sleep', ['1000'], { signal: AbortSignal.timeout(5) }).catch(e => console.log(e.name))
		await process.run('sleep', ['1000'], { signal: AbortSignal.abort('before') }).catch(console.log)
		await process.run('true', [], { signal: 5 }).catch(e => console.log(e.name, e.hint.slice(0, 6)))
		console.log((await process.run('true', [], { signal: new AbortController().signal })).code)`)
	if want := "enough of up\nTimeoutError\nbefore\nTypeError write \n0\n"; err != nil || out.String() != want {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestLinesComeAsFastAsTheScriptTakesThem checks that timers run while a program prints, and that a slow script
// receives all lines.
func TestLinesComeAsFastAsTheScriptTakesThem(t *testing.T) {
	e, out, _ := engine(t, lang.Options{Env: map[string]string{"PATH": "/usr/bin:/bin"}})
	_, err := e.Run(t.Context(), "t.js", `let lines = 0, fired
		await process.run('sh', ['-c', 'yes | head -n 50000; printf last'], { stdout(line) {
			if (line === 'last') console.log('last')
			if (++lines > 1) return
			for (const end = performance.now() + 50; performance.now() < end;); // meanwhile the program prints
			setTimeout(() => { fired = lines }, 0)
		} })
		console.log(lines, fired < 200)`)
	if err != nil || out.String() != "last\n50001 true\n" {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestArguments(t *testing.T) {
	dir := t.TempDir()
	e, out, _ := engine(t, lang.Options{Dir: dir, Args: []string{"a", "b"}})
	if err := os.WriteFile(filepath.Join(dir, "s.js"), []byte("console.log(process.argv.slice(1).join())"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := e.RunFile(t.Context(), "s.js"); err != nil || out.String() != filepath.Join(dir, "s.js")+",a,b\n" {
		t.Errorf("%v %s", err, out)
	}
	out.Reset()
	if _, err := e.Run(t.Context(), "t.js", "console.log(process.argv[0])"); err != nil || !filepath.IsAbs(strings.TrimSpace(out.String())) {
		t.Errorf("%v %s", err, out)
	}
}

// TestProgramsInheritNothing checks that an engine without an environment runs programs with an empty one, not the
// host's.
func TestProgramsInheritNothing(t *testing.T) {
	t.Setenv("OREPL_HOST_SECRET", "shown")
	e, out, _ := engine(t, lang.Options{})
	if _, err := e.Run(t.Context(), "env.js", `console.log((await process.run('/usr/bin/env')).stdout.includes('SECRET'))`); err != nil || out.String() != "false\n" {
		t.Errorf("%v\n%s", err, out)
	}
}
