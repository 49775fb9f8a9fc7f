package offloadjs_test

import (
	"context"
	"strings"
	"testing"
)

// TestBind repeats a bound launch, and looks at its errors.
func TestBind(t *testing.T) {
	const head = `
import { device, kernel, f32, i32 } from 'offload'
const d = device('cpu'), x = d.buffer(f32, 100), add = kernel((g, a, x) => { x[g.x] += a })
const b = add.bind({ size: 100, label: 'sum' }, 2, x)
`
	for name, c := range map[string]struct{ script, want string }{
		"repeat":    {"for (let i = 0; i < 1000; i++) b.launch()\nexport default [...(await x.read(0, 2)), x.length, b.name, b.queue.device === d].join()", "2000,2000,100,add,true"},
		"event":     {"const e = b.launch()\nawait e\nexport default e.done + ' ' + e.queue.label + ' ' + b", "true"},
		"fault":     {"const k = kernel((g, x) => { x[g.x + 1] = 1 }).bind({ size: 100 }, x)\nfor (let i = 0; i < 2; i++) try { await k.launch() } catch (e) { globalThis.t = (globalThis.t ?? '') + e.code + ' ' }\nexport default t", "out-of-bounds out-of-bounds"},
		"count":     {"add.bind({ size: 1 }, 1)", "!takes 2 arguments (a, x), but 1 was given"},
		"options":   {"add.bind(1, x)", "!options"},
		"arguments": {"b.launch(1, x)", "!takes no arguments, not 2"},
		"size":      {"add.bind({}, 1, x)", "!size is missing"},
		"freed":     {"x.free()\nb.launch()", "!freed"},
		"view":      {"const v = x.view(0, 10), c = add.bind({ size: 10 }, 1, v)\nv.free()\nc.launch()", "!freed"},
		"timeout":   {"const k = kernel((g, x) => { while (x[0] === 0) x[1] = x[1] + 1 }).bind({ size: 1, timeout: 20 }, x)\nawait k.launch()", "!time limit"},
	} {
		t.Run(name, func(t *testing.T) {
			exports, err := newEngine(t).Run(context.Background(), "t.js", head+c.script)
			if want, fails := strings.CutPrefix(c.want, "!"); fails {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%v, want %q", err, want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := exports.Get("default").String(); !strings.HasPrefix(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
