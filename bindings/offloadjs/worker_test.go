package offloadjs_test

import (
	"context"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/orepl/orepl/plugins/cpu"
	contract "github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/remote"
)

// overSocket makes the tests of this binary use the CPU of a worker.
const overSocket = "OREPL_TEST_OVER_SOCKET"

// cpuPlugin returns the plugin of this machine's CPU, or one with its devices behind a socket.
func cpuPlugin(t testing.TB) contract.Plugin {
	t.Helper()
	near := cpu.New(cpu.Options{})
	if os.Getenv(overSocket) == "" {
		return near
	}
	l, err := remote.Listen(remote.Address{Network: "tcp", Place: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- l.Serve(ctx, func(err error) { t.Error(err) }, near) }()
	t.Cleanup(func() {
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return remote.NewPlugin("cpu", l.Address().Dial)
}

// plainIDs returns output with the ids and the texts of a device without a worker.
func plainIDs(out string) string {
	if os.Getenv(overSocket) == "" {
		return out
	}
	out = strings.ReplaceAll(out, "cpu:cpu:0", "cpu")
	// Names of services are looked up by the host at the call, not before it.
	return regexp.MustCompile(`(no service is named "\w+"), kernel \w+, work-item \[0, 0, 0\]`).ReplaceAllString(out, "$1")
}

// withoutWorker are tests of what a worker does not offer, with the reason.
var withoutWorker = map[string]string{"TestNativeBuiltins": "files of the host", "TestNativeFilePolicy": "files of the host", "TestNativePorts": "ports of its processes"}

// TestOverSocket runs the tests of images and services again with a device behind a socket.
func TestOverSocket(t *testing.T) {
	pattern, least := "^Test(Native|Services|RPC|Library)", 7
	if testing.Short() {
		pattern, least = "^TestNative(Pointers|Kernels|Policy)$", 3
	}
	var skipped []string
	for name := range withoutWorker {
		skipped = append(skipped, name)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run="+pattern, "-test.v", "-test.skip=^("+strings.Join(skipped, "|")+")$")
	cmd.Env = append(os.Environ(), overSocket+"=1")
	out, err := cmd.CombinedOutput()
	passed := strings.Count(string(out), "\n--- PASS: ")
	if err != nil || passed < least {
		t.Errorf("%d passed, %v\n%s", passed, err, regexp.MustCompile(`(?m)^=== .*\n`).ReplaceAll(out, nil))
	}
}
