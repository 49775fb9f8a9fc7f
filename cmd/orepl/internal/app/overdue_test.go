//go:build unix

package app

import (
	"bytes"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/offload"
)

// TestNamedPipe checks that commands on images refuse a named pipe and a device, which never end.
func TestNamedPipe(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := unix.Mkfifo("pipe", 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"pipe", "/dev/zero"} {
		for _, args := range [][]string{
			{"image", "list", file}, {"image", "verify", file}, {"image", "drop", "--target", "cpu", file}, {"image", "strip", file},
			{"image", "extract", "--target", "cpu", file, "-o", "x"}, {"image", "pack", "-o", "x", "--target", "cpu=" + file},
		} {
			var out bytes.Buffer
			code := Main(System{Args: args, Stdout: &out, Stderr: &out, Stdin: strings.NewReader(""), Plugins: []offload.Plugin{cpu.New(cpu.Options{})}})
			if code == ExitOK || !strings.Contains(out.String(), "no regular file") {
				t.Errorf("%q: %d, %s", args, code, out.String())
			}
		}
	}
}
