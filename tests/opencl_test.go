package tests

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/orepl/orepl/plugins/opencl"
)

// withoutOpenCL maps scripts to the feature that OpenCL devices lack for them.
var withoutOpenCL = map[string]string{"03-services.js": "calls", "04-native.js": "native images", "05-native-services.js": "native images",
	"06-two-devices.js": "the CPU beside it, which TestExamples has"}

// TestExamplesOnOpenCL compares examples on the first OpenCL device with the CPU: digests of their output and files, without
// timings. Only a long run has all examples, since a driver such as PoCL takes minutes to compile their kernels.
func TestExamplesOnOpenCL(t *testing.T) {
	if p, err := opencl.New(opencl.Options{}).Open(t.Context()); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	} else if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	examplesOn(t, "opencl:0", withoutOpenCL, 3)
}

// TestExamplesOnCUDA compares the examples on the first GPU with the CPU, if OREPL_GPU is 1.
func TestExamplesOnCUDA(t *testing.T) {
	if os.Getenv("OREPL_GPU") != "1" {
		t.Skip("OREPL_GPU=1 runs it on the first GPU")
	}
	examplesOn(t, "cuda:0", map[string]string{"04-native.js": "native images", "05-native-services.js": "native images", "06-two-devices.js": "the CPU beside it, which TestExamples has"}, 1)
}

// examplesOn compares the examples on a device with the CPU; unless the run is long, one of every step examples. without maps scripts
// to the feature that the device lacks for them.
func examplesOn(t *testing.T, device string, without map[string]string, step int) {
	t.Helper()
	orepl := buildCommand(t)
	scripts, err := filepath.Glob("../examples/[0-9]*.js")
	if err != nil {
		t.Fatal(err)
	}
	kernels, err := filepath.Glob("../examples/kernels/*.js")
	if err != nil {
		t.Fatal(err)
	}
	for i, script := range append(scripts, kernels...) {
		name := filepath.Base(script)
		if os.Getenv("OREPL_TEST_LONG") != "1" && i%step != 0 || testing.Short() && i%8 != 0 {
			continue
		}
		t.Run(strings.TrimSuffix(name, ".js"), func(t *testing.T) {
			if why := without[name]; why != "" {
				t.Skip("needs " + why)
			}
			want, got := digest(t, orepl, script, "cpu:0"), digest(t, orepl, script, device)
			if want != got {
				t.Errorf("on cpu:0 it leaves\n%s\nand on %s\n%s", want, device, got)
			}
		})
	}
}

// speed matches output that differs from run to run: times, rates and device names.
var speed = regexp.MustCompile(`[0-9.,]+ ?(ns|µs|ms|s|G[A-Za-z/]+|M[A-Za-z/]+|k[A-Za-z/]+)\b|, on .*`)

// verified matches rows of a table of bench, with their first and last columns.
var verified = regexp.MustCompile(`(?m)^(\w+) .* (yes|no)$`)

// digest runs a script with device() set to the device, and returns its output with a digest of each file that it writes.
func digest(t *testing.T, orepl, script, device string) string {
	t.Helper()
	dir := t.TempDir()
	// The script's folder must contain its imports.
	for _, f := range []string{script, "../examples/kernels/check.js"} {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		text = bytes.ReplaceAll(text, []byte("device()"), []byte("device('"+device+"')"))
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(f)), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(orepl, "run", filepath.Join(dir, filepath.Base(script)))
	cmd.Dir = t.TempDir()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("on %s: %v\n%s%s", device, err, out, stderr.Bytes())
	}
	text := string(speed.ReplaceAll(out, nil))
	if filepath.Base(script) == "02-bench.js" { // a table of times: compare the column that reports verification
		text = ""
		for _, row := range verified.FindAllStringSubmatch(string(out), -1) {
			text += row[1] + " " + row[2] + "\n"
		}
	}
	files, _ := filepath.Glob(filepath.Join(cmd.Dir, "*"))
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		text += fmt.Sprintf("%s %x\n", filepath.Base(f), sha256.Sum256(data))
	}
	return text
}

// TestPlatformOfWorker checks that a device of a worker has the platform that it has here, beside those of other platforms.
func TestPlatformOfWorker(t *testing.T) {
	if p, err := opencl.New(opencl.Options{}).Open(t.Context()); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	} else if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	orepl := buildCommand(t)
	platform := regexp.MustCompile(`(?m)^  platform .*$`)
	of := func(id string) string {
		cmd := exec.Command(orepl, "devices", id)
		cmd.Env = append(os.Environ(), "OREPL_FAR=spawn")
		out, err := cmd.CombinedOutput()
		if line := platform.Find(out); err == nil && line != nil {
			return string(line)
		}
		t.Fatalf("%s: %v\n%s", id, err, out)
		return ""
	}
	cpu, cl := of("cpu"), of("opencl:0")
	if cpu == cl {
		t.Errorf("the platforms here are both %s", cpu)
	}
	if farCPU, farCL := of("far:cpu:0"), of("far:opencl:0"); farCPU != cpu || farCL != cl {
		t.Errorf("the worker's devices have the platforms\n%s\n%s, want\n%s\n%s", farCPU, farCL, cpu, cl)
	}
}
