package kernel

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/orepl/orepl/lang/kernel/diag"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/syntax"
)

// captureKey identifies a captured value: a free variable of a function, or a field of one.
type captureKey struct {
	src  *Source
	path string
}

// once returns the value that the first successful read for this key returned. If there was none, it calls read. So signatures
// compiled after a change of the script still agree.
func (f *Function) once(key captureKey, read func() (any, error)) (any, error) {
	f.mu.Lock()
	got, ok := f.captured[key]
	f.mu.Unlock()
	if ok {
		return got, nil
	}
	got, err := read() // may run a getter of the script that compiles this kernel
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if first, ok := f.captured[key]; ok {
		return first, nil
	}
	if f.captured == nil {
		f.captured = map[captureKey]any{}
	}
	f.captured[key] = got
	return got, nil
}

// free returns the value of a name that the kernel does not declare: a captured or predefined one.
func (c *compiler) free(n *syntax.Name) value {
	src := c.frame.fn.Source
	key := captureKey{src, n.Name}
	v, ok := c.captures[key]
	if !ok {
		var got any
		if src.Capture != nil {
			var err error
			if got, err = c.f.once(key, func() (any, error) { return src.Capture(n.Name) }); err != nil {
				c.errorf(n.Span, diag.NotCapturable, captureHint(err), "%s cannot be captured: %v", n.Name, err)
				return bad
			}
		}
		if got == nil {
			v, ok = languageName(n.Name)
			if !ok {
				c.errorf(n.Span, diag.UnknownName, c.suggestName(n.Name), "%s is not defined", n.Name)
				return bad
			}
		} else if p, is := got.(Parameter); is {
			return c.parameter(p)
		} else if v, ok = c.captured(got, n.Name, n.Span); !ok {
			return bad
		}
		c.captures[key] = v
	}
	return c.placed(v, key, n.Span)
}

// captureHint returns the script engine's hint, or a generic one.
func captureHint(err error) string {
	var h interface{ Hint() string }
	if errors.As(err, &h) {
		return h.Hint()
	}
	return "pass it as an argument"
}

// capturedField returns a field of a captured object. It reports a field that is missing or cannot be captured.
func (c *compiler) capturedField(o value, name string, at syntax.Span) value {
	key := captureKey{c.frame.fn.Source, o.str + "." + name}
	v, ok := c.captures[key]
	if !ok {
		got, err := c.f.once(key, func() (any, error) { return o.obj.Field(name) })
		if err != nil {
			c.errorf(at, diag.NotCapturable, captureHint(err), "%s cannot be captured: %v", key.path, err)
			return bad
		}
		if got == nil {
			hint := didYouMean(o.str, name, o.obj.Fields())
			switch {
			case len(o.obj.Fields()) > 0:
			case slices.Contains(itemNames, name):
				hint = fmt.Sprintf("did you mean g.%s, of the kernel's first parameter?", name)
			default:
				hint = "a kernel reads numbers, arrays, plain objects and functions of the script"
			}
			c.errorf(at, diag.UnknownField, hint, "%s has no field %s", o.str, name)
			return bad
		}
		if p, is := got.(Parameter); is {
			return c.parameter(p)
		}
		if v, ok = c.captured(got, key.path, at); !ok {
			return bad
		}
		c.captures[key] = v
	}
	return c.placed(v, key, at)
}

// parameter returns the buffer of a parameter, which is another array in each walk. It returns bad if no buffer has this name.
func (c *compiler) parameter(name Parameter) value {
	for _, p := range c.k.Params {
		if p.Name == string(name) && p.Array != nil {
			return value{kind: kPlace, place: wholeArray(p.Array)}
		}
	}
	return bad
}

// captured converts the result of Source.Capture to a value. It returns false after an error, which it has reported.
func (c *compiler) captured(got any, name string, at syntax.Span) (value, bool) {
	switch got := got.(type) {
	case bool:
		return boolean(got), true
	case float64:
		return number(got), true
	case int64:
		return value{kind: kBig, big: big.NewInt(got)}, true
	case *big.Int:
		v := c.bigValue(got, at)
		return v, v.kind == kBig
	case []float64:
		p := wholeArray(c.numberTable(got, name))
		p.known = got
		return value{kind: kPlace, place: p}, true
	case Table:
		size := got.Elem.Size()
		if size == 0 || len(got.Data)%size != 0 {
			c.errorf(at, diag.ArrayDims, "", "%s has no whole number of elements", name)
			return bad, false
		}
		a := &ir.Array{Name: name, Space: ir.Table, Elem: ir.Elem{Scalar: got.Elem}, Rank: 1, Dims: []int{len(got.Data) / size}, Data: got.Data}
		return value{kind: kPlace, place: wholeArray(a)}, true
	case Object:
		return value{kind: kCapture, obj: got, str: name}, true
	case *Source:
		fn, err := c.f.helpers.parse(got, name)
		if err != nil {
			if list, ok := err.(diag.List); ok {
				for _, d := range list {
					if d.Line == 0 {
						d.Position, d.End = c.frame.fn.Source.At(at.Pos), c.frame.fn.Source.At(at.End)
					}
				}
				c.errs = append(c.errs, list...)
			} else {
				c.errorf(at, diag.NotCapturable, "", "%s cannot be captured: %v", name, err)
			}
			return bad, false
		}
		return value{kind: kFunc, fn: &closure{fn: fn}}, true
	case ir.Type:
		return value{kind: kType, elem: ir.Elem{Scalar: got}}, true
	case *ir.Record:
		return value{kind: kType, elem: ir.Elem{Record: got}}, true
	}
	c.errorf(at, diag.NotCapturable, "pass it as an argument", "%s cannot be captured: a kernel captures numbers, booleans, functions, arrays of numbers and fields of plain objects", name)
	return bad, false
}

// numberTable returns a table of Numbers: of i32 or u32 if all are integers of its range, otherwise of the real type.
func (c *compiler) numberTable(list []float64, name string) *ir.Array {
	t := c.real
	for _, typ := range []ir.Type{ir.U32, ir.I32} {
		if !slices.ContainsFunc(list, func(x float64) bool { return !fits(x, typ) }) {
			t = typ
		}
	}
	var data []byte
	for _, x := range list {
		switch t {
		case ir.I32, ir.U32:
			data = binary.LittleEndian.AppendUint32(data, uint32(toInt32(x)))
		case ir.F32:
			data = binary.LittleEndian.AppendUint32(data, uint32(ir.FloatBits(ir.F32, x)))
		default:
			data = binary.LittleEndian.AppendUint64(data, ir.FloatBits(ir.F64, x))
		}
	}
	return &ir.Array{Name: name, Space: ir.Table, Elem: ir.Elem{Scalar: t}, Rank: 1, Dims: []int{len(list)}, Data: data}
}

// placed returns v. If v is a captured table, its array is that of this walk's kernel, to which placed adds it at first use.
func (c *compiler) placed(v value, key captureKey, at syntax.Span) value {
	if v.kind != kPlace {
		return v
	}
	p := c.tables[key]
	if p == nil {
		a := *v.place.arr
		p = wholeArray(&a)
		p.known = v.place.known
		if len(a.Data) > 0 { // the IR has no empty tables
			c.addArray(&a)
		}
		c.tables[key] = p
		c.exactTable(p, at)
	}
	return value{kind: kPlace, place: p}
}

// addArray adds an array to the kernel, under a unique name.
func (c *compiler) addArray(a *ir.Array) {
	a.Name = c.uniqueName(a.Name)
	a.ID = len(c.k.Arrays)
	c.k.Arrays = append(c.k.Arrays, a)
	a.Elem.Record = c.record(a.Elem.Record)
}

// uniqueName returns a name, with a number appended if an array of the kernel has it already.
func (c *compiler) uniqueName(name string) string {
	taken := func(n string) bool {
		for _, a := range c.k.Arrays {
			if a.Name == n {
				return true
			}
		}
		return false
	}
	unique := name
	for i := 2; taken(unique); i++ {
		unique = fmt.Sprintf("%s_%d", name, i)
	}
	return unique
}

// IsLanguageName reports whether a name is predefined in kernels: Math, f32, Infinity, …. A declaration of the script hides the
// predefined meaning.
func IsLanguageName(name string) bool {
	_, ok := languageName(name)
	return ok
}

// languageName returns the predefined meaning of a name, or false if there is none.
func languageName(name string) (value, bool) {
	if v, ok := globalBuiltins.Get()[name]; ok {
		return v, true
	}
	switch name {
	case "Infinity":
		return number(math.Inf(1)), true
	case "NaN":
		return number(math.NaN()), true
	case "undefined":
		return value{kind: kVoid}, true
	}
	if t, ok := ir.ParseType(name); ok && t != ir.Void {
		return value{kind: kType, elem: ir.Elem{Scalar: t}}, true
	}
	return bad, false
}
