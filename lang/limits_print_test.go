package lang

import (
	"context"
	"testing"
	"time"

	"github.com/orepl/orepl/lang/diag"
)

// TestValuesPrintTheSameUnderLimits checks that limits do not change printed values: checked constructors keep their names.
func TestValuesPrintTheSameUnderLimits(t *testing.T) {
	const script = `print(new Float32Array(2), new Map([[1, 2]]), new ArrayBuffer(1), new (class extends Set {})([1]), Float32Array,
		new Uint8Array([1]).map(x => x), class A extends Array {}, Object(1n), new WeakMap(), new Proxy({}, {}))`
	free, want := testEngine(t, Options{})
	bound, got := testEngine(t, Options{Limits: Limits{Time: time.Hour, Memory: 1 << 40}})
	for _, e := range []*Engine{free, bound} {
		if _, err := e.Run(context.Background(), "main.js", script); err != nil {
			t.Fatal(diag.Format(err, false))
		}
	}
	if got.String() != want.String() {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
