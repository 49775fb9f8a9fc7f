package arrayjs

import (
	"fmt"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings"
	"github.com/orepl/orepl/bindings/array"
	"github.com/orepl/orepl/bindings/convert"
	"github.com/orepl/orepl/bindings/offloadjs"
	"github.com/orepl/orepl/bindings/offloadjs/script"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/runtime/offload"
)

// function is a function of the module.
type function struct {
	bindings.Entry
	options []string
	run     func(c *call) (goja.Value, error)
}

// native returns the function for an engine. Its device is that of the first buffer among the arguments.
func (f function) native(ops *array.Ops, e *lang.Engine) lang.NativeFunc {
	return func(js goja.FunctionCall) (goja.Value, error) {
		host, first, ok := firstBuffer(e, js.Arguments)
		if !ok {
			return nil, script.Explain(e, offload.Errorf(offload.InvalidArgument, f.Name, "none of the arguments is a buffer, nor is the first one an array of buffers%s", firstArgument(js)).
				WithHint("make buffers of them: device.array(f32, [1, 2, 3])"))
		}
		b, _ := host.Elements(first)
		c := begin(ops, host, f.Name, b.Device(), js.Arguments, f.options...)
		if c.err != nil {
			return nil, host.Explain(c.err)
		}
		v, err := f.run(c)
		if c.err != nil {
			err = c.err
		}
		return v, host.Explain(err)
	}
}

// firstArgument describes the first argument of a call, or returns "" if there is none.
func firstArgument(js goja.FunctionCall) string {
	if len(js.Arguments) == 0 {
		return ""
	}
	return fmt.Sprintf(", which is %s", convert.Describe(js.Argument(0)))
}

// firstBuffer returns the first buffer among arguments, and its host. Without one, it returns the first element of the first
// argument if that is an array of buffers. It returns false if there is no buffer.
func firstBuffer(e *lang.Engine, args []goja.Value) (offloadjs.Host, goja.Value, bool) {
	for _, v := range args {
		if h, ok := offloadjs.HostOf(e, v); ok {
			return h, v, true
		}
	}
	if len(args) > 0 {
		if o, ok := args[0].(*goja.Object); ok && o.ClassName() == "Array" {
			if first := o.Get("0"); first != nil {
				h, ok := offloadjs.HostOf(e, first)
				return h, first, ok
			}
		}
	}
	return offloadjs.Host{}, nil, false
}

// functions returns the functions of the module.
func functions() []function {
	return []function{
		{Entry: bindings.NewFunction("concat", "Joins buffers along an axis, 0 by default. They must have equal types, and equal extents along the other axes.",
			"import { device, i32 } from 'offload'\nimport { concat } from 'array'\nconst d = device('cpu')\nconsole.log(await concat([d.arange(i32, 3), d.ones(i32, 2)]).read())", "(arrays: readonly Buffer[], options?: ArrayOptions & { axis?: number }): Buffer"),
			options: []string{"axis"}, run: func(c *call) (goja.Value, error) {
				list, axis := c.buffers("the arrays", c.arg(0)), c.axis(1, 0)
				if c.err != nil {
					return nil, c.err
				}
				return c.result(c.Concat(list, axis))
			}},
		{Entry: bindings.NewFunction("stack", "Joins buffers of equal shape and type along a new axis, 0 by default.",
			"import { device, i32 } from 'offload'\nimport { stack } from 'array'\nconst d = device('cpu')\nconsole.log(stack([d.arange(i32, 3), d.ones(i32, 3)], { axis: 1 }).shape)", "(arrays: readonly Buffer[], options?: ArrayOptions & { axis?: number }): Buffer"),
			options: []string{"axis"}, run: func(c *call) (goja.Value, error) {
				list, axis := c.buffers("the arrays", c.arg(0)), c.axis(1, 0)
				if c.err != nil {
					return nil, c.err
				}
				return c.result(c.Stack(list, axis))
			}},
		{Entry: bindings.NewFunction("meshgrid", "Returns the coordinates of the points of a grid: two matrices, of which the first one has x in each row and the second one y in each column. Both are taken in row-major order.",
			"import { device, f32 } from 'offload'\nimport { meshgrid } from 'array'\nconst d = device('cpu')\nconst [x, y] = meshgrid(d.linspace(f32, -1, 1, 5), d.linspace(f32, 0, 1, 3))\nconsole.log(await x.zip(y, (x, y) => x * x + y).max())", "(x: Buffer, y: Buffer, options?: ArrayOptions): [Buffer, Buffer]"),
			run: func(c *call) (goja.Value, error) {
				c.most(2)
				x, y := c.buffer("x", c.arg(0)), c.buffer("y", c.arg(1))
				if c.err != nil {
					return nil, c.err
				}
				gx, gy, err := c.MeshGrid(x, y)
				if err != nil {
					return nil, err
				}
				vx, err := c.result(gx, nil)
				if err != nil {
					return nil, err
				}
				vy, err := c.result(gy, nil)
				if err != nil {
					return nil, err
				}
				return c.Engine().VM().NewArray(vx, vy), nil
			}},
		{Entry: bindings.NewFunction("where", "Returns the elements of a where the condition is true, and those of b elsewhere. NaN and 0 are false. Numbers count as buffers of equal elements, and the shapes broadcast as for zip.",
			"import { device, i32 } from 'offload'\nimport { where } from 'array'\nconst x = device('cpu').arange(i32, 5)\nconsole.log(await where(x.map(v => v % 2 === 0), x, -1).read())", "(condition: Buffer, a: Buffer | number | bigint | boolean, b: Buffer | number | bigint | boolean, options?: MapOptions): Buffer"),
			options: []string{"type"}, run: func(c *call) (goja.Value, error) {
				c.most(3)
				condition := c.operand("the condition", c.arg(0))
				if c.err != nil {
					return nil, c.err
				}
				return c.where(condition, c.arg(1), c.arg(2))
			}},
	}
}
