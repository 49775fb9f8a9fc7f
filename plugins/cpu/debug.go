package cpu

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/orepl/orepl/lang/later"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/machine"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd"
	"github.com/orepl/orepl/plugins/cpu/internal/uarch"
	"github.com/orepl/orepl/plugins/internal/process"
	"github.com/orepl/orepl/runtime/debug"
	"github.com/orepl/orepl/runtime/offload"
)

// choices are the engine and the options of the compiler: those of this machine, except where [debug.Switches] force others.
type choices struct {
	interpret bool           // use the interpreter only
	masked    bool           // a switch limits features
	features  amd64.Features // extensions that compiled code may use
	gang      int            // registers of a gang; 0 for the compiler's choice
	cores     int            // cores that run kernels; 0 if unknown
	model     *uarch.Model   // costs of the processor's instructions
	dump      string         // folder for dumps of the compiler; "" for none
}

// needs maps a value of the switch cpu-engine to the extensions that this engine requires. Engines that it lacks require none.
var needs = later.Value[map[string]amd64.Features]{Make: func() map[string]amd64.Features {
	return map[string]amd64.Features{"avx2": amd64.ForAVX2, "avx512": amd64.ForAVX512}
}}

// choices reads the switches of the environment and of the options. Errors: InvalidArgument for a switch or value that does not
// exist, Unsupported for an engine whose extensions this machine lacks or the switch cpu-features excludes.
func (o Options) choices() (choices, error) {
	s, err := o.switches()
	if err != nil {
		return choices{}, err
	}
	c := choicesFor(s)
	if missing := needs.Get()[s.CPUEngine] &^ c.features; missing != 0 {
		return c, offload.Errorf(offload.Unsupported, "open", "%s forces cpu-engine=%s, and this machine has no %v", debug.Variable, s.CPUEngine, missing).On(Name, "")
	}
	return c, nil
}

func (o Options) switches() (debug.Switches, error) {
	s, err := debug.Env(o.Debug)
	var e *offload.Error
	if errors.As(err, &e) {
		return s, e.On(Name, "")
	}
	return s, err
}

func choicesFor(s debug.Switches) choices {
	c := choices{interpret: s.CPUEngine == "interp", masked: s.CPUFeatures != "", features: machine.Features(s), dump: s.Dump}
	c.gang, _ = strconv.Atoi(s.Gang)
	if c.model = uarch.Named(s.CPUModel); c.model == nil {
		c.model = uarch.Host.Get()
	}
	if s.CPUEngine == "avx2" {
		c.features &= amd64.ForAVX2
	}
	return c
}

// vectorBits returns the width in bits of the vector registers that compiled code may use, or 0 if it is unknown.
func (c choices) vectorBits() int {
	switch width := machine.VectorBits(); {
	case c.features&amd64.AVX2 == 0:
		return min(width, 128)
	case c.features&amd64.AVX512 == 0:
		return min(width, 256)
	default:
		return width
	}
}

// notice returns the reason why kernels are interpreted although no switch asks for it, or "".
func (c choices) notice() string {
	if c.interpret || c.masked {
		return ""
	}
	code, err := process.NewCode([]byte{0xC3}) // ret
	if err == nil {
		err = code.Free()
	}
	switch {
	case err == nil && c.features&amd64.ForAVX2 != amd64.ForAVX2:
		return "kernels are interpreted, which is some hundred times slower than compiled code: that needs a processor with AVX2"
	case err == nil:
		return ""
	case errors.Is(err, process.ErrUnsupported):
		return "kernels are interpreted, which is some hundred times slower than compiled code: " + process.Lacking("that needs Linux on x86-64")
	}
	return fmt.Sprintf("kernels are interpreted, which is some hundred times slower than compiled code: this process may not have it (%v)", err)
}

// engines returns the engines to try on a machine, the best first.
func (c choices) engines(m *machine.Info) []engine {
	slow := interpreter{}
	if c.interpret {
		return []engine{slow}
	}
	return []engine{vectorizer{features: c.features, gang: c.gang, cores: c.cores, model: c.model, dump: c.dump, machine: m, slow: slow, work: new(spmd.Workspace)}, slow}
}
