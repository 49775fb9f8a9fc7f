package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/dop251/goja"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/bindings/inside"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/pace"
	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/plugins/mpi"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// mpiRole is the environment variable that makes this program run as a process of an MPI job. Its value is a key of mpiRoles.
const mpiRole = "OREPL_PEERS_MPI"

var mpiRoles = map[string]func(context.Context) error{
	"worker": func(ctx context.Context) error {
		pace.Relax(0) // as in orepl worker
		return mpi.Serve(ctx, cpu.New(cpu.Options{}))
	},
	"tasks": func(ctx context.Context) error { return errors.Join(mpiTasks(ctx), mpi.Finish()) },
	"host":  func(ctx context.Context) error { return errors.Join(mpiHost(ctx, "mpi:1/cpu:0"), mpi.Finish()) },
	"osu":   func(ctx context.Context) error { return errors.Join(osuProcess(ctx, osuScript), mpi.Finish()) },
	"ranks": func(ctx context.Context) error { return errors.Join(osuProcess(ctx, ranksScript), mpi.Finish()) },
}

// mpiFigures are the measurements of a job with their units.
var mpiFigures = []struct{ name, what, unit string }{
	{"round", "a launch and its completion", "us"},
	{"pipelined", "launches, 1000 and a wait", "k/s"},
	{"submit1", "submit 1 MiB", "GB/s"},
	{"retrieve1", "retrieve 1 MiB", "GB/s"},
	{"submit64", "submit 64 MiB", "GB/s"},
	{"retrieve64", "retrieve 64 MiB", "GB/s"},
}

// overMPI compares devices of an MPI job with a C program that exchanges the same messages.
func overMPI(r *report) error {
	return withMPI("tests/peers/c/mpi.c", func(name, program string) error {
		for workers := 1; workers <= 4; workers *= 2 {
			fmt.Printf("  %s, %d worker(s)\n", name, workers)
			job := mpiPair{launcher: "mpirun." + name, program: program, workers: workers}
			if err := errors.Join(job.exchanges(r), job.tasks(r)); err != nil {
				return err
			}
		}
		return nil
	})
}

// withMPI compiles a C program with Open MPI and with MPICH. It calls compare with the name of each MPI and the path of the
// program.
func withMPI(source string, compare func(name, program string) error) error {
	dir, err := os.MkdirTemp("", "peers")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for _, name := range []string{"openmpi", "mpich"} {
		program := filepath.Join(dir, name)
		if out, err := exec.Command("mpicc."+name, "-O3", "-o", program, source).CombinedOutput(); err != nil {
			return fmt.Errorf("mpicc.%s: %w\n%s", name, err, out)
		}
		if err := compare(name, program); err != nil {
			return err
		}
	}
	return nil
}

// mpiPair is a job of workers and a C program with the same number of processes.
type mpiPair struct {
	launcher, program string
	workers           int
	hostless          bool // the C program has no process besides the workers
	scripts           bool // our job has processes that run the role instead of workers and a host
}

// run runs both jobs by turns for a number of rounds and returns the figures that they print, ours first. role is the role of
// our host process, and more are the arguments of the C program.
func (p *mpiPair) run(rounds int, role string, more ...string) (figures [2][]map[string]float64, err error) {
	var args []string
	if p.launcher == "mpirun.openmpi" {
		args = []string{"--oversubscribe", "--allow-run-as-root", "--bind-to", "none"}
	}
	self, err := os.Executable()
	if err != nil {
		return figures, err
	}
	count := strconv.Itoa(p.workers)
	ours := append(args[:len(args):len(args)], "-np", "1", "env", mpiRole+"="+role, self, ":", "-np", count, "env", mpiRole+"=worker", self)
	if p.scripts {
		ours = append(args[:len(args):len(args)], "-np", count, "env", mpiRole+"="+role, self)
	}
	all := p.workers + 1
	if p.hostless {
		all = p.workers
	}
	theirs := append(append(args[:len(args):len(args)], "-np", strconv.Itoa(all), p.program), more...)
	for range rounds {
		for side, job := range [][]string{ours, theirs} {
			f, err := mpiJob(p.launcher, job)
			if err != nil {
				return figures, err
			}
			figures[side] = append(figures[side], f)
		}
	}
	return figures, nil
}

// tasks compares the smallest tasks at which workers compute half of the time.
func (p *mpiPair) tasks(r *report) error {
	const rounds = 3
	figures, err := p.run(rounds, "tasks", "tasks")
	if err != nil {
		return err
	}
	_, err = r.pair("  smallest task, half of the time work", "us", rounds, nextFigure(figures[0], "smallest"), nextFigure(figures[1], "smallest"))
	return err
}

// nextFigure returns a function that returns the named figure of the next round at each call.
func nextFigure(rounds []map[string]float64, name string) func() (float64, error) {
	at := -1
	return func() (float64, error) {
		at++
		v, ok := rounds[at][name]
		if !ok {
			return 0, fmt.Errorf("no figure %q", name)
		}
		return v, nil
	}
}

// exchanges compares launches and copies of jobs with up to two workers, and prints the times of scripts.
func (p *mpiPair) exchanges(r *report) error {
	const rounds = 5
	if p.workers > 2 {
		return nil // the other workers only wait
	}
	figures, err := p.run(rounds, "host")
	if err != nil {
		return err
	}
	for _, f := range mpiFigures {
		if _, err := r.pair("  "+f.what, f.unit, rounds, nextFigure(figures[0], f.name), nextFigure(figures[1], f.name)); err != nil {
			return err
		}
	}
	for _, name := range []string{"script mpi", "script cpu"} {
		at := 0
		err := r.alone("  write 64 B, launch, read, "+name, "us", rounds, func() (float64, error) { at++; return figures[0][at-1][name], nil })
		if err != nil {
			return err
		}
	}
	return nil
}

// mpiJob runs a job and returns the figures that it prints.
func mpiJob(launcher string, args []string) (map[string]float64, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, launcher, args...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s%s", launcher, err, out, errs.Bytes())
	}
	figures := map[string]float64{}
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		i := strings.LastIndexByte(lines.Text(), ' ')
		if i < 0 {
			continue
		}
		if v, err := strconv.ParseFloat(lines.Text()[i+1:], 64); err == nil {
			figures[lines.Text()[:i]] = v
		}
	}
	return figures, nil
}

// mpiHost measures a device of another process, and prints a line with name and figure per measurement.
func mpiHost(ctx context.Context, id string) error {
	rt := orepl.Open(orepl.Options{Plugins: []offload.Plugin{mpi.New(), cpu.New(cpu.Options{})}})
	defer rt.Close()
	s := rt.Session()
	d, err := s.Device(ctx, id)
	if err != nil {
		return err
	}
	k, err := emptyKernel(ctx, s, d)
	if err != nil {
		return err
	}
	q, err := d.Queue()
	if err != nil {
		return err
	}
	call, err := k.Bind(session.Config{Size: []int{1}})
	if err != nil {
		return err
	}
	launches := func(n int) error {
		for range n {
			if err := q.Launch(call); err != nil {
				return err
			}
		}
		return q.Sync(ctx)
	}
	var failed error
	timed := func(n int, do func() error) time.Duration {
		start := time.Now()
		for range n {
			failed = errors.Join(failed, do())
		}
		return time.Since(start)
	}
	once := func() error { return launches(1) }
	timed(500, once)
	fmt.Println("round", timed(5000, once).Seconds()/5000*1e6)
	fmt.Println("pipelined", 100*1000/timed(100, func() error { return launches(1000) }).Seconds()/1e3)
	for mib := 1; mib <= 64; mib *= 64 {
		n, data := 256/mib, make([]byte, mib<<20)
		b, err := d.NewBuffer(session.BufferOptions{Type: offload.U8, Dims: []int{len(data)}})
		if err != nil {
			return err
		}
		submit := func() error { return errors.Join(q.Write(b, 0, data), q.Sync(ctx)) }
		retrieve := func() error { return errors.Join(q.Read(data, b, 0), q.Sync(ctx)) }
		timed(1, submit)
		timed(1, retrieve)
		fmt.Printf("submit%d %g\n", mib, float64(len(data)*n)/timed(n, submit).Seconds()/1e9)
		fmt.Printf("retrieve%d %g\n", mib, float64(len(data)*n)/timed(n, retrieve).Seconds()/1e9)
		if err := b.Free(); err != nil {
			return err
		}
	}
	for _, id := range []string{id, "cpu"} {
		us, err := scriptTrip(ctx, rt, id)
		if err != nil {
			return err
		}
		fmt.Println("script", strings.SplitN(id, ":", 2)[0], us)
	}
	return failed
}

// scriptTrip returns the microseconds of a write of 64 bytes, a launch and a read in a script.
func scriptTrip(ctx context.Context, rt *orepl.Runtime, id string) (float64, error) {
	e, err := inside.Of(rt).NewEngine(lang.Options{})
	if err != nil {
		return 0, err
	}
	defer e.Close()
	exports, err := e.Run(ctx, "trip.js", `
import { device, kernel, f32 } from 'offload'
const k = kernel((g, x) => { x[g.x] = x[g.x] + 1 }), data = new Float32Array(16)
const x = device('`+id+`').buffer(f32, 16), options = { size: 16 }
export async function trips(n) {
  for (let i = 0; i < n; i++) {
    x.write(data)
    k.launch(options, x)
    await x.read()
  }
}
await trips(100)`)
	if err != nil {
		return 0, err
	}
	fn, ok := goja.AssertFunction(exports.Get("trips"))
	if !ok {
		return 0, errors.New("the script exports no function")
	}
	const n = 1000
	start := time.Now()
	_, err = e.Await(ctx, func(vm *goja.Runtime) (goja.Value, error) { return fn(nil, vm.ToValue(n)) })
	return time.Since(start).Seconds() / n * 1e6, err
}
