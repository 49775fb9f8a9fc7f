package source

import (
	"strings"
	"testing"
)

func TestPatternProblem(t *testing.T) {
	deep := strings.Repeat("(?=a", maxPatternDepth)
	for _, c := range []struct {
		pattern, flags string
		at             int
		bad            bool
	}{
		{`\p{L}`, "u", 0, true}, {`\p{L}`, "", 0, false}, {`\\p{L}`, "u", 0, false}, {`a\P{L}`, "v", 1, true},
		{deep, "", 0, false}, {deep + "(", "", len(deep), true}, {strings.Repeat("(a)", 2*maxPatternDepth), "", 0, false},
		{strings.Repeat(`\(`, 2*maxPatternDepth), "", 0, false}, {"[" + strings.Repeat("(", 2*maxPatternDepth) + "]", "", 0, false}, {`\`, "u", 0, false},
	} {
		if at, message := PatternProblem(c.pattern, c.flags); at != c.at || (message != "") != c.bad {
			t.Errorf("%.20s: %d, %q", c.pattern, at, message)
		}
	}
	for _, text := range []string{"/" + deep + "(" + strings.Repeat(")", maxPatternDepth+1) + "/"} {
		if _, err := EvalText(text, 0); err == nil || !strings.Contains(err.Error(), "nested more than 1000 deep") {
			t.Errorf("eval: %v", err)
		}
	}
}
