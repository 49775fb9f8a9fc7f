package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/orepl/orepl/bindings/array"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/plugins/cuda"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// side is the extent of the square matrix whose elements the operations take; factor is that of the factors of matmul.
const (
	side   = 4096
	factor = 1024
)

// operands are the arrays that the operations take: x of random floats over [−1, 1), its reverse y, x as a matrix, random
// integers, and the factors a and b of matmul.
type operands struct{ x, y, matrix, integers, a, b array.Array }

// arrayOperation is an operation with the index of the element of its result that the peers print. tolerance is relative to
// that element if it exceeds 1, otherwise absolute.
type arrayOperation struct {
	name      string
	run       func(r *array.Run, o *operands) (array.Array, error)
	element   int64
	tolerance float64
}

// last is the index of the last element of an array of side² elements.
const last = side*side - 1

// arrayOperations are the operations of arrays.cpp and arrays.py.
var arrayOperations = []arrayOperation{
	{"map", func(r *array.Run, o *operands) (array.Array, error) { return r.Map(array.Text("v => v * 2 + 1"), o.x) }, 1, 1e-6},
	{"zip", func(r *array.Run, o *operands) (array.Array, error) {
		return r.Zip("zip", array.Text("(a, b) => a * b + a"), ir.Void, array.In(o.x), array.In(o.y))
	}, 1, 1e-5},
	{"sum", func(r *array.Run, o *operands) (array.Array, error) { return r.Sum(o.x, array.All, false) }, 0, 1e-1},
	{"min", func(r *array.Run, o *operands) (array.Array, error) { return r.Min(o.x, array.All, false) }, 0, 1e-8},
	{"argmax", func(r *array.Run, o *operands) (array.Array, error) { return r.ArgMax(o.x, array.All, false) }, 0, 0},
	{"cumsum", func(r *array.Run, o *operands) (array.Array, error) { return r.CumSum(o.x, array.All) }, last, 1e-1},
	{"histogram", func(r *array.Run, o *operands) (array.Array, error) {
		counts, edges, err := r.Histogram(o.x, 100, -1, 1)
		if err == nil {
			err = edges.Free()
		}
		return counts, err
	}, 50, 1e-3},
	{"filter", func(r *array.Run, o *operands) (array.Array, error) {
		s, err := r.Filter(array.Text("v => v > 0.5"), o.x)
		if err != nil {
			return array.Array{}, err
		}
		return r.Wait(r.Context, s)
	}, 0, 1e-8},
	{"transpose", func(r *array.Run, o *operands) (array.Array, error) { return r.Transpose(o.matrix, nil) }, 1, 1e-8},
	{"sort u32", func(r *array.Run, o *operands) (array.Array, error) { return r.Sorted(o.integers, 0, false) }, (last + 1) / 2, 0},
	{"sort f32", func(r *array.Run, o *operands) (array.Array, error) { return r.Sorted(o.x, 0, false) }, (last + 1) / 2, 1e-8},
	{"matmul", func(r *array.Run, o *operands) (array.Array, error) { return r.MatMul(o.a, o.b) }, 1, 1e-3},
}

// arraysOnCPU returns operations on arrays of the CPU device with two cores, and the function that ends them.
func arraysOnCPU() (run *array.Run, done func(), err error) {
	return arraysOn(cpu.New(cpu.Options{Cores: 2, Debug: os.Getenv("OREPL_DEBUG")}))
}

// arraysOn returns operations on arrays of a plugin's first device, and the function that ends them.
func arraysOn(plugin offload.Plugin) (run *array.Run, done func(), err error) {
	ctx := context.Background()
	s := session.Open(session.Options{Plugins: []offload.Plugin{plugin}})
	done = func() { _ = s.Close(ctx) }
	d, err := s.Device(ctx, plugin.Name())
	if err == nil {
		var q *session.Queue
		if q, err = d.Queue(); err == nil {
			return array.New(s).On(ctx, q), done, nil
		}
	}
	done()
	return nil, nil, err
}

// arrays compares operations on whole arrays with C and with NumPy.
func arrays(r *report) error {
	run, done, err := arraysOnCPU()
	if err != nil {
		return err
	}
	defer done()
	return withOperands(run, func(o *operands, dir, file string) error {
		program := filepath.Join(dir, "arrays")
		flags := append(marchFlags(), "-O3", "-ffast-math", "-fopenmp", "-o", program, "tests/peers/c/arrays.cpp")
		if text, err := exec.Command("g++", flags...).CombinedOutput(); err != nil {
			return fmt.Errorf("g++: %w\n%s", err, text)
		}
		for _, command := range [][]string{{program}, {"/usr/bin/python3", "tests/peers/c/arrays.py"}} {
			if err := besidePeer(r, run, o, processorTime, append(command, file)...); err != nil {
				return err
			}
		}
		return nil
	})
}

// onCuPy compares the elapsed time of operations on whole arrays of the first NVIDIA GPU with that of CuPy on the same GPU.
// Without the GPU or CuPy it only prints why.
func onCuPy(r *report) error {
	if err := exec.Command("python3", "-c", "import cupy").Run(); err != nil {
		fmt.Println("  not compared: python3 has no CuPy")
		return nil
	}
	run, done, err := arraysOn(cuda.New(cuda.Options{}))
	if err != nil {
		fmt.Printf("  not compared: %v\n", err)
		return nil
	}
	defer done()
	clock := func() float64 { return float64(time.Now().UnixNano()) / 1e9 }
	return withOperands(run, func(o *operands, _, file string) error {
		return besidePeer(r, run, o, clock, "python3", "tests/peers/c/arrays.py", file, "cupy")
	})
}

// besidePeer compares each operation with the peer that a command starts. clock returns the time of this process in seconds.
func besidePeer(r *report, run *array.Run, o *operands, clock func() float64, command ...string) error {
	p, err := startPeer(command...)
	if err != nil {
		return err
	}
	for _, op := range arrayOperations {
		if !strings.HasPrefix(op.name, os.Getenv("OREPL_PEERS_ONLY")) {
			continue
		}
		if err := op.compare(r, run, o, clock, p); err != nil {
			_ = p.close()
			return fmt.Errorf("%s beside %s: %w", op.name, p.name, err)
		}
	}
	return p.close()
}

// withOperands calls f with the arrays, a folder that exists until f returns, and a file in it from which the peers make their
// arrays.
func withOperands(r *array.Run, f func(o *operands, dir, file string) error) error {
	o, data, err := makeOperands(r)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "orepl-arrays")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "data")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		return err
	}
	return f(o, dir, file)
}

// makeOperands makes the operands. It also returns the bytes of x and then of integers, from which the peers make theirs.
func makeOperands(r *array.Run) (o *operands, data []byte, err error) {
	o = &operands{}
	if o.x, err = r.Random(ir.F32, []int{side * side}, 1, -1, 1); err != nil {
		return nil, nil, err
	}
	if o.integers, err = r.Random(ir.U32, []int{side * side}, 2, 0, math.MaxUint32); err != nil {
		return nil, nil, err
	}
	if o.y, err = r.Flip(o.x); err != nil {
		return nil, nil, err
	}
	if o.matrix, err = r.Reshape(o.x, []int{side, side}); err != nil {
		return nil, nil, err
	}
	for i, to := range []*array.Array{&o.a, &o.b} {
		part, err := r.Slice(o.x, []array.Range{{From: i * factor * factor, To: (i + 1) * factor * factor, Step: 1}})
		if err != nil {
			return nil, nil, err
		}
		if *to, err = r.Reshape(part, []int{factor, factor}); err != nil {
			return nil, nil, err
		}
	}
	data = make([]byte, o.x.Size()+o.integers.Size())
	if err := r.Queue.Read(data[:o.x.Size()], o.x.Buffer, 0); err != nil {
		return nil, nil, err
	}
	if err := r.Queue.Read(data[o.x.Size():], o.integers.Buffer, 0); err != nil {
		return nil, nil, err
	}
	if err := r.Queue.Sync(r.Context); err != nil {
		return nil, nil, err
	}
	return o, data, nil
}

// compare alternates an operation with a peer, after each side has run once and their results were compared.
func (op *arrayOperation) compare(r *report, run *array.Run, o *operands, clock func() float64, p *peer) error {
	ours := func() (float64, error) {
		seconds, _, err := op.time(run, o, clock)
		return seconds * 1e3, err
	}
	ourTime, got, err := op.time(run, o, clock)
	if err != nil {
		return err
	}
	theirTime, want, err := p.run(op.name)
	if err != nil {
		return err
	}
	if !(math.Abs(got-want) <= op.tolerance*max(1, math.Abs(want))) {
		return fmt.Errorf("the result is %v, of the peer %v", got, want)
	}
	rounds := min(max(5, int(1/(ourTime+theirTime))), 41) // about a second, since short operations vary more
	_, err = r.pair(op.name+" / "+p.name, "ms", rounds, ours, func() (float64, error) {
		seconds, _, err := p.run(op.name)
		return seconds * 1e3, err
	})
	return err
}

// time runs the operation, waits for it, and frees its result. It returns the time until the operation was complete, and an
// element of the result.
func (op *arrayOperation) time(run *array.Run, o *operands, clock func() float64) (seconds, element float64, err error) {
	start := clock()
	a, err := op.run(run, o)
	if err != nil {
		return 0, 0, err
	}
	if err := run.Queue.Sync(run.Context); err != nil {
		return 0, 0, err
	}
	seconds = clock() - start
	element, err = elementOf(run, a, op.element)
	if err != nil {
		return 0, 0, err
	}
	return seconds, element, a.Free()
}

// elementOf returns element i of an array of f32, u32 or i32 as a number.
func elementOf(run *array.Run, a array.Array, i int64) (float64, error) {
	flat, err := run.Reshape(a, []int{-1})
	if err != nil {
		return 0, err
	}
	switch a.Elem.Scalar {
	case ir.F32:
		v, err := session.Read[float32](run.Context, flat.Buffer, i, 1)
		return float64(v[0]), err
	case ir.U32:
		v, err := session.Read[uint32](run.Context, flat.Buffer, i, 1)
		return float64(v[0]), err
	}
	v, err := session.Read[int32](run.Context, flat.Buffer, i, 1)
	return float64(v[0]), err
}

// peer is a process that runs the operations whose names it reads.
type peer struct {
	name string
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
}

func startPeer(command ...string) (*peer, error) {
	p := &peer{name: filepath.Base(command[0]), cmd: exec.Command(command[0], command[1:]...)}
	switch {
	case p.name == "arrays":
		p.name = "C with OpenMP"
	case p.name == "arrays_cl":
		p.name = "OpenCL C"
	case command[len(command)-1] == "cupy":
		p.name = "CuPy"
	default:
		p.name = "NumPy"
	}
	p.cmd.Stderr, p.cmd.Env = os.Stderr, append(os.Environ(), "OMP_WAIT_POLICY=passive")
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = bufio.NewReader(out)
	return p, p.cmd.Start()
}

// run runs an operation once. It returns the time that the peer measured, in seconds, and an element of the result.
func (p *peer) run(name string) (seconds, element float64, err error) {
	if _, err := fmt.Fprintln(p.in, name); err != nil {
		return 0, 0, err
	}
	if _, err := fmt.Fscan(p.out, &seconds, &element); err != nil {
		return 0, 0, fmt.Errorf("%s printed no time: %w", p.name, err)
	}
	return seconds, element, nil
}

func (p *peer) close() error {
	_ = p.in.Close() // ends the process
	return p.cmd.Wait()
}
