// Package operators defines the functions that compiled texts call in place of operators of the interpreter: ** in all texts, and * and <<
// in texts that use BigInts. Powers have the bits of Math.pow, and the operators limit the size of BigInt results.
package operators

import (
	"math/big"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/internals"
	"github.com/orepl/orepl/lang/kernel/libm"
	"github.com/orepl/orepl/lang/maths"
	"github.com/orepl/orepl/lang/source"
)

// Host is the engine of an interpreter.
type Host interface {
	// Function returns a script function that calls fn and throws its error.
	Function(name string, fn func(goja.FunctionCall) (goja.Value, error)) *goja.Object
	// Throw throws an error in the script; it does not return.
	Throw(error)
	// Run runs a constant text, which is compiled once per process.
	Run(name, text string) (goja.Value, error)
}

// Operators are the functions of one engine. They are nil before the first text that may need them.
type Operators struct {
	Power   goja.Value // (a, b): a ** b
	PowerOf goja.Value // (object, key): the function (b) that implements object[key] **= b
	Shift   goja.Value // (a, b): a << b in texts that use BigInts
	Times   goja.Value // (a, b): a * b in texts that use BigInts

	vm   *goja.Runtime
	host Host
	most int64 // maximum size of a BigInt result in bits
}

// New returns operators that are not yet defined. bounded says whether the engine has limits, so that calls must end soon.
func New(vm *goja.Runtime, host Host, bounded bool) *Operators {
	o := &Operators{vm: vm, host: host, most: mostBits}
	if bounded {
		o.most = mostBoundedBits
	}
	return o
}

// Maximum sizes in bits of BigInt results of **, * and <<, without and with limits of the engine. These operations cannot be
// interrupted; a result of mostBoundedBits takes about a second.
const (
	mostBits        = 1 << 26
	mostBoundedBits = 1 << 24
)

// Want defines the functions if text is the first one that may need them, and then returns true. It must be called with each
// text before the text runs.
func (o *Operators) Want(text string) (defined bool, err error) {
	if o.Power != nil || !source.CallsOperators(text) {
		return false, nil
	}
	return true, o.define()
}

func (o *Operators) define() error {
	check := func(operator string, bits func(a, b *big.Int) *big.Int) goja.Value {
		return o.host.Function(operator, func(c goja.FunctionCall) (goja.Value, error) {
			a, _ := internals.Primitive(c.Argument(0)).(*big.Int)
			b, _ := internals.Primitive(c.Argument(1)).(*big.Int)
			if a == nil || b == nil || a.Sign() == 0 || b.Sign() == 0 || b.Sign() < 0 && operator != "*" {
				return nil, nil
			}
			return nil, o.checkBits(operator, bits(a, b))
		})
	}
	v, err := o.host.Run("orepl:operators.js", text)
	if err != nil {
		return err
	}
	pow := o.vm.ToValue(func(c goja.FunctionCall) goja.Value {
		return o.vm.ToValue(libm.Pow(c.Argument(0).ToFloat(), c.Argument(1).ToFloat()))
	})
	made, err := callOf(v)(nil, pow,
		check("**", func(a, b *big.Int) *big.Int {
			return new(big.Int).Mul(big.NewInt(int64(a.BitLen()-1)), b) // powers of 1 need no more bits
		}),
		check("<<", func(a, b *big.Int) *big.Int { return new(big.Int).Add(big.NewInt(int64(a.BitLen())), b) }),
		check("*", func(a, b *big.Int) *big.Int { return big.NewInt(int64(a.BitLen() + b.BitLen())) }))
	if err != nil {
		return err
	}
	list := made.(*goja.Object)
	general := callOf(list.Get("power"))
	o.Power = o.vm.ToValue(func(c goja.FunctionCall) goja.Value {
		x, y := c.Argument(0), c.Argument(1)
		if maths.IsNumber(x) && maths.IsNumber(y) {
			return o.vm.ToValue(libm.Pow(x.ToFloat(), y.ToFloat()))
		}
		r, err := general(nil, x, y)
		if err != nil {
			o.host.Throw(err)
		}
		return r
	})
	o.PowerOf, err = callOf(list.Get("powerOf"))(nil, o.Power)
	o.Shift, o.Times = list.Get("shift"), list.Get("times")
	return err
}

// text is the script that defines the operators. power(a, b) handles operands that are not numbers; x++ converts them.
// powerOf(power)(object, key)(b) implements object[key] **= b.
const text = `"use strict"; ((pow, checkPower, checkShift, checkTimes) => ({
	power: (a, b) => {
		const x = a++, y = b++
		if (typeof x !== 'bigint' && typeof y !== 'bigint') return pow(x, y)
		if (typeof x === typeof y) checkPower(x, y)
		return x ** y
	},
	powerOf: power => (object, key) => {
		const old = object[key]
		return b => object[key] = power(old, b)
	},
	times: (a, b) => { if (typeof a === 'bigint' && typeof b === 'bigint') checkTimes(a, b); return a * b },
	shift: (a, b) => {
		if (typeof a === 'bigint' && typeof b === 'bigint') checkShift(a, b)
		return a << b
	},
}))`

// CheckShift throws a RangeError if bits, the size of a shift's result, is more than a BigInt may have.
func (o *Operators) CheckShift(bits *big.Int) {
	if err := o.checkBits("a shift", bits); err != nil {
		o.host.Throw(err)
	}
}

func (o *Operators) checkBits(operator string, bits *big.Int) error {
	if bits.Cmp(big.NewInt(o.most)) <= 0 {
		return nil
	}
	d := diag.New("out-of-memory", "the result of %s would have %s bits; a BigInt may have %d here", operator, bits, o.most)
	d.Name = "RangeError"
	return d.WithHint("compute with the rest of a division at every step, or with numbers")
}

func callOf(v goja.Value) goja.Callable {
	f, _ := goja.AssertFunction(v)
	return f
}
