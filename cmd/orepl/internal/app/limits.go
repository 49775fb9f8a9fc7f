package app

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/pace"
)

// limitFlags are the flags that limit a script.
type limitFlags struct {
	timeout                       time.Duration
	memory, deviceMemory          uint
	callDepth                     int
	iterations, launches          uint64
	readableBelow, writeableBelow directories
	programs                      directories
	native                        bool
}

// directories is a flag that may occur several times.
type directories []string

func (d *directories) String() string         { return "" }
func (d *directories) Set(value string) error { *d = append(*d, value); return nil }

func (inv *invocation) limits() *limitFlags {
	l := &limitFlags{}
	f := inv.flags
	f.DurationVar(&l.timeout, "timeout", 0, "end the script after this `time`, such as 30s")
	f.UintVar(&l.memory, "memory", 0, "end the script when its heap exceeds this many `MiB`")
	f.IntVar(&l.callDepth, "max-call-depth", 0, "nest no more than this `number` of calls; without it 10000, or 2000 with --timeout, --memory or --max-iterations")
	f.Uint64Var(&l.iterations, "max-iterations", 0, "end the script when its loops ran this `number` of times, all together")
	f.UintVar(&l.deviceMemory, "max-device-memory", 0, "let the script hold no more than this many `MiB` in buffers")
	f.Uint64Var(&l.launches, "max-launches", 0, "let the script launch no more than this `number` of kernels")
	f.Var(&l.readableBelow, "allow-read", "let the script read and import files below this `directory` only; may be repeated")
	f.Var(&l.writeableBelow, "allow-write", "let the script write files below this `directory` only; may be repeated")
	f.Var(&l.programs, "allow-run", "let the script start this `program` only, or those below this directory; may be repeated; with --allow-read or --allow-write, none unless given")
	f.BoolVar(&l.native, "allow-native", false, "let the script run native code of libraries; with --allow-read or --allow-write, none unless given")
	return l
}

// mostMiB is the maximum of flags that count MiB: 2^63 bytes, more than any machine has.
const mostMiB = 1 << 43

// options returns o with the limits of the flags, and with a policy if flags restrict or allow access. A limit of memory makes
// collections more frequent. The errors of options are usage errors.
func (l *limitFlags) options(o lang.Options) (lang.Options, error) {
	if l.timeout < 0 {
		return o, &usageError{fmt.Sprintf("--timeout %v is negative", l.timeout), "leave it out for no limit"}
	}
	for _, f := range []struct {
		name string
		mib  uint
	}{{"memory", l.memory}, {"max-device-memory", l.deviceMemory}} {
		if f.mib > mostMiB {
			return o, &usageError{fmt.Sprintf("--%s %d is more than any machine has", f.name, f.mib), "the number counts MiB"}
		}
	}
	pace.Relax(uint64(l.memory) << 20)
	o.Limits = lang.Limits{
		Time: l.timeout, Memory: uint64(l.memory) << 20, CallDepth: l.callDepth, Iterations: l.iterations,
		DeviceMemory: uint64(l.deviceMemory) << 20, Launches: l.launches,
	}
	var err error
	if len(l.readableBelow) > 0 {
		if o.Policy.Read, err = lang.Inside(l.readableBelow...); err != nil {
			return o, &usageError{"--allow-read: " + err.Error(), ""}
		}
	}
	if len(l.writeableBelow) > 0 {
		if o.Policy.Write, err = lang.Inside(l.writeableBelow...); err != nil {
			return o, &usageError{"--allow-write: " + err.Error(), ""}
		}
	}
	if len(l.programs) > 0 {
		if o.Policy.Run, err = l.allowRun(); err != nil {
			return o, &usageError{"--allow-run: " + err.Error(), ""}
		}
	}
	if l.native {
		o.Policy.Native = func(string) error { return nil }
	}
	return o, nil
}

// allowRun resolves the allowed programs on the search path, and returns the policy for running them. A name without a folder
// that is not on the search path is an error.
func (l *limitFlags) allowRun() (func(string) error, error) {
	paths := make([]string, len(l.programs))
	for i, name := range l.programs {
		paths[i] = name
		if path, err := exec.LookPath(name); err == nil {
			paths[i] = path
		} else if !strings.ContainsRune(name, filepath.Separator) {
			return nil, err
		}
	}
	inside, err := lang.Inside(paths...)
	if err != nil {
		return nil, err
	}
	return func(path string) error {
		if inside(path) != nil {
			return fmt.Errorf("only these programs are allowed: %s", strings.Join(l.programs, ", "))
		}
		return nil
	}, nil
}
