package cpu

import (
	"os"
	"strconv"
	"strings"

	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
)

// choices are those that are forced.
type choices struct {
	engine string // interp or avx512; empty for the best that the machine has
	gang   int    // registers of a gang; 0 for the compiler's choice
}

// choices reads the options; what it does not know belongs to others.
func (o Options) choices() choices {
	text := o.Debug
	if text == "" {
		text = os.Getenv("OREPL_DEBUG")
	}
	var d choices
	for _, part := range strings.Split(text, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch name {
		case "cpu-engine":
			d.engine = value
		case "gang":
			if n, err := strconv.Atoi(value); err == nil && (n == 1 || n == 2 || n == 4) {
				d.gang = n
			}
		}
	}
	return d
}

// engines are the engines to try, the best first.
func (d choices) engines() []engine {
	if d.engine == "interp" {
		return []engine{interpreter{}}
	}
	return []engine{vectorizer{features: amd64.Host(), gang: d.gang}, interpreter{}}
}
