package lang

import (
	"math/big"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/kernel/libm"
	"github.com/orepl/orepl/lang/maths"
	"github.com/orepl/orepl/lang/source"
)

// Maximum sizes in bits of BigInt results of **, * and <<, without and with limits of the engine. These operations cannot be
// interrupted; a result of mostBoundedBits takes about a second.
const (
	mostBits        = 1 << 26
	mostBoundedBits = 1 << 24
)

// wantOperators defines the operators' functions before the first text runs that may need them. It must be called with each text.
func wantOperators(e *Engine, text string) (defined bool, err error) {
	if e.intrinsics.power != nil || !source.CallsOperators(text) {
		return false, nil
	}
	return true, e.defineOperators()
}

// defineOperators defines the functions that replace ** in all texts, and << in texts that use BigInts. Powers have the bits of
// Math.pow, and both operators check the size of BigInt results.
func (e *Engine) defineOperators() error {
	check := func(operator string, bits func(a, b *big.Int) *big.Int) goja.Value {
		return e.Func(operator, func(c goja.FunctionCall) (goja.Value, error) {
			a, _ := c.Argument(0).Export().(*big.Int)
			b, _ := c.Argument(1).Export().(*big.Int)
			if a == nil || b == nil || a.Sign() == 0 || b.Sign() == 0 || b.Sign() < 0 && operator != "*" {
				return nil, nil
			}
			return nil, e.checkBits(operator, bits(a, b))
		})
	}
	v, err := runOwn(e.vm, "orepl:operators.js", operators)
	if err != nil {
		return err
	}
	pow := e.vm.ToValue(func(c goja.FunctionCall) goja.Value {
		return e.vm.ToValue(libm.Pow(c.Argument(0).ToFloat(), c.Argument(1).ToFloat()))
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
	e.intrinsics.power = e.vm.ToValue(func(c goja.FunctionCall) goja.Value {
		x, y := c.Argument(0), c.Argument(1)
		if maths.IsNumber(x) && maths.IsNumber(y) {
			return e.vm.ToValue(libm.Pow(x.ToFloat(), y.ToFloat()))
		}
		r, err := general(nil, x, y)
		if err != nil {
			e.Throw(err)
		}
		return r
	})
	e.intrinsics.powerOf, err = callOf(list.Get("powerOf"))(nil, e.intrinsics.power)
	e.intrinsics.shift, e.intrinsics.times = list.Get("shift"), list.Get("times")
	return err
}

// operators is the script that defines the operators. power(a, b) handles operands that are not numbers; x++ converts them.
// powerOf(power)(object, key)(b) implements object[key] **= b.
const operators = `"use strict"; ((pow, checkPower, checkShift, checkTimes) => ({
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

// shifts throws if a shift would make a BigInt of too many bits.
func shifts(e *Engine, bits *big.Int) {
	if err := e.checkBits("a shift", bits); err != nil {
		e.Throw(err)
	}
}

func (e *Engine) checkBits(operator string, bits *big.Int) error {
	most := int64(mostBits)
	if e.opts.Limits.bounded() {
		most = mostBoundedBits
	}
	if bits.Cmp(big.NewInt(most)) <= 0 {
		return nil
	}
	d := diag.New("out-of-memory", "the result of %s would have %s bits; a BigInt may have %d here", operator, bits, most)
	d.Name = "RangeError"
	return d.WithHint("compute with the rest of a division at every step, or with numbers")
}
