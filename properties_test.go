package orepl_test

import (
	"strings"
	"testing"

	"github.com/orepl/orepl"
)

// TestOwnProperties checks that names of a program or a declaration become own properties of the script's objects, also __proto__
// and names with a setter in Object.prototype.
func TestOwnProperties(t *testing.T) {
	var out strings.Builder
	e := engine(t, open(t), orepl.EngineOptions{Stdout: &out, Env: map[string]string{"__proto__": "e"}, Globals: map[string]any{
		"mapped": func() any { return map[string]any{"__proto__": map[string]any{"x": 1}, "taken": 2} },
		"fields": func() any {
			return struct {
				P     int `orepl:"__proto__"`
				Taken int
			}{3, 4}
		},
	}})
	_, err := e.Run(t.Context(), "own.js", `
		import { device, struct, kernel, pipeline, f32 } from 'offload'
		import { run } from 'test'
		Object.defineProperty(Object.prototype, 'taken', { set() { throw new Error('the setter ran') }, configurable: true })
		const show = o => console.log(JSON.stringify(o), Object.getPrototypeOf(o) === Object.prototype)
		show(mapped())
		show(fields())
		show(process.env)
		const record = struct({ ['__proto__']: f32, taken: f32 })
		show((await device('cpu').buffer(record, [{ ['__proto__']: 5, taken: 6 }]).read())[0])
		const add = kernel((g, n, x, y) => { y[g.x] = n + x[g.x] })
		const sum = pipeline({
			inputs: { ['__proto__']: [f32], taken: f32 }, outputs: { y: [f32, [1]] },
			run(io) { const own = Object.entries(io); add.launch({ size: 1 }, own.find(e => e[0] === 'taken')[1], own.find(e => e[0] === '__proto__')[1], io.y) },
		})
		show((await run(sum, { ['__proto__']: [7], taken: 8 })).y)
		delete Object.prototype.taken`)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"__proto__":{"x":1},"taken":2} true
{"__proto__":3,"taken":4} true
{"__proto__":"e"} true
{"__proto__":5,"taken":6} true
{"0":15} false
`
	if out.String() != want {
		t.Errorf("got\n%s", out.String())
	}
}
