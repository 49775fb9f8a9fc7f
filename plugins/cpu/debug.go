package cpu

import (
	"os"
	"slices"
	"strings"

	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/machine"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd"
	"github.com/orepl/orepl/runtime/offload"
)

// choices are those that are forced.
type choices struct {
	engine string // one of engineNames; empty for the best that the machine has
	gang   int    // registers of a gang; 0 for the compiler's choice
}

// The engines that can be forced, with what each needs of the machine.
var (
	engineNames = []string{"interp", "avx2", "avx512"}
	needs       = map[string]amd64.Features{"avx2": amd64.ForAVX2, "avx512": amd64.ForAVX512}
)

// switchNames are all the names that OREPL_DEBUG has; a plugin that adds one of its own adds it here, so that a
// misspelt one is told.
var switchNames = []string{"cpu-engine", "gang"}

// choices reads the options. Errors: InvalidArgument for a name that there is not and for a value that is none of the
// name's, Unsupported for an engine that the machine has not.
func (o Options) choices() (choices, error) {
	text := o.Debug
	if text == "" {
		text = os.Getenv("OREPL_DEBUG")
	}
	var d choices
	for _, part := range strings.Split(text, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		switch name {
		case "cpu-engine":
			if !slices.Contains(engineNames, value) {
				return d, badChoice("there is no engine %q", value).WithHint("cpu-engine is %s", strings.Join(engineNames, ", "))
			}
			if missing := needs[value] &^ amd64.Host(); missing != 0 {
				return d, offload.Errorf(offload.Unsupported, "open", "OREPL_DEBUG forces cpu-engine=%s, and this machine has no %v", value, missing).On(Name, "")
			}
			d.engine = value
		case "gang":
			i := slices.Index([]string{"1", "2", "4"}, value)
			if i < 0 {
				return d, badChoice("a gang cannot have %q registers", value).WithHint("gang is 1, 2 or 4")
			}
			d.gang = 1 << i
		default:
			return d, badChoice("there is no switch %q", name).WithHint("the switches are %s, as in cpu-engine=interp,gang=2", strings.Join(switchNames, " and "))
		}
	}
	return d, nil
}

func badChoice(format string, args ...any) *offload.Error {
	return offload.Errorf(offload.InvalidArgument, "open", "OREPL_DEBUG: "+format, args...).On(Name, "")
}

// engines are the engines to try on a machine, the best first, with the functions that kernels call.
func (d choices) engines(m *machine.Info, functions *functions) []engine {
	features := amd64.Host()
	switch d.engine {
	case "interp":
		return []engine{interpreter{functions}}
	case "avx2":
		features &= amd64.ForAVX2
	}
	slow := interpreter{functions}
	return []engine{vectorizer{features: features, gang: d.gang, machine: m, slow: slow, work: new(spmd.Workspace)}, slow}
}
