package kernlang

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/plugins/far"
	"github.com/orepl/orepl/plugins/mpi"
	"github.com/orepl/orepl/plugins/opencl"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/remote/socket"
)

// workerVariable makes this test binary a process of an MPI job: a worker with this plugin, or the host.
const workerVariable = "OREPL_KERNLANG_WORKER"

func TestMain(m *testing.M) {
	if name := os.Getenv(workerVariable); name != "" && len(os.Args) == 2 && os.Args[1] == "worker" {
		if err := mpi.Serve(context.Background(), served[name]); err != nil {
			fmt.Println(err)
			os.Exit(3)
		}
		os.Exit(0)
	}
	code := m.Run()
	if os.Getenv(workerVariable) != "" {
		if err := mpi.Finish(); err != nil {
			fmt.Println(err)
			code = 3
		}
	}
	os.Exit(code)
}

// served maps names to plugins of workers.
var served = map[string]offload.Plugin{"cpu": cpu.New(cpu.Options{}), "opencl": opencl.New(opencl.Options{})}

// workerStep returns the step of rulesOn for workers.
func workerStep() int {
	if testing.Short() {
		return 48
	}
	return 1
}

// TestRulesOnWorkers also runs the kernels of TestRules on devices of workers: over a socket, and with each MPI.
func TestRulesOnWorkers(t *testing.T) {
	for _, name := range []string{"cpu", "opencl"} {
		if p, err := served[name].Open(t.Context()); err != nil {
			t.Logf("%s is not run: %v", name, err) // TestRulesOnOpenCL fails in CI
			continue
		} else if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		t.Run("socket/"+name, func(t *testing.T) {
			l, err := socket.Listen(socket.Address{Network: "tcp", Place: "127.0.0.1:0"})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(context.Background())
			ended := make(chan error, 1)
			go func() { ended <- l.Serve(ctx, func(err error) { t.Error(err) }, served[name]) }()
			rulesOn(t, far.New(far.Options{Workers: []string{l.Address().Secret()}}), served[name], workerStep())
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
		for _, launcher := range []string{"mpirun.openmpi", "mpirun.mpich"} {
			t.Run(launcher+"/"+name, func(t *testing.T) { rulesInJob(t, launcher, name) })
		}
	}
}

// rulesInJob runs TestRulesOfJob in a job with a worker.
func rulesInJob(t *testing.T, launcher, plugin string) {
	if _, err := exec.LookPath(launcher); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	var args []string
	if launcher == "mpirun.openmpi" {
		args = []string{"--oversubscribe", "--allow-run-as-root", "--bind-to", "none"}
	}
	args = append(args, "-np", "1", os.Args[0], "-test.run=^TestRulesOfJob$", "-test.v")
	if testing.Short() {
		args = append(args, "-test.short")
	}
	args = append(args, ":", "-np", "1", os.Args[0], "worker")
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, launcher, args...)
	cmd.Env = append(os.Environ(), workerVariable+"="+plugin)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestRulesOfJob") || strings.Contains(string(out), " 0 kernels,") {
		t.Errorf("%v\n%.4000s", err, out)
	}
	if _, kernels, ok := strings.Cut(string(out), "opencl_test.go"); ok {
		t.Logf("%.80s", kernels)
	}
}

// TestRulesOfJob runs the kernels of TestRules as the host of rulesInJob's job.
func TestRulesOfJob(t *testing.T) {
	plugin := os.Getenv(workerVariable)
	if plugin == "" {
		t.Skip("TestRulesOnWorkers runs it in a job")
	}
	rulesOn(t, mpi.New(), served[plugin], workerStep())
}
