package lang

import (
	"context"
	"fmt"
	"testing"
)

func TestLocate(t *testing.T) {
	e, err := New(Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	exports, err := e.Run(context.Background(), "config.js", `const first = { size: 1 }
export const config = {
  stages: [first, { size: 'big' }],
  'two words': [1, 2],
}
const define = x => x
export default define({
  name: 'n',
})
export { first as renamed }
export const made = [1].map(x => x)
`)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		export string
		steps  []any
		want   string
	}{
		{"config", []any{"stages", 1, "size"}, "config.js:3:27"},
		{"config", []any{"stages", 0, "size"}, "config.js:1:23"},
		{"config", []any{"two words", 1}, "config.js:4:20"},
		{"config", []any{"stages", 7}, "config.js:3:11"},
		{"default", []any{"name"}, "config.js:8:9"},
		{"renamed", []any{"size"}, "config.js:1:23"},
		{"made", []any{0}, "config.js:11:21"},
	} {
		if got := fmt.Sprint(e.Locate(exports, c.export, c.steps)); got != c.want {
			t.Errorf("%s %v: %s, expected %s", c.export, c.steps, got, c.want)
		}
	}
	if p := e.Locate(exports, "nothing", nil); p.IsValid() {
		t.Errorf("a name that is not exported is at %v", p)
	}
}
