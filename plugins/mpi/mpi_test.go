package mpi_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dop251/goja"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/bindings/inside"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/plugins/mpi"
	"github.com/orepl/orepl/runtime/conform"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/remote/silence"
)

// roleVariable makes this test binary run as a process of a job.
const roleVariable = "OREPL_TEST_MPI"

func TestMain(m *testing.M) {
	roles := map[string]func() error{
		"worker":  worker,
		"loss":    loss,
		"flood":   mpi.Flood,
		"driven":  mpi.Driven,
		"large":   large,
		"unread":  mpi.Unread,
		"conform": suite,
		"digests": digests,
		"pool":    pooled,
		"idle":    func() error { return nil }, // a host that uses no device
		"quiet":   mpi.Quiet,
		"yields": func() error {
			on, err := mpi.Yields()
			fmt.Println("yields:", on)
			return err
		},
		"network": func() error { fmt.Printf("%x\n", mpi.Network()); return nil },
		"alone":   func() error { _, err := mpi.New().Open(context.Background()); return err },
	}
	if len(os.Args) == 2 && roles[os.Args[1]] != nil && os.Getenv(roleVariable) != "" {
		err := roles[os.Args[1]]()
		if end := mpi.Finish(); err == nil {
			err = end
		}
		if err != nil {
			fmt.Println(err)
			os.Exit(3)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// worker runs a worker, which writes its process id to a file for other processes.
func worker() error {
	if dir := os.Getenv("OREPL_TEST_DIR"); dir != "" {
		rank := os.Getenv("OMPI_COMM_WORLD_RANK") + os.Getenv("PMI_RANK")
		if err := os.WriteFile(filepath.Join(dir, rank), []byte(strconv.Itoa(os.Getpid())), 0o600); err != nil {
			return err
		}
	}
	return mpi.Serve(context.Background(), cpu.New(cpu.Options{}))
}

// loss signals the worker of rank 1 during its use, and checks that its device is lost and that of rank 2 still works.
func loss() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	p, err := mpi.New().Open(ctx)
	if err != nil {
		return err
	}
	pid, err := os.ReadFile(filepath.Join(os.Getenv("OREPL_TEST_DIR"), "1"))
	if err != nil {
		return err
	}
	process, err := strconv.Atoi(string(pid))
	if err != nil {
		return err
	}
	number, _ := strconv.Atoi(os.Getenv("OREPL_TEST_SIGNAL"))
	devices := p.Devices()
	if err := copies(ctx, devices[0]); err != nil {
		return err
	}
	if err := syscall.Kill(process, syscall.Signal(number)); err != nil {
		return err
	}
	start := time.Now()
	for err = nil; err == nil; { // commands before the loss is detected may succeed
		err = copies(ctx, devices[0])
	}
	fmt.Printf("%v after %v: %v\n", offload.CodeOf(err), time.Since(start).Round(time.Millisecond), err)
	if err := copies(ctx, devices[1]); err != nil {
		return err
	}
	fmt.Println("rank 2 goes on")
	_ = syscall.Kill(process, syscall.SIGCONT)
	return p.Close()
}

// large writes 3 GiB to a worker's memory and reads them back.
func large() error {
	ctx := context.Background()
	p, err := mpi.New().Open(ctx)
	if err != nil {
		return err
	}
	start := time.Now()
	if err := copiesOf(ctx, p.Devices()[0], 3<<30+5); err != nil {
		return err
	}
	fmt.Printf("3 GiB went round in %v\n", time.Since(start).Round(time.Millisecond))
	return p.Close()
}

// copies writes to the memory of a device and reads it back.
func copies(ctx context.Context, d offload.Device) error { return copiesOf(ctx, d, 3<<20) }

func copiesOf(ctx context.Context, d offload.Device, n int64) error {
	m, err := d.Allocate(n, offload.DeviceMemory)
	if err != nil {
		return err
	}
	defer m.Free()
	q, err := d.NewQueue(offload.QueueOptions{})
	if err != nil {
		return err
	}
	defer q.Close()
	data, back := make([]byte, n), make([]byte, n)
	for j := range data {
		data[j] = byte(j*7 + j>>20)
	}
	if err := q.Submit(offload.Span{Memory: m, Size: n}, data); err != nil {
		return err
	}
	if err := q.Retrieve(back, offload.Span{Memory: m, Size: n}); err != nil {
		return err
	}
	if err := q.Sync(ctx); err != nil {
		return err
	}
	if !bytes.Equal(data, back) {
		return errors.New("the bytes that came back differ")
	}
	return nil
}

// suite runs the conformance suite on the first worker, whose rank depends on the launcher.
func suite() error {
	device := "mpi:" + os.Getenv("OREPL_TEST_RANK") + "/cpu:0"
	match := func(name string) bool { return name != "copy/256-mib" }
	results, err := conform.Run(context.Background(), mpi.New(), device, conform.Options{Match: match})
	failed := 0
	for _, r := range results {
		if r.Status == conform.Failed {
			failed++
			fmt.Printf("failed %s\n%s\n", r.Name, strings.Join(r.Output, "\n"))
		}
	}
	fmt.Printf("%d cases, %d failed\n", len(results), failed)
	return err
}

// pooled runs a script's tasks on two workers and kills that of rank 1 meanwhile. The other worker repeats its tasks.
func pooled() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	rt := orepl.Open(orepl.Options{Plugins: []offload.Plugin{mpi.New()}})
	defer rt.Close()
	stop := func() error { // the worker has written its process id by now
		data, err := os.ReadFile(filepath.Join(os.Getenv("OREPL_TEST_DIR"), "1"))
		if err != nil {
			return err
		}
		pid, err := strconv.Atoi(string(data))
		if err != nil {
			return err
		}
		if err = syscall.Kill(pid, syscall.SIGKILL); errors.Is(err, syscall.ESRCH) {
			err = nil // the killing task runs again
		}
		return err
	}
	e, err := inside.Of(rt).NewEngine(lang.Options{Stdout: os.Stdout, Stderr: os.Stderr, Modules: []lang.Module{{Name: "victim", Instantiate: func(e *lang.Engine) (*goja.Object, error) {
		o := e.VM().NewObject()
		return o, o.Set("kill", stop)
	}}}})
	if err != nil {
		return err
	}
	defer e.Close()
	_, err = e.Run(ctx, "pool.js", `
import { kernel, pool, i32 } from 'offload'
import { kill } from 'victim'
const square = kernel((g, n, x) => { x[g.x] = (g.x + n) * (g.x + n) }), workers = pool()
const items = Array.from({ length: 400 }, (_, i) => i)
const sums = await workers.map(items, async (n, { device, queue }) => {
  const x = device.buffer(i32, 64, { queue })
  square.launch({ size: 64, queue }, n, x)
  if (n === 100) kill()
  const sum = (await x.read()).reduce((a, b) => a + b)
  x.free()
  return sum
})
const wrong = items.filter(n => { let s = 0; for (let i = 0; i < 64; i++) s += (i + n) * (i + n); return s !== sums[n] })
console.log('wrong', wrong.length, 'left', workers.devices.filter(d => !d.lost).map(d => d.device).join())`)
	return err
}

// digests writes to the memory of each worker and reads it back.
func digests() error {
	ctx := context.Background()
	p, err := mpi.New().Open(ctx)
	if err != nil {
		return err
	}
	var names []string
	for i, d := range p.Devices() {
		names = append(names, d.(offload.Named).Named())
		if err := copies(ctx, d); err != nil {
			return fmt.Errorf("%s: %w", names[i], err)
		}
		if i > 0 {
			if err := exchange(ctx, d, p.Devices()[i-1]); err != nil {
				return fmt.Errorf("%s and %s: %w", names[i-1], names[i], err)
			}
		}
	}
	fmt.Println(strings.Join(names, " "))
	return p.Close()
}

// exchange copies from one device to another and back to other memory of the first.
func exchange(ctx context.Context, a, b offload.Device) error {
	if !a.(offload.PeerCopier).CanExchange(b) {
		return errors.New("the workers do not exchange memory")
	}
	const n = 3<<20 + 1
	q, err := a.NewQueue(offload.QueueOptions{})
	if err != nil {
		return err
	}
	defer q.Close()
	var spans [3]offload.Span
	for i, d := range []offload.Device{a, b, a} {
		m, err := d.Allocate(n, offload.DeviceMemory)
		if err != nil {
			return err
		}
		defer m.Free()
		spans[i] = offload.Span{Memory: m, Size: n}
	}
	data, back := make([]byte, n), make([]byte, n)
	for i := range data {
		data[i] = byte(i * 5)
	}
	err = errors.Join(q.Submit(spans[0], data), q.Exchange(spans[1], spans[0]), q.Exchange(spans[2], spans[1]), q.Retrieve(back, spans[2]), q.Sync(ctx))
	if err == nil && !bytes.Equal(data, back) {
		err = errors.New("the bytes that came back differ")
	}
	return err
}

// job runs this test binary under a launcher, one process per role in the order of ranks.
func job(t *testing.T, launcher string, env []string, roles ...string) (out string, err error) {
	t.Helper()
	if _, err := exec.LookPath(launcher); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	var args []string
	if launcher == "mpirun.openmpi" {
		args = append(args, "--oversubscribe", "--allow-run-as-root", "--bind-to", "none")
		if slices.Contains(roles, "loss") || slices.Contains(roles, "pool") {
			args = append(args, "--enable-recovery")
		}
	}
	for i, r := range roles {
		if i > 0 {
			args = append(args, ":")
		}
		args = append(args, "-np", "1", os.Args[0], r)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, launcher, args...)
	// A process may wait for seconds on a busy machine.
	cmd.Env = append(os.Environ(), silence.Variable+"=1m", roleVariable+"=1")
	cmd.Env = append(cmd.Env, env...)
	data, err := cmd.CombinedOutput()
	return string(data), err
}

var launchers = []string{"mpirun.openmpi", "mpirun.mpich"}

// TestConformance runs the conformance suite on a worker of a job, with each MPI library.
func TestConformance(t *testing.T) {
	for i, launcher := range launchers {
		t.Run(launcher, func(t *testing.T) {
			roles, rank := []string{"worker", "conform"}, "OREPL_TEST_RANK=0"
			if i > 0 { // the host may have any rank
				roles, rank = []string{"conform", "worker"}, "OREPL_TEST_RANK=1"
			}
			out, err := job(t, launcher, []string{rank}, roles...)
			if err != nil || !strings.Contains(out, " cases, 0 failed") {
				t.Errorf("%v\n%s", err, out)
			}
			t.Log(out)
		})
	}
}

// TestJobs runs jobs with several workers, with a host that uses no device, and without workers.
func TestJobs(t *testing.T) {
	for _, launcher := range launchers {
		t.Run(launcher, func(t *testing.T) {
			t.Parallel()
			out, err := job(t, launcher, nil, "worker", "digests", "worker", "worker")
			if err != nil || strings.TrimSpace(out) != "0/cpu:0 2/cpu:0 3/cpu:0" {
				t.Errorf("three workers: %v\n%s", err, out)
			}
			out, err = job(t, launcher, nil, "digests", "worker", "digests")
			if err != nil || strings.Count(out, "1/cpu:0") != 2 {
				t.Errorf("two hosts: %v\n%s", err, out)
			}
			if out, err := job(t, launcher, nil, "idle", "worker"); err != nil || out != "" {
				t.Errorf("a host without devices: %v\n%s", err, out)
			}
			if out, err := job(t, launcher, nil, "worker", "worker"); err == nil || !strings.Contains(out, "none of the 2 processes of the MPI job is a script") {
				t.Errorf("no script: %v\n%s", err, out)
			}
			if out, err := job(t, launcher, nil, "alone", "idle"); err != nil || out != "" {
				t.Errorf("scripts alone: %v\n%s", err, out)
			}
		})
	}
}

// foundTime bounds the time to find a loss. Twelve seconds pass between the heartbeats of these jobs, two of which a process may miss.
const foundTime = 11 * time.Second

// TestLoss kills or freezes a worker, and checks that its device is lost and the rest of the job ends normally. The loss is found long
// before a minute of silence. MPICH's launcher ends a job after a process is killed.
func TestLoss(t *testing.T) {
	for _, launcher := range launchers {
		for name, signal := range map[string]syscall.Signal{"killed": syscall.SIGKILL, "frozen": syscall.SIGSTOP} {
			t.Run(launcher+"/"+name, func(t *testing.T) {
				t.Parallel()
				env := []string{"OREPL_TEST_DIR=" + t.TempDir(), "OREPL_TEST_SIGNAL=" + strconv.Itoa(int(signal))}
				out, err := job(t, launcher, env, "loss", "worker", "worker")
				t.Log(out)
				if launcher == "mpirun.mpich" && signal == syscall.SIGKILL {
					if err == nil {
						t.Error("the launcher reports success")
					}
					return
				}
				var took string
				if _, after, ok := strings.Cut(out, "device-lost after "); ok {
					took, _, _ = strings.Cut(after, ":")
				}
				if d, e := time.ParseDuration(took); e != nil || d > foundTime || !strings.Contains(out, "rank 2 goes on") {
					t.Errorf("the loss is found after %q: %v", took, err)
				}
				if launcher == "mpirun.openmpi" && err != nil {
					t.Errorf("the job failed: %v", err)
				}
			})
		}
	}
}

// TestFullStream fills a connection whose reader is busy, and checks that another connection to the same process works.
func TestFullStream(t *testing.T) {
	for _, launcher := range launchers {
		t.Run(launcher, func(t *testing.T) {
			if out, err := job(t, launcher, nil, "flood", "unread"); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// TestLarge copies more than 2 GiB to a worker and back in one command.
func TestLarge(t *testing.T) {
	if os.Getenv("OREPL_TEST_LONG") != "1" {
		t.Skip("long")
	}
	for _, launcher := range launchers {
		t.Run(launcher, func(t *testing.T) {
			out, err := job(t, launcher, nil, "large", "worker")
			if err != nil || !strings.Contains(out, "3 GiB went round") {
				t.Errorf("%v\n%s", err, out)
			}
			t.Log(out)
		})
	}
}

// TestManyRanks runs the conformance suite on one of 15 workers, more than there are cores.
func TestManyRanks(t *testing.T) {
	if os.Getenv("OREPL_TEST_LONG") != "1" {
		t.Skip("long")
	}
	for _, launcher := range launchers {
		t.Run(launcher, func(t *testing.T) {
			roles := append([]string{"conform"}, slices.Repeat([]string{"worker"}, 15)...)
			out, err := job(t, launcher, []string{"OREPL_TEST_RANK=15"}, roles...)
			if err != nil || !strings.Contains(out, " cases, 0 failed") {
				t.Errorf("%v\n%s", err, out)
			}
			t.Log(out)
		})
	}
}

// TestPool kills a worker while a pool uses it. MPICH's launcher would end the job.
func TestPool(t *testing.T) {
	out, err := job(t, "mpirun.openmpi", []string{"OREPL_TEST_DIR=" + t.TempDir()}, "pool", "worker", "worker")
	if err != nil || !strings.Contains(out, "wrong 0 left mpi:2/cpu:0\n") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestWrongLauncher loads one MPI library under the launcher of another, and checks that the error names both.
func TestWrongLauncher(t *testing.T) {
	out, err := job(t, "mpirun.mpich", []string{"OMPI_COMM_WORLD_SIZE=2"}, "alone", "idle")
	if err == nil || !strings.Contains(out, "the launcher is of another MPI") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestNoLauncher checks the error without a launcher.
func TestNoLauncher(t *testing.T) {
	_, err := mpi.New().Open(t.Context())
	if offload.CodeOf(err) != offload.NotFound || !strings.Contains(err.Error(), "no MPI launcher") {
		t.Error(err)
	}
	if err := mpi.Finish(); err != nil {
		t.Error(err)
	}
}

// TestApart checks the error of a process that srun started beside others without an interface of MPI.
func TestApart(t *testing.T) {
	for name, value := range map[string]string{"SLURM_STEP_ID": "0", "SLURM_PROCID": "1", "SLURM_STEP_NUM_TASKS": "3"} {
		t.Setenv(name, value)
	}
	if text := mpi.New().(offload.Unconfigured).Unconfigured(); text != "" {
		t.Errorf("it is not opened: %s", text)
	}
	_, err := mpi.New().Open(t.Context())
	if offload.CodeOf(err) != offload.NotFound || !strings.Contains(err.Error(), "srun started 3 processes without an interface") {
		t.Error(err)
	}
}

// TestNetwork compares processes in one network, and in one of its own on the same machine, whose loopback interface is another.
func TestNetwork(t *testing.T) {
	network := func(command ...string) string {
		cmd := exec.Command(command[0], append(command[1:], os.Args[0], "network")...)
		cmd.Env = append(os.Environ(), roleVariable+"=1")
		out, err := cmd.CombinedOutput()
		if err != nil && len(command) > 1 && command[0] == "unshare" {
			t.Skipf("the system makes no networks: %s", out)
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return string(out)
	}
	here := network("env")
	if again := network("env"); again != here {
		t.Errorf("processes of one network are in %s and %s", here, again)
	}
	if apart := network("unshare", "-n"); apart == here {
		t.Error("a process in another network seems to be in this one")
	}
}

// TestYields checks that Open MPI does not yield in each call, although processes outnumber the slots, unless the user says so.
func TestYields(t *testing.T) {
	hosts := filepath.Join(t.TempDir(), "hosts")
	if err := os.WriteFile(hosts, []byte("localhost slots=1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("OMPI_MCA_orte_default_hostfile", hosts)
	for _, want := range []bool{false, true} {
		if want {
			t.Setenv("OMPI_MCA_mpi_yield_when_idle", "1")
		}
		out, err := job(t, "mpirun.openmpi", nil, "yields", "worker")
		if line := fmt.Sprintf("yields: %v\n", want); err != nil || !strings.Contains(string(out), line) {
			t.Errorf("no %q: %v\n%s", line, err, out)
		}
	}
}

// TestQuiet checks that a host without work leaves the processor to others.
func TestQuiet(t *testing.T) {
	if testing.Short() { // also the run with the race detector
		t.Skip("counts what two seconds of waiting cost")
	}
	if out, err := job(t, "mpirun.openmpi", nil, "quiet", "worker"); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestDriven checks that a goroutine that waits drives MPI without allocations and without wake-ups of the background
// goroutine.
func TestDriven(t *testing.T) {
	if testing.Short() { // also the run with the race detector
		t.Skip("counts what a second of waiting costs")
	}
	for _, launcher := range launchers {
		t.Run(launcher, func(t *testing.T) {
			if out, err := job(t, launcher, nil, "driven", "worker"); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
