package bounds

import "testing"

func TestJSONDepth(t *testing.T) {
	for text, depth := range map[string]int{`1`: 0, `[{"a":[]}]`: 3, `"[[[\"[["`: 0, `{"[":[1],"b":[2]}`: 2} {
		if got := jsonDepth(text); got != depth {
			t.Errorf("%s: %d", text, got)
		}
	}
}
