package tests

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestStatic builds the command with the tag nonative and runs it in a root directory with nothing else in it.
func TestStatic(t *testing.T) {
	root := t.TempDir()
	binary := filepath.Join(root, "orepl")
	build := exec.Command("go", "build", "-tags", "nonative", "-o", binary, module+"/cmd/orepl")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	list := exec.Command("go", "list", "-deps", "-tags", "nonative", module+"/cmd/orepl")
	list.Env = build.Env
	if out, err := list.Output(); err != nil || strings.Contains(string(out), "purego") {
		t.Errorf("%v: purego is linked", err)
	}
	f, err := elf.Open(binary)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
			t.Errorf("the program has a segment %v", p.Type)
		}
	}
	_ = f.Close() // opened for reading
	script := `import { device, devices, kernel, f32 } from 'offload'
const x = device().buffer(f32, 1000, i => i), y = device().buffer(f32, 1000)
kernel((g, x, y) => { y[g.x] = 2 * x[g.x] + Math.exp(0) }).launch({ size: 1000 }, x, y)
console.log((await y.read())[999], devices().map(d => d.id).join())
`
	if err := os.WriteFile(filepath.Join(root, "run.js"), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"run", "run.js"}, []string{"1999 cpu\n", "built with the tag nonative"}},
		{[]string{"devices"}, []string{"cpu: CPU", "opencl: not available: open on opencl: OpenCL was not found: this program was built with the tag nonative"}},
	} {
		out, err := inRoot(root, c.args...).CombinedOutput()
		for _, want := range c.want {
			if err != nil || !strings.Contains(string(out), want) {
				t.Errorf("orepl %s: %v\n%s\nwant %s", strings.Join(c.args, " "), err, out, want)
			}
		}
		if strings.Contains(string(out), "memory                    0.0 GiB") {
			t.Errorf("the memory is unknown:\n%s", out)
		}
	}
}

// inRoot returns a command that runs /orepl with another root directory, as a user of a namespace unless the user may change the root.
func inRoot(root string, args ...string) *exec.Cmd {
	cmd := exec.Command("/orepl", args...)
	cmd.Dir, cmd.Env, cmd.SysProcAttr = "/", []string{}, &syscall.SysProcAttr{Chroot: root}
	if id := os.Getuid(); id != 0 {
		cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: id, Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	return cmd
}
