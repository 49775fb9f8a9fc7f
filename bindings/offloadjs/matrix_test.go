package offloadjs_test

import (
	"testing"

	"github.com/orepl/orepl/lang/diag"
)

// TestMatricesArePrinted checks that two-dimensional buffers print as matrices, cut in the middle, and on one line within
// other values.
func TestMatricesArePrinted(t *testing.T) {
	got, err := script(t, `import { device, f32, i32, bool } from 'offload'
const dev = device('cpu')
console.log(dev.buffer(f32, [3, 3], (i, j) => i === j ? 1.5 : -0.25))
console.log(dev.buffer(i32, [2, 1], (i, j) => 10 ** (5 * i)), 'and')
console.log(dev.buffer(i32, [100, 1000], (i, j) => i * 1000 + j))
console.log(dev.buffer(bool, [1, 2], (i, j) => j === 1))
console.log({ in: dev.buffer(f32, [2, 2]) })
console.log(dev.buffer(f32, [2, 2, 2]))
console.log(dev.buffer(f32, [0, 2]))
const wide = dev.buffer(f32, [1, 30], (i, j) => j / 3)
console.log(wide)`)
	if err != nil {
		t.Fatal(diag.Format(err, false))
	}
	want := `Buffer f32[3×3] on cpu
    1.5 -0.25 -0.25
  -0.25   1.5 -0.25
  -0.25 -0.25   1.5
Buffer i32[2×1] on cpu
       1
  100000 and
Buffer i32[100×1000] on cpu
      0     1     2     3     4     5 …   994   995   996   997   998   999
   1000  1001  1002  1003  1004  1005 …  1994  1995  1996  1997  1998  1999
   2000  2001  2002  2003  2004  2005 …  2994  2995  2996  2997  2998  2999
   3000  3001  3002  3003  3004  3005 …  3994  3995  3996  3997  3998  3999
   4000  4001  4002  4003  4004  4005 …  4994  4995  4996  4997  4998  4999
  ⋮
  95000 95001 95002 95003 95004 95005 … 95994 95995 95996 95997 95998 95999
  96000 96001 96002 96003 96004 96005 … 96994 96995 96996 96997 96998 96999
  97000 97001 97002 97003 97004 97005 … 97994 97995 97996 97997 97998 97999
  98000 98001 98002 98003 98004 98005 … 98994 98995 98996 98997 98998 98999
  99000 99001 99002 99003 99004 99005 … 99994 99995 99996 99997 99998 99999
Buffer bool[1×2] on cpu
  false true
{ in: Buffer f32[2×2] on cpu { 0, 0, 0, 0 } }
Buffer f32[2×2×2] on cpu
[0]
  0 0
  0 0
[1]
  0 0
  0 0
Buffer f32[0×2] on cpu
Buffer f32[1×30] on cpu
  0 0.33333334 0.6666667 1 1.3333334 … 8.333333 8.666667 9 9.333333 9.666667
`
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// TestTablesOfObjects checks that console.table has columns for the module's objects.
func TestTablesOfObjects(t *testing.T) {
	got, err := script(t, `import { device, devices, kernel, f32 } from 'offload'
const x = device('cpu').buffer(f32, [100, 20], { label: 'x' })
console.table([x])
const k = kernel({ x: [f32, 2] }, (g, x) => { x[g.y][g.x] = 1 })
console.table({ k })
console.table(devices().map(d => d), ['id', 'type'])`)
	if err != nil {
		t.Fatal(diag.Format(err, false))
	}
	want := `┌─────────┬───────┬──────┬────────┬─────────┬────────┬────────┐
│ (index) │ label │ type │ shape  │ size    │ kind   │ device │
├─────────┼───────┼──────┼────────┼─────────┼────────┼────────┤
│ 0       │ x     │ f32  │ 100×20 │ 7.8 KiB │ device │ cpu    │
└─────────┴───────┴──────┴────────┴─────────┴────────┴────────┘
┌─────────┬──────┬────────────┬──────────────┐
│ (index) │ name │ parameters │ compiled for │
├─────────┼──────┼────────────┼──────────────┤
│ k       │ k    │ x          │ x: f32[][]   │
└─────────┴──────┴────────────┴──────────────┘
┌─────────┬─────┬──────┐
│ (index) │ id  │ type │
├─────────┼─────┼──────┤
│ 0       │ cpu │ cpu  │
└─────────┴─────┴──────┘
`
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
