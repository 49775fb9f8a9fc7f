// Package tracejs implements the module 'trace', with which scripts add spans to the time line of orepl run --trace.
package tracejs

import (
	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/runtime/trace"
)

// Module returns the module 'trace', which writes to a recorder or to none.
func Module(out *trace.Recorder) bindings.Module {
	return bindings.Module{
		Module: lang.Module{Name: "trace", Instantiate: func(e *lang.Engine) (*goja.Object, error) { return instantiate(e, out) }},
		Help:   "Spans of scripts in the time line that orepl run --trace FILE and orepl bench --trace FILE write, beside the commands of the devices.",
		Entries: func() []bindings.Entry {
			return []bindings.Entry{
				bindings.NewFunction("span", "Calls a function and returns its value. The time line has a span from the call to the return, or until the promise that the function returns has settled. Without a time line the function is only called.",
					"import { span } from 'trace'\nimport { device, f32 } from 'offload'\nconst x = device().buffer(f32, 100, i => i)\nconst sum = await span('read and add', async () => (await x.read()).reduce((s, v) => s + v, 0))\nconsole.log(sum)",
					"<T>(name: string, fn: () => T): T"),
				bindings.NewConstant("enabled", "boolean", "Whether there is a time line."),
			}
		},
	}
}

func instantiate(e *lang.Engine, out *trace.Recorder) (*goja.Object, error) {
	x := bindings.NewExports(e)
	x.Set("enabled", out != nil)
	x.Add("span", func(call goja.FunctionCall) (goja.Value, error) {
		a := e.Args("trace.span", call)
		name, fn := a.String(0, "name"), a.Function(1, "fn")
		if a.Err() != nil {
			return nil, a.Err()
		}
		if out == nil {
			return fn(goja.Undefined())
		}
		end := out.Span(name)
		v, err := fn(goja.Undefined())
		if o, ok := v.(*goja.Object); ok && err == nil {
			if _, promise := o.Export().(*goja.Promise); promise {
				e.Settled(v, func(error) { end() })
				return v, nil
			}
		}
		end()
		return v, err
	})
	return x.Done()
}
