package lang

import (
	"math/big"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/diag"
)

// How many bits a BigInt may get by ** or <<, in all and where the engine has limits: such an operation cannot be
// interrupted, and takes about a second for the latter.
const (
	mostBits        = 1 << 30
	mostBoundedBits = 1 << 24
)

// boundBigInts makes what stands for ** and << in texts that use BigInts. To other values they cost a call.
func (e *Engine) boundBigInts() error {
	make := func(operator string, bits func(a, b *big.Int) *big.Int) (goja.Value, error) {
		text := "(check => (a, b) => { if (typeof a === 'bigint' && typeof b === 'bigint') check(a, b); return a " + operator + " b })"
		v, err := e.vm.RunScript("orepl:bigint.js", text)
		if err != nil {
			return nil, err
		}
		return callOf(v)(nil, e.Func(operator, func(c goja.FunctionCall) (goja.Value, error) {
			a, _ := c.Argument(0).Export().(*big.Int)
			b, _ := c.Argument(1).Export().(*big.Int)
			if a == nil || b == nil || a.Sign() == 0 || b.Sign() <= 0 {
				return nil, nil
			}
			return nil, e.checkBits(operator, bits(a, b))
		}))
	}
	var err error
	e.intrinsics.power, err = make("**", func(a, b *big.Int) *big.Int {
		return new(big.Int).Mul(big.NewInt(int64(a.BitLen()-1)), b) // powers of 1 take no more
	})
	if err != nil {
		return err
	}
	e.intrinsics.shift, err = make("<<", func(a, b *big.Int) *big.Int {
		return new(big.Int).Add(big.NewInt(int64(a.BitLen())), b)
	})
	return err
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
