package kernel

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/syntax"
)

// TypeOf returns the type that a constant of the kernel, or another name that it never assigns, has for these arguments. args
// has one argument for each of [Function.Params]. TypeOf returns Void if the kernel itself declares no such name, or if its value is
// no scalar. The error is a [diag.List].
func (f *Function) TypeOf(constant string, args []Arg, opts Options) (ir.Type, error) {
	c := newCompiler(f, args, opts)
	if _, err := c.compile(); err != nil {
		return ir.Void, err
	}
	for i := range c.frame.vars {
		v := &c.frame.vars[i]
		if v.decl != nil && v.decl.Name == constant && v.fixed.isScalar() {
			return c.scalarType(v.fixed), nil
		}
	}
	return ir.Void, nil
}

// ArityOf returns the number of parameters of a function in the kernel language. The error is a [diag.List].
func ArityOf(src *Source) (int, error) {
	fn, err := syntax.Parse(src)
	if err != nil {
		return 0, err
	}
	return len(fn.Params), nil
}
