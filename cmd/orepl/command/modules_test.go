package command_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/cmd/orepl/command"
)

// asProgram makes this test a program that adds a module to the command.
const asProgram = "OREPL_COMMAND_TEST"

func TestMain(m *testing.M) {
	album := orepl.Module{Name: "album", Help: "Photographs.", Functions: []orepl.Function{
		{Name: "photos", Help: "Lists photographs.", Func: func(pattern string) []string { return []string{pattern + ".png"} }},
		{Name: "size", Help: "Has the size of all.", Func: func() (int, error) { return 0, errors.New("the disk is away") }},
	}}
	switch os.Getenv(asProgram) {
	case "album":
		os.Exit(command.Main(command.Options{Modules: []orepl.Module{album}}))
	case "plain":
		os.Exit(command.Main(command.Options{}))
	case "twice":
		os.Exit(command.Main(command.Options{Modules: []orepl.Module{album, album}}))
	case "broken":
		os.Exit(command.Main(command.Options{Modules: []orepl.Module{{Name: "x", Functions: []orepl.Function{{Name: "f", Func: 3}}}}}))
	}
	os.Exit(m.Run())
}

// TestModules runs the commands that load scripts in a program with a module of its own, with the exit codes that builds rely on.
func TestModules(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{
		"good.js": `import { photos } from 'album'
import { pipeline, kernel, f32 } from 'offload'
const scale = kernel((g, k, x, y) => { y[g.x] = k * x[g.x] })
export default pipeline({ inputs: { x: [f32] }, params: { k: { type: f32, default: photos('a').length } }, outputs: { y: [f32, ({ x }) => x.shape] },
  run({ k, x, y }) { scale.launch({ size: x.length }, k, x, y) } })`,
		"launch.js": `import { photos } from 'album'
import { pipeline, kernel, f32 } from 'offload'
const scale = kernel((g, k, x, y) => { y[g.x] = k * x[g.x] })
export default pipeline({ inputs: { x: [f32] }, outputs: { y: [f32, ({ x }) => x.shape] }, run({ x, y }) { scale.launch({ size: x.length }, x, y) } })`,
		"name.js":         "import { fotos } from 'album'",
		"module.js":       "import { photos } from 'albun'",
		"fails.js":        "import { size } from 'album'\nsize()",
		"argument.js":     "import { photos } from 'album'\nphotos(3)",
		"script.js":       "import { photos } from 'album'\nconsole.log(photos('b')[0])",
		"passes.test.js":  "import { test, equal } from 'test'\nimport { photos } from 'album'\ntest('photos', () => equal(photos('a'), ['a.png']))",
		"differs.test.js": "import { test, equal } from 'test'\nimport { photos } from 'album'\ntest('photos', () => equal(photos('a'), []))",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		program, args string
		code          int
		want          string // in the output
	}{
		{"album", "check good.js", 0, "good.js: pipeline, no problems"},
		{"album", "check good.js script.js", 0, "script.js: script, no problems"},
		{"album", "check good.js launch.js", 1, "launch.js: 1 problem"},
		{"album", "check name.js", 1, "name.js:1:10"},
		{"album", "check module.js", 1, "module.js:1:24"},
		{"album", "check --json fails.js", 1, `"line": 2`},
		{"album", "check argument.js", 1, "argument.js:2:7"},
		{"album", "check", 2, "the script's file is missing"},
		{"album", "check none.js", 2, "none.js"},
		{"plain", "check good.js", 1, "album"},
		{"album", "describe good.js", 0, "param   k: f32 = 1"},
		{"album", "describe --format json-schema good.js", 0, `"default": 1`},
		{"album", "describe name.js", 107, "name.js:1:10"},
		{"album", "describe script.js", 107, "exports no pipeline"},
		{"album", "describe --format svg good.js", 2, "--format svg"},
		{"album", "test passes.test.js", 0, "1 passed, 0 failed"},
		{"album", "test differs.test.js", 1, "0 passed, 1 failed"},
		{"album", "test none.test.js", 2, "none.test.js"},
		{"album", "run script.js", 0, "b.png"},
		{"album", "run --isolate script.js", 0, "b.png"},
		{"album", "run fails.js", 107, "the disk is away"},
		{"album", "repl -e help('album.photos')", 0, "Lists photographs."},
		{"album", "help album.photos", 0, "Lists photographs."},
		{"album", "types", 0, "declare module 'album'"},
		{"twice", "check good.js", 1, "album"},
		{"broken", "run good.js", 107, "Func of x.f is int, which is no function"},
	} {
		cmd := exec.Command(os.Args[0], strings.Fields(c.args)...)
		cmd.Dir = folder
		cmd.Env = append(os.Environ(), asProgram+"="+c.program)
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		_ = cmd.Run()
		if code := cmd.ProcessState.ExitCode(); code != c.code || !strings.Contains(out.String(), c.want) {
			t.Errorf("%s: exit code %d, want %d, and %q in\n%s", c.args, code, c.code, c.want, out.String())
		}
	}
}
