package session

import (
	"fmt"
	"strings"

	"github.com/orepl/orepl/lang/spelling"
)

// listHint returns a hint that lists the names, the one nearest to name first.
func listHint(name string, names []string, what string) string {
	hint := "there are no " + what
	if len(names) > 0 {
		hint = what + ": " + strings.Join(names, ", ")
	}
	if near := spelling.Nearest(name, names); near != "" {
		hint = fmt.Sprintf("did you mean %q? %s", near, hint)
	}
	return hint
}
