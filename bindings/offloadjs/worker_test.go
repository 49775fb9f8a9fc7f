package offloadjs_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/plugins/mpi"
	contract "github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/remote"
	"github.com/orepl/orepl/runtime/remote/socket"
)

// overSocket makes the tests of this binary use the CPU of a worker, and overMPI that of a worker of an MPI job.
const (
	overSocket = "OREPL_TEST_OVER_SOCKET"
	overMPI    = "OREPL_TEST_OVER_MPI"
)

// TestMain makes this binary a worker of an MPI job if its only argument is "worker".
func TestMain(m *testing.M) {
	if os.Getenv(overMPI) == "" {
		os.Exit(m.Run())
	}
	var err error
	code := 0
	if len(os.Args) == 2 && os.Args[1] == "worker" {
		err = mpi.Serve(context.Background(), cpu.New(cpu.Options{}))
	} else {
		code = m.Run()
		err = mpi.Finish()
	}
	if err != nil {
		fmt.Println(err)
		code = 3
	}
	os.Exit(code)
}

// renamed is a plugin with the name of the CPU's, which tests use.
type renamed struct{ contract.Plugin }

func (renamed) Name() string { return "cpu" }

// cpuPlugin returns the plugin of this machine's CPU, or one with its devices behind a socket.
func cpuPlugin(t testing.TB) contract.Plugin {
	t.Helper()
	near := cpu.New(cpu.Options{})
	if os.Getenv(overMPI) != "" {
		return renamed{mpi.New()}
	}
	if os.Getenv(overSocket) == "" {
		return near
	}
	l, err := socket.Listen(socket.Address{Network: "tcp", Place: "127.0.0.1:0"})
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

// compilersOf returns the compilers of a test. Behind a worker, where a call takes milliseconds, it is the first: the images of the
// others differ in nothing that a worker sees.
func compilersOf(list [][]string) [][]string {
	if os.Getenv(overSocket) != "" || os.Getenv(overMPI) != "" {
		return list[:1]
	}
	return list
}

// plainIDs returns output with the ids, prints and texts of a device without a worker.
func plainIDs(out string) string {
	if os.Getenv(overSocket) == "" && os.Getenv(overMPI) == "" {
		return out
	}
	out = regexp.MustCompile(`(?m)^mpi:1/cpu:0: `).ReplaceAllString(out, "")
	out = strings.NewReplacer("cpu:cpu:0", "cpu", "cpu:1/cpu:0", "cpu", "mpi:1/cpu:0", "cpu").Replace(out)
	// Names of services are looked up by the host at the call, not before it.
	return regexp.MustCompile(`(no service is named "\w+"), kernel \w+, work-item \[0, 0, 0\]`).ReplaceAllString(out, "$1")
}

// withoutWorker lists tests of features that devices of a worker lack, with the reason.
var withoutWorker = map[string]string{"TestNativePorts": "ports of its processes"}

// suite returns the flags with which this binary runs the tests of images and services that support workers, and the minimum
// number of these tests.
func suite() (flags []string, least int) {
	pattern, least := "^Test(Native|Services|RPC|Library)", 9
	if testing.Short() {
		pattern, least = "^TestNative(Pointers|Kernels|Policy|FilePolicy)$", 4
	}
	var skipped []string
	for name := range withoutWorker {
		skipped = append(skipped, name)
	}
	return []string{"-test.run=" + pattern, "-test.v", "-test.skip=^(" + strings.Join(skipped, "|") + ")$"}, least
}

// checkSuite fails if the suite did, or if it ran too few tests.
func checkSuite(t *testing.T, out []byte, err error, least int) {
	passed := strings.Count(string(out), "\n--- PASS: ")
	if err != nil || passed < least {
		t.Errorf("%d passed, %v\n%s", passed, err, regexp.MustCompile(`(?m)^=== .*\n`).ReplaceAll(out, nil))
	}
}

// TestOverSocket runs the tests of images and services again with a device behind a socket.
func TestOverSocket(t *testing.T) {
	flags, least := suite()
	cmd := exec.CommandContext(t.Context(), os.Args[0], flags...)
	cmd.Env = append(os.Environ(), overSocket+"=1")
	out, err := cmd.CombinedOutput()
	checkSuite(t, out, err, least)
}

// TestOverMPI runs the tests of images and services again with a device of a worker of an MPI job. It leaves out one with thousands of
// calls, each of which takes tens of milliseconds where other work has the cores.
func TestOverMPI(t *testing.T) {
	flags, least := suite()
	flags[len(flags)-1] += "|^TestServices$/^more_launches_than_a_queue_holds$"
	for launcher, args := range map[string][]string{"mpirun.openmpi": {"--oversubscribe", "--allow-run-as-root", "--bind-to", "none"}, "mpirun.mpich": nil} {
		t.Run(launcher, func(t *testing.T) {
			if _, err := exec.LookPath(launcher); err != nil {
				if os.Getenv("CI") == "true" {
					t.Fatal(err)
				}
				t.Skip(err)
			}
			args := append(append(append(args, "-np", "1", os.Args[0]), flags...), ":", "-np", "1", os.Args[0], "worker")
			cmd := exec.CommandContext(t.Context(), launcher, args...)
			cmd.Env = append(os.Environ(), overMPI+"=1")
			out, err := cmd.CombinedOutput()
			checkSuite(t, out, err, least)
		})
	}
}
