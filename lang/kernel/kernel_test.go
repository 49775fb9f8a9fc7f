package kernel

import (
	"testing"

	"github.com/orepl/orepl/lang/kernel/ir"
)

func TestThin(t *testing.T) {
	f, err := Parse(&Source{Text: `(g, a, x, y) => {
  const i = g.x
  y[i] = a * x[i] + y[i]
}`})
	if err != nil {
		t.Fatal(err)
	}
	buf := Arg{Kind: Buffer, Elem: ir.Elem{Scalar: ir.F32}, Rank: 1}
	c, err := f.Compile([]Arg{{Kind: Number}, buf, buf}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(c.Module.String(), c.Params)
	f, err = Parse(&Source{Text: `(g, src, dst, r) => {
  const [h, w] = src.shape
  if (g.x >= w || g.y >= h) return
  let sum = 0, n = 0
  for (let dy = -r; dy <= r; dy++)
    for (let dx = -r; dx <= r; dx++) {
      const y = g.y + dy, x = g.x + dx
      if (y < 0 || x < 0 || y >= h || x >= w) continue
      sum += src[y][x]
      n++
    }
  dst[g.y][g.x] = sum / n
}`})
	if err != nil {
		t.Fatal(err)
	}
	buf.Rank = 2
	c, err = f.Compile([]Arg{buf, buf, {Kind: Number}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(c.Module.String(), c.Params)
}
