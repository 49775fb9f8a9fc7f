// Package debug reads the environment variable OREPL_DEBUG: switches that override choices of the project, to reproduce the
// behaviour of other machines.
//
// # Design
//
// One package knows the switches of all plugins, because a misspelled one must be an error, and all share one variable.
// cpu-features masks the processor, so tests behave as on the smaller machine.
package debug

import (
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/orepl/orepl/lang/spelling"
	"github.com/orepl/orepl/runtime/offload"
)

// Variable is the name of the environment variable, whose value is a list of name=value separated by commas.
const Variable = "OREPL_DEBUG"

// Switches holds the switches of the project. An empty field is an unset switch. The tag "switch" holds the name and the valid
// values, or a word in capitals for any value; "help" is the text of the documentation.
type Switches struct {
	// CPUEngine selects the engine that runs kernels; the plugin fails to open on a processor without the necessary extensions.
	CPUEngine string `switch:"cpu-engine=interp|avx2|avx512" help:"run kernels on the CPU by the interpreter, as AVX2 code or as AVX-512 code; an error if the processor cannot"`
	// CPUFeatures masks extensions of the processor, for the plugin and for the tests of its compiler.
	CPUFeatures string `switch:"cpu-features=none|avx2|avx512" help:"compile as on a processor that has at most these vector instructions; none means that kernels are interpreted"`
	// CPUModel selects the cost table of the plugin's compiler.
	CPUModel string `switch:"cpu-model=haswell|skylake|skylake-sp|icelake|zen2|zen3|zen4|zen5|generic" help:"choose among instructions by what they cost on this family of processors; results differ in functions of Math.fast alone"`
	// Gang is the number of vector registers that hold one value of a gang.
	Gang string `switch:"gang=1|2|4" help:"hold a value of the work-items that run together in this many vector registers"`
	// Dump is the folder to which the compiler writes functions after each pass.
	Dump string `switch:"dump=DIR" help:"write what each pass of the compiler makes of a kernel to files in a folder"`
}

// Switch describes a switch.
type Switch struct {
	Name   string
	Values []string
	Help   string
}

// All returns the switches in the order of the fields of [Switches].
func All() []Switch {
	var list []Switch
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Switches]()) {
		name, values, _ := strings.Cut(f.Tag.Get("switch"), "=")
		list = append(list, Switch{name, strings.Split(values, "|"), f.Tag.Get("help")})
	}
	return list
}

// Env parses the environment variable and then text, whose switches take precedence.
func Env(text string) (Switches, error) {
	return Parse(os.Getenv(Variable) + "," + text)
}

// Parse parses a list of switches in the syntax of [Variable]. The last value of a repeated switch counts. An unknown name or
// value is an [offload.InvalidArgument] error with a hint.
func Parse(text string) (Switches, error) {
	var s Switches
	all := All()
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		i := slices.IndexFunc(all, func(w Switch) bool { return w.Name == name })
		if i < 0 {
			return Switches{}, unknown(name, all)
		}
		if !all[i].allows(value) {
			return Switches{}, invalid("%s cannot be %q", name, value).WithHint("write %s", all[i].usage())
		}
		reflect.ValueOf(&s).Elem().Field(i).SetString(value)
	}
	return s, nil
}

// allows reports whether value is valid for the switch.
func (w Switch) allows(value string) bool {
	if w.free() {
		return value != ""
	}
	return slices.Contains(w.Values, value)
}

// free reports whether any value is valid for the switch.
func (w Switch) free() bool { return len(w.Values) == 1 && w.Values[0] == strings.ToUpper(w.Values[0]) }

// usage returns the switch with each of its values, such as "gang=1 or gang=2 or gang=4".
func (w Switch) usage() string {
	return w.Name + "=" + strings.Join(w.Values, " or "+w.Name+"=")
}

func unknown(name string, all []Switch) error {
	var names []string
	for _, w := range all {
		names = append(names, w.Name)
	}
	hint := "the switches are " + strings.Join(names, ", ")
	if near := spelling.Nearest(name, names); near != "" {
		hint = "did you mean " + near + "? " + hint
	}
	return invalid("there is no switch %q", name).WithHint("%s, as in %s=%s", hint, all[0].Name, all[0].Values[0])
}

func invalid(format string, args ...any) *offload.Error {
	return offload.Errorf(offload.InvalidArgument, "open", Variable+": "+format, args...)
}
