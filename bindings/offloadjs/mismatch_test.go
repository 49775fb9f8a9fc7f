package offloadjs_test

import (
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/diag"
)

// TestArgumentsOfAnotherKind checks the message for a use that an argument's type forbids: it names the argument, and
// the hint both remedies.
func TestArgumentsOfAnotherKind(t *testing.T) {
	got, err := script(t, `import { device, kernel, f32 } from 'offload'
const x = device('cpu').buffer(f32, 8), m = device('cpu').buffer(f32, [2, 4])
for (const [f, ...args] of [
  [(g, x) => { x[g.x] = 1 }, 3],
  [(g, x, y) => { y[0] = x.length }, true, x],
  [(g, x) => { x[g.x] = 1 }, m],
  [(g, m, y) => { y[0] = m[g.y][g.x] }, x, x],
  [(x, y) => { y[x.x] = x[x.x] }, x, x],
  [(x) => { x[0] = 1 }, x],
  [(g, x) => x[g.x] * 2, x],
  [(g, x) => g.x < 3 && (x[g.x] *= 2), x],
]) try { await kernel(f).launch({ size: 4 }, ...args); console.log('ok') } catch (e) { console.log(e.message + ' | ' + e.hint) }
try { kernel({ x: f32 }, (g, x) => { x[0] = 1 }) } catch (e) { console.log(e.message + ' | ' + e.hint) }`)
	if err != nil {
		t.Fatal(diag.Format(err, false))
	}
	want := []string{
		"x is used as a buffer, but a number is given for it | pass a buffer for x, as device().buffer(f32, n) makes one",
		"x is used as a buffer, but a boolean is given for it | pass a buffer for x, as device().buffer(f32, n) makes one",
		"a whole array cannot be assigned: the buffer given for x has 2 dimensions | write `x[g.x][i] = …`, or index x.flat, or pass a buffer of 1 dimension",
		"`m[g.y]` is a number, which has no elements: the buffer given for m has 1 dimension | leave the last index out, or pass a buffer of 2 dimensions",
		"the kernel takes 1 argument (y), but 2 were given | the first parameter, x, is the item object: write (g, x, y) => …",
		"the kernel takes no arguments, but 1 was given | the first parameter, x, is the item object: write (g, x) => …",
		"a kernel returns no value, and `x[g.x] * 2` does nothing else | store it in a buffer: `y[g.x] = …`",
		"ok",
		"x is used as a buffer, but its type is f32 by signature | write {x: [f32]} in the signature for a buffer",
	}
	lines := strings.Split(strings.TrimSpace(got), "\n")
	if len(lines) != len(want) {
		t.Fatalf("got\n%s", got)
	}
	for i, line := range lines {
		if !strings.HasSuffix(line, want[i]) {
			t.Errorf("got\n  %s\nwant\n  %s", line, want[i])
		}
	}
}
