package offloadjs_test

import (
	"context"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
)

// TestChangedCapturesOfScripts checks that a script that changes a captured variable is warned at the launch, once per
// kernel.
func TestChangedCapturesOfScripts(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"const c = { a: 1 }; const k = kernel((g, x) => { x[0] = c.a }); await run(k); c.a = 2; await run(k); c.a = 3; await run(k)",
			"c.a is 2 now, but the kernel k was made when it was 1, and goes on with that"},
		{"const l = [1, 2]; const k = kernel((g, x) => { x[0] = l[1] }); await run(k); l[1] = 5; await run(k)",
			"l[1] is 5 now, but the kernel k was made when it was 2, and goes on with that"},
		{"const l = new Float32Array(64); const k = kernel((g, x) => { x[0] = l[1] }); await run(k); l[1] = 5; await run(k)",
			"l[1] is 5 now, but the kernel k was made when it was 0, and goes on with that"},
		{"const c = { f: v => v }; const k = kernel((g, x) => { x[0] = c.f(1) }); await run(k); c.f = v => v + 1; await run(k)",
			"c.f is [Function (anonymous)] now, but the kernel k was made when it was [Function: f], and goes on with that"},
		{"const c = { a: 1, b: 1 }; const k = kernel((g, x) => { x[0] = c.a }); await run(k); c.b = 2; c.a = 1; await run(k)", ""},
		{"const c = { a: 1 }; const k = kernel((g, x) => { x[0] = c.a }, { warnings: false }); await run(k); c.a = 2; await run(k)", ""},
		{"const l = new Float32Array(65); const k = kernel((g, x) => { x[0] = l[1] }); await run(k); l[1] = 5; await run(k)", ""},
		{"const c = { a: 1 }; const k = kernel((g, x) => { x[0] = c.a }); for (let i = 0; i < 64; i++) await run(k); c.a = 2; await run(k)", ""},
	} {
		var got []string
		e := newEngineWith(t, lang.Options{OnWarning: func(d *diag.Diagnostic) { got = append(got, d.Message) }})
		_, err := e.Run(context.Background(), "t.js", "import { device, kernel, f32 } from 'offload'; const x = device('cpu').buffer(f32, 1); const run = k => k.launch({ size: 1 }, x)\n"+test.text)
		if err != nil {
			t.Errorf("%s: %v", test.text, err)
		}
		if all := strings.Join(got, "; "); all != test.want {
			t.Errorf("%s\nwarns %q, want %q", test.text, all, test.want)
		}
	}
}
