package record

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
)

// Machine describes the machine of a run.
type Machine struct {
	OS         string   `json:"os"`
	Arch       string   `json:"arch"`
	Processors int      `json:"processors"`
	Processor  string   `json:"processor,omitempty"`
	Features   []string `json:"features,omitempty"` // vector extensions of the processor
	Governor   string   `json:"governor,omitempty"` // policy for the processor's clock
	Load       float64  `json:"load,omitempty"`     // mean number of runnable threads in the minute before the run
	Others     float64  `json:"others,omitempty"`   // share of the processors' time that other programs used during the run
	Tool       string   `json:"tool"`               // version of this program
	Devices    []Device `json:"devices"`            // devices whose events were measured
}

// Device describes a device.
type Device struct {
	ID           string `json:"id"`
	Name         string `json:"name"`
	Arch         string `json:"arch"`
	Platform     string `json:"platform"` // name and version of the driver
	ComputeUnits int    `json:"computeUnits"`
	MemoryBytes  uint64 `json:"memoryBytes"`
}

// ThisMachine returns the description of this machine without devices.
func ThisMachine() Machine {
	m := Machine{OS: runtime.GOOS, Arch: runtime.GOARCH, Processors: runtime.NumCPU(), Tool: "(development)", Devices: []Device{}}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		m.Tool = info.Main.Version
	}
	m.describe(readText)
	return m
}

// readText returns the text of a file, or "" if it cannot be read.
func readText(path string) string {
	data, _ := os.ReadFile(path) // descriptions of the machine are optional
	return string(data)
}

// vectorFeatures are the features of processors that affect compiled kernels, and that [Machine] lists.
var vectorFeatures = []string{"sse4_2", "avx", "avx2", "fma", "avx512f", "avx512bw", "avx512_fp16", "avx512_bf16", "asimd", "sve"}

// describe sets the processor, its features, the clock policy and the load from files of Linux. read returns the text of a
// file.
func (m *Machine) describe(read func(path string) string) {
	for line := range strings.Lines(read("/proc/cpuinfo")) {
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch strings.TrimSpace(name) {
		case "model name":
			m.Processor = value
		case "flags", "Features":
			have := strings.Fields(value)
			m.Features = slices.DeleteFunc(slices.Clone(vectorFeatures), func(f string) bool { return !slices.Contains(have, f) })
		}
	}
	m.Governor = strings.TrimSpace(read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"))
	if load, _, ok := strings.Cut(read("/proc/loadavg"), " "); ok {
		m.Load, _ = strconv.ParseFloat(load, 64) // a load of another form is left out
	}
}

// Unlike describes the differences of two machines that make times incomparable, each with the value of other first. Only
// devices in both runs count.
func (m *Machine) Unlike(other *Machine) (reasons []string) {
	differ := func(what string, a, b any) {
		if a != b {
			reasons = append(reasons, fmt.Sprintf("%s: %v, then %v", what, other.named(a), other.named(b)))
		}
	}
	differ("operating system", other.OS+"/"+other.Arch, m.OS+"/"+m.Arch)
	differ("processor", other.Processor, m.Processor)
	differ("processors", other.Processors, m.Processors)
	differ("vector extensions", strings.Join(other.Features, " "), strings.Join(m.Features, " "))
	differ("clock policy", other.Governor, m.Governor)
	for _, d := range m.Devices {
		for _, o := range other.Devices {
			if d.ID == o.ID {
				differ("device "+d.ID, o.Name+", "+o.Platform, d.Name+", "+d.Platform)
			}
		}
	}
	return reasons
}

// named returns a value, or "unknown" for an empty text.
func (*Machine) named(v any) any {
	if v == "" {
		return "unknown"
	}
	return v
}

// Commit returns the commit that is checked out in the Git repository around a directory, or "".
func Commit(dir string) string {
	for {
		at := filepath.Join(dir, ".git")
		if text := readText(at); strings.HasPrefix(text, "gitdir:") { // a linked work tree
			at = strings.TrimSpace(strings.TrimPrefix(text, "gitdir:"))
			if !filepath.IsAbs(at) {
				at = filepath.Join(dir, at)
			}
		}
		if head := strings.TrimSpace(readText(filepath.Join(at, "HEAD"))); head != "" {
			return resolve(at, head)
		}
		above := filepath.Dir(dir)
		if above == dir {
			return ""
		}
		dir = above
	}
}

// resolve returns the commit that the content of HEAD refers to, or "" if its reference is not found.
func resolve(git, head string) string {
	ref, symbolic := strings.CutPrefix(head, "ref: ")
	if !symbolic {
		return head
	}
	common := git
	if text := strings.TrimSpace(readText(filepath.Join(git, "commondir"))); text != "" {
		common = filepath.Join(git, text)
	}
	if commit := strings.TrimSpace(readText(filepath.Join(common, filepath.FromSlash(ref)))); commit != "" {
		return commit
	}
	for line := range strings.Lines(readText(filepath.Join(common, "packed-refs"))) {
		if commit, name, ok := strings.Cut(strings.TrimSpace(line), " "); ok && name == ref {
			return commit
		}
	}
	return ""
}
