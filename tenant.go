package orepl

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/orepl/orepl/bindings/offloadjs/placement"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/bounds"
	contract "github.com/orepl/orepl/runtime/offload"
)

// Tenant says what the scripts of one user of a program may do. The zero value lets them compute on the device "cpu" within
// limits, and read, write, start and load nothing.
type Tenant struct {
	Name string // names its engines in spans of [Options.Observe]

	Read, Write []string // directories and files that scripts may read and import, or write
	Run         []string // programs that scripts may start, or directories of them
	Devices     []string // ids of devices, or names of plugins, whose devices are all allowed; nil: "cpu"; empty, not nil: none
	Native      bool     // scripts may load native libraries, which run unchecked in the process

	Output io.Writer // receives what scripts print, and warnings; nil: they are dropped

	// Limits replace those of [TenantLimits]. A field that is 0 keeps the default.
	Limits lang.Limits
}

// TenantLimits are the limits for those fields of [Tenant.Limits] that are 0. They are 10 s for each call, and 100 000 launches for
// each engine or run of a pipeline. Memory is limited to 256 MiB of heap and 256 MiB on devices.
var TenantLimits = lang.Limits{Time: 10 * time.Second, Memory: 256 << 20, DeviceMemory: 256 << 20, Launches: 100_000}

// Options returns options for engines and pipelines of the tenant, which the program may complete with modules and streams. Scripts
// get no arguments and no environment variables. A pipeline's own file may always be read. The error is that of an empty path, of a
// directory that cannot be resolved, or of an invalid limit or device.
func (t Tenant) Options() (EngineOptions, error) {
	o := EngineOptions{Name: t.Name, Limits: t.Limits, Stdout: t.Output, Stderr: t.Output}
	if t.Output == nil {
		o.Stdout, o.Stderr = io.Discard, io.Discard
	}
	if err := o.checkLimits(); err != nil {
		return EngineOptions{}, err
	}
	if err := placement.Check(t.Devices); err != nil {
		return EngineOptions{}, contract.Errorf(contract.InvalidArgument, "tenant", "Devices: %v", err)
	}
	if o.Limits.Time == 0 {
		o.Limits.Time = TenantLimits.Time
	}
	if o.Limits.Memory == 0 {
		o.Limits.Memory = TenantLimits.Memory
	}
	if o.Limits.DeviceMemory == 0 {
		o.Limits.DeviceMemory = TenantLimits.DeviceMemory
	}
	if o.Limits.Launches == 0 {
		o.Limits.Launches = TenantLimits.Launches
	}
	for _, right := range []struct {
		to    *func(string) error
		below []string
		verb  string
		field string
	}{{&o.Policy.Read, t.Read, "read", "Read"}, {&o.Policy.Write, t.Write, "write", "Write"}, {&o.Policy.Run, t.Run, "start", "Run"}} {
		*right.to = denied(right.verb)
		if len(right.below) > 0 {
			inside, err := lang.Inside(right.below...)
			if err != nil {
				return EngineOptions{}, contract.Errorf(contract.InvalidArgument, "tenant", "%s: %v", right.field, err)
			}
			*right.to = inside
		}
	}
	if t.Native {
		o.Policy.Native = func(string) error { return nil }
	} else {
		o.Policy.Native = denied("load")
	}
	devices := t.Devices
	if devices == nil {
		devices = []string{"cpu"}
	}
	o.Policy.Plugins = make([]string, 0, len(devices)) // not nil
	for _, id := range devices {
		plugin, _, _ := strings.Cut(id, ":")
		o.Policy.Plugins = append(o.Policy.Plugins, plugin)
	}
	o.Policy.Device = func(id string) error {
		plugin, _, several := strings.Cut(id, ":")
		if slices.Contains(devices, id) || slices.Contains(devices, plugin) || !several && slices.Contains(devices, id+":0") {
			return nil
		}
		if len(devices) == 0 {
			return errors.New("it may use none")
		}
		return fmt.Errorf("its devices are %s", strings.Join(devices, ", "))
	}
	return o, nil
}

// checkLimits returns an error for an invalid limit.
func (o *EngineOptions) checkLimits() error {
	l := &o.Limits
	return bounds.Check(l.Time, l.CallDepth, l.Memory, l.Iterations, l.DeviceMemory, l.Launches)
}

func denied(verb string) func(string) error {
	err := errors.New("the script may " + verb + " nothing, since EngineOptions.Policy does not allow it")
	return func(string) error { return err }
}

// denyRest makes the policy deny each kind of access to files, programs and native code for which it has no function. The files
// in the result, which the program names, can be read nevertheless. With [EngineOptions.Files] it leaves the policy unchanged,
// since the engine itself denies the rest.
func (o *EngineOptions) denyRest() *ownFiles {
	own := &ownFiles{dir: o.Dir}
	if o.Files != nil { // the engine itself denies what is not allowed
		return own
	}
	for _, right := range []struct {
		ask  *func(string) error
		verb string
	}{{&o.Policy.Read, "read"}, {&o.Policy.Write, "write"}, {&o.Policy.Run, "start"}, {&o.Policy.Native, "load"}} {
		if *right.ask == nil {
			*right.ask = denied(right.verb)
		}
	}
	own.others = o.Policy.Read
	o.Policy.Read = own.read
	return own
}

// ownFiles holds the scripts that a program names, which may be read whatever the policy says. It is safe for concurrent use.
type ownFiles struct {
	dir    string             // the base of relative paths
	others func(string) error // the policy for other files; nil with [EngineOptions.Files], where the engine asks no policy

	mu    sync.Mutex
	names map[string]func(string) error // tests whether a path is that of the file, by the path that the program passed
}

// add permits reads of a file. It does nothing for a path at which nothing exists, or if others is nil.
func (f *ownFiles) add(path string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.others == nil || path == "" {
		return
	}
	at := path
	if f.dir != "" && !filepath.IsAbs(at) {
		at = filepath.Join(f.dir, at)
	}
	own, err := lang.Inside(at)
	if err != nil { // there is no such file, as its load reports
		return
	}
	if f.names == nil {
		f.names = map[string]func(string) error{}
	}
	f.names[path] = own
}

// read returns nil for the named files, and the result of the policy for others.
func (f *ownFiles) read(path string) error {
	f.mu.Lock()
	for _, own := range f.names {
		if own(path) == nil {
			f.mu.Unlock()
			return nil
		}
	}
	f.mu.Unlock()
	return f.others(path)
}
