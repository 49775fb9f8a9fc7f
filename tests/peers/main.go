// Command peers measures orepl beside alternative tools, both sides in one run.
//
//	go run ./tests/peers [NAME...]
//
// Each comparison alternates the two sides and compares their results. It prints the median of each side, and the median of
// the ratios of adjacent runs with its interquartile range. Ratios carry over between machines; times do not.
//
// The comparisons need these Debian packages:
//
//	gcc                                         all that compare with C
//	clang-19, libomp-19-dev                     suites
//	g++                                         arrays, arrayspocl
//	python3-numpy                               arrays, temporaries
//	libopenblas0                                gemm
//	clang-19                                    compilers, target
//	clang-tools-19, libomp-19-dev               target
//	pocl-opencl-icd, ocl-icd-libopencl1         pocl, opencl, arrayspocl
//	libopenmpi-dev, openmpi-bin, libmpich-dev, mpich   mpi, osu, ranks
//
// The comparisons cuda and cupy need an NVIDIA GPU, nvcc of CUDA's toolkit, and python3 with CuPy.
//
// ISPC is not in Debian; it is included if the command ispc exists.
package main

import (
	"context"
	"fmt"
	"os"
	"sort"
)

// comparison is a named measurement.
type comparison struct {
	name string
	what string
	run  func(*report) error
}

var comparisons = []comparison{
	// Runs first: a child's peak memory includes that of this process when it forked.
	{"startup", "processor time of the whole process: orepl run of an empty script / bare Go + goja", startup},
	{"kernels", "compute kernels on one core / gcc -O3 -march=native of the same loop, one thread", kernelsOnOneCore},
	{"compilers", "compute kernels on one core / the best of gcc, clang and ISPC, at all their widths, one thread", compilers},
	{"threads", "kernels on two cores / the same by gcc -O3 -fopenmp on two threads, by the clock", kernelsOnTwoCores},
	{"arrays", "operations on arrays of 16 Mi elements on two cores / C with OpenMP on two threads, and NumPy on one, in processor time", arrays},
	{"temporaries", "a script whose arrays become unreachable, in processor time of the whole process / NumPy", temporaries},
	{"arrayspocl", "operations on arrays of 16 Mi elements on PoCL with two threads / the same algorithms in OpenCL C, in processor time", arraysOnPoCL},
	{"gemm", "matrix products on two cores / OpenBLAS on two threads, in processor time", gemms},
	{"arraycalls", "calls of operations on small arrays by a script / a bound launch, in processor time", arrayCalls},
	{"checks", "compute kernels on one core, bounds checks on / off", checks},
	{"vectors", "compute kernels on one core, AVX2 / AVX-512", vectorUnits},
	{"gangs", "the gang width that the compiler chooses / the best of 1, 2 and 4 registers, on one core", gangs},
	{"compile", "from a kernel's text to its code / gcc -O3 -c of the same in C, in processor time", compileTimes},
	{"interpreter", "the kernel interpreter on one core, nanoseconds per operation / closures by hand, and goja", interpreter},
	{"calls", "a script's calls of native functions / of functions written for goja alone", calls},
	{"pocl", "compute kernels on one core, and empty launches / the same in OpenCL C on PoCL", pocl},
	{"opencl", "kernels on an OpenCL device, launches and copies / the same in OpenCL C on the same PoCL, by its own calls", onOpenCL},
	{"cuda", "kernels on an NVIDIA GPU, launches and copies / the same in CUDA C++ on the same GPU, by the clock", onCUDA},
	{"cupy", "operations on arrays of 16 Mi elements on an NVIDIA GPU / CuPy on the same GPU, by the clock", onCuPy},
	{"target", "an empty launch and copies / LLVM's libomptarget on this machine", target},
	{"rpc", "calls of the host by kernels / a C program with LLVM's protocol, its server on a thread", rpc},
	{"launch", "an empty launch, from Go and from a script", launches},
	{"mpi", "launches and copies on a device of an MPI job / a C program that exchanges the same messages, with Open MPI and MPICH", overMPI},
	{"osu", "the suite of messages on devices of an MPI job / the methods of OSU's micro-benchmarks in C, with Open MPI and MPICH", osu},
	{"ranks", "the module mpi / the methods of OSU's micro-benchmarks in C, with Open MPI and MPICH", overRanks},
	{"suites", "the suite of memory on two cores / the methods of BabelStream and nvbandwidth by the best of gcc and clang with OpenMP", suitesBesideC},
	{"copy", "submit and retrieve on the CPU device / memcpy of the C library", copies},
}

func main() {
	if role := mpiRoles[os.Getenv(mpiRole)]; role != nil {
		if err := role(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	wanted := map[string]bool{}
	for _, name := range os.Args[1:] {
		wanted[name] = true
	}
	failed := false
	for _, c := range comparisons {
		if len(os.Args) > 1 && !wanted[c.name] {
			continue
		}
		delete(wanted, c.name)
		fmt.Printf("%s: %s\n", c.name, c.what)
		if err := c.run(&report{}); err != nil {
			fmt.Printf("  failed: %v\n", err)
			failed = true
		}
	}
	for name := range wanted {
		fmt.Fprintf(os.Stderr, "no comparison named %q\n", name)
		failed = true
	}
	if failed {
		os.Exit(1)
	}
}

// report prints measurements.
type report struct{}

// pair measures ours and theirs in turn for a number of rounds, and prints their medians. Both return a figure in unit. pair
// returns the median of ours/theirs; whether more is better depends on the caller.
func (r *report) pair(name, unit string, rounds int, ours, theirs func() (float64, error)) (ratio float64, err error) {
	var a, b, ratios []float64
	for i := 0; i < rounds; i++ {
		first, second := ours, theirs
		if i%2 == 1 {
			first, second = theirs, ours
		}
		x, err := first()
		if err != nil {
			return 0, err
		}
		y, err := second()
		if err != nil {
			return 0, err
		}
		if i%2 == 1 {
			x, y = y, x
		}
		a, b, ratios = append(a, x), append(b, y), append(ratios, x/y)
	}
	lo, mid, hi := quartiles(ratios)
	_, am, _ := quartiles(a)
	_, bm, _ := quartiles(b)
	fmt.Printf("  %-40s ours %10.4g %s  theirs %10.4g %s  ratio %.3f (%.3f–%.3f)\n", name, am, unit, bm, unit, mid, lo, hi)
	return mid, nil
}

// alone prints the median of a measurement without a peer, with its quartiles.
func (r *report) alone(name, unit string, rounds int, run func() (float64, error)) error {
	var xs []float64
	for range rounds {
		x, err := run()
		if err != nil {
			return err
		}
		xs = append(xs, x)
	}
	lo, mid, hi := quartiles(xs)
	fmt.Printf("  %-40s %10.4g %s (%.4g–%.4g)\n", name, mid, unit, lo, hi)
	return nil
}

// quartiles returns the first quartile, the median and the third quartile of figures.
func quartiles(xs []float64) (lo, mid, hi float64) {
	s := append([]float64(nil), xs...)
	sort.Float64s(s)
	at := func(q float64) float64 { return s[int(q*float64(len(s)-1)+0.5)] }
	return at(0.25), at(0.5), at(0.75)
}
