package kernel

import (
	"fmt"
	"slices"
	"strings"

	"github.com/orepl/orepl/lang/kernel/ir"
)

// signatureWith returns a function that compiles the kernel with another type for the parameter p; see Param.signature.
func (c *compiler) signatureWith(p *param) func(ir.Type) string {
	f, opts, real := c.f, c.opts, c.real
	opts.Warnings, opts.Trace = false, false
	args := make([]Arg, len(c.params))
	which := 0
	for i, q := range c.params {
		args[i] = q.arg
		if q.arg.Kind != Buffer {
			args[i] = Arg{Kind: Scalar, Type: q.typ}
		}
		if q.arg.Kind == Scalar {
			args[i] = q.arg
		}
		if q == p {
			which = i
		}
	}
	return func(t ir.Type) string {
		args := slices.Clone(args)
		if args[which].Type = t; t == ir.Void {
			args[which].Type = real
		}
		if _, err := f.Compile(args, opts); err != nil {
			return ""
		}
		return signatureText(f.params, args, which)
	}
}

// signatureText formats a signature in the script's syntax and shortens a long one to the parameter which.
func signatureText(names []string, args []Arg, which int) string {
	const most = 60
	parts := make([]string, len(args))
	for i, a := range args {
		parts[i] = fmt.Sprintf("%s: %s", names[i], a)
	}
	text := strings.Join(parts, ", ")
	if len(text) > most {
		text = parts[which] + ", …"
	}
	return "kernel({" + text + "}, …)"
}

// String returns the type in a signature's syntax, such as "f32" or "[f32, 2]". For a Number, which has none, it returns "Number".
func (a Arg) String() string {
	switch a.Kind {
	case BigInt:
		return ir.I64.String()
	case Bool:
		return ir.Bool.String()
	case Scalar:
		return a.Type.String()
	case Buffer:
		if a.Rank > 1 {
			return fmt.Sprintf("[%s, %d]", a.Elem, a.Rank)
		}
		return fmt.Sprintf("[%s]", a.Elem)
	}
	return "Number"
}
