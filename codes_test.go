package orepl_test

import (
	"context"
	"fmt"
	"regexp"
	"testing"
	"time"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/runtime/offload"
)

// TestCodesOnce ends calls by errors that have a code in their texts, on all ways from a program through a script and back. Each
// message has the code once.
func TestCodesOnce(t *testing.T) {
	const code = orepl.CodeTimeout
	causes := map[string]error{
		"runtime":    offload.Errorf(code, "fetch", "no answer"),
		"diagnostic": diag.New(string(code), "no answer"),
		"wrapped":    fmt.Errorf("prices: %w", offload.Errorf(code, "fetch", "no answer")),
		"twice":      &offload.Error{Code: code, Op: "load", Err: fmt.Errorf("prices: %w", diag.New(string(code), "no answer"))},
		"formatted":  diag.New(string(code), "prices: %v", offload.Errorf(code, "fetch", "no answer")),
	}
	rt := open(t)
	once := regexp.MustCompile(`^[^\[\]]*no answer[^\[\]]*\[timeout\][^\[\]]*$`)
	for name, cause := range causes {
		fails := func() error { return cause }
		e := engine(t, rt, orepl.EngineOptions{Policy: lang.AllowAll, Modules: []orepl.Module{{Name: "prices",
			Functions: []orepl.Function{{Name: "fails", Func: fails}, {Name: "later", Func: fails, Async: true}}}}})
		ended := func(run func(context.Context) error) error {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			time.AfterFunc(10*time.Millisecond, func() { cancel(cause) })
			return run(ctx)
		}
		script := func(text string) func(context.Context) error {
			return func(ctx context.Context) error {
				_, err := e.Run(ctx, "a.js", "import { fails, later } from 'prices'\n"+text)
				return err
			}
		}
		p := load(t, rt, `import { pipeline, kernel, i32 } from 'offload'
const spin = kernel((g, y) => { let i = 1; while (i > 0) { i = i % 7 + 1; y[0] = i } })
export default pipeline({ device: 'cpu', inputs: {}, outputs: { y: [i32, 1] }, run({ y }) { spin.launch({ size: 1 }, y) } })`, orepl.PipelineOptions{Instances: 1})
		for way, err := range map[string]error{
			"thrown":    script("fails()")(t.Context()),
			"rejected":  script("await later()")(t.Context()),
			"unhandled": script("later()")(t.Context()),
			"rethrown":  script("try { fails() } catch (e) { throw e }")(t.Context()),
			"copied":    script("try { fails() } catch (e) { throw Object.assign(new Error(e.message), { code: e.code }) }")(t.Context()),
			"busy":      ended(script("while (true);")),
			"waiting":   ended(script("await new Promise(r => setTimeout(r, 1e6))")),
			"kernel":    ended(func(ctx context.Context) error { return p.Run(ctx, nil, nil) }),
		} {
			if err == nil || !once.MatchString(err.Error()) || orepl.CodeOf(err) != code {
				t.Errorf("%s, %s: %v (%s)", name, way, err, orepl.CodeOf(err))
			}
			if text := regexp.MustCompile(`(?m)^error: .*$`).FindString(diag.Format(err, false)); !once.MatchString(text) {
				t.Errorf("%s, %s, printed: %s", name, way, text)
			}
		}
	}
}
