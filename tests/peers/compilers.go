package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/offload"
)

// compiler builds a library of the peers' functions. The output's path is appended to its command.
type compiler struct {
	name    string
	command []string
	object  bool // the output is an object file, which needs linking
}

// clang is the compiler's command, of the LLVM version that the repository's tests use unless they test an older one.
const clang = "clang-19"

// compilerPeers returns all ways of building the same kernels ahead of time; a machine may lack some.
func compilerPeers() []compiler {
	c := append(marchFlags(), "-shared", "-fPIC", "tests/peers/c/kernels.c", "-lm", "-o")
	var all []compiler
	for _, cc := range []string{"gcc", clang} {
		for _, level := range []string{"-O3", "-Ofast"} {
			all = append(all, compiler{cc + " " + level, append([]string{cc, level, "-fopenmp-simd"}, c...), false})
		}
	}
	targets := []string{"avx512skx-x16", "avx512skx-x32", "avx512skx-x64", "avx2-i32x8"}
	if len(marchFlags()) > 1 {
		targets = targets[3:]
	}
	for _, target := range targets {
		all = append(all, compiler{"ispc " + target, []string{"ispc", "-O3", "--pic", "--target=" + target,
			"tests/peers/c/kernels.ispc", "-o"}, true})
	}
	return all
}

// build compiles the peers' functions and loads the library. It returns 0 if the compiler is not installed.
func (c *compiler) build(dir string, number int) (uintptr, error) {
	if _, err := exec.LookPath(c.command[0]); err != nil {
		return 0, nil
	}
	library := filepath.Join(dir, fmt.Sprintf("peer%d.so", number))
	out := library
	if c.object {
		out = filepath.Join(dir, "peer.o")
	}
	if text, err := exec.Command(c.command[0], append(c.command[1:], out)...).CombinedOutput(); err != nil {
		return 0, fmt.Errorf("%s: %w\n%s", c.name, err, text)
	}
	if c.object {
		if text, err := exec.Command("gcc", "-shared", "-o", library, out, "-lm").CombinedOutput(); err != nil {
			return 0, fmt.Errorf("%s: %w\n%s", c.name, err, text)
		}
	}
	return purego.Dlopen(library, purego.RTLD_NOW)
}

// compilers compares kernels on one core with the fastest code of the installed compilers among gcc, clang and ISPC.
func compilers(*report) error {
	dir, err := os.MkdirTemp("", "orepl-peers")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var names []string
	var libraries []uintptr
	for i, c := range compilerPeers() {
		library, err := c.build(dir, i)
		switch {
		case err != nil:
			return err
		case library == 0:
			fmt.Printf("  not compared: %s, as there is no %s\n", c.name, c.command[0])
		default:
			names, libraries = append(names, c.name), append(libraries, library)
		}
	}
	platform, err := cpu.New(cpu.Options{Cores: 1}).Open(context.Background())
	if err != nil {
		return err
	}
	defer platform.Close()
	for i := range workloads {
		w := &workloads[i]
		if !strings.HasPrefix(w.name, os.Getenv("OREPL_PEERS_ONLY")) {
			continue
		}
		if err := w.besideBest(platform.Devices()[0], names, libraries); err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
	}
	return nil
}

// besideBest compares a workload with the same function of several libraries, and prints each rate and the ratio to the
// best. It skips libraries without the function.
func (w *workload) besideBest(dev offload.Device, names []string, libraries []uintptr) error {
	p, err := w.prepare(dev)
	if err != nil {
		return err
	}
	defer p.close()
	var others []offload.Memory
	for i := range w.buffers {
		m, err := w.buffer(dev, i)
		if err != nil {
			return err
		}
		defer m.Free()
		others = append(others, m)
	}
	call := func(fn uintptr) func() error {
		return func() error {
			args := append([]uintptr(nil), w.scalars...)
			for _, m := range others {
				args = append(args, uintptr(unsafe.Pointer(&m.Bytes()[0])))
			}
			purego.SyscallN(fn, args...)
			return nil
		}
	}
	sides := []func() error{p.run}
	var peers []string
	for i, library := range libraries {
		fn, err := purego.Dlsym(library, w.symbolCL())
		if err != nil {
			fn, err = purego.Dlsym(library, w.symbol)
		}
		if err == nil {
			sides, peers = append(sides, call(fn)), append(peers, names[i])
		}
	}
	if len(peers) == 0 {
		return errors.New("no compiler has it")
	}
	if err := p.run(); err != nil {
		return err
	}
	for i, run := range sides[1:] {
		for at := range others { // in the same way as the device's buffers
			m, err := w.buffer(dev, at)
			if err != nil {
				return err
			}
			copy(others[at].Bytes(), m.Bytes())
			m.Free()
		}
		if err := run(); err != nil {
			return err
		}
		if err := w.agree(p.buffers[w.result].Bytes(), others[w.result].Bytes()); err != nil {
			return fmt.Errorf("%s: %w", peers[i], err)
		}
	}
	mine, spare := p.buffers, slices.Clone(others)
	const rounds = 9
	rates := make([][]float64, len(sides))
	for round := range rounds {
		// All sides use the same memory in turn, since placement and cache contents affect speed.
		for i := range others {
			p.launch.Args[i].Memory = [2]offload.Memory{mine[i], spare[i]}[round%2]
			others[i] = p.launch.Args[i].Memory
		}
		for at := range sides {
			n := (round + at) % len(sides) // rotates the order of the sides
			rate, err := w.rate(sides[n])()
			if err != nil {
				return err
			}
			rates[n] = append(rates[n], rate)
		}
	}
	best, fastest := 0, 0.0
	fmt.Printf("  %-40s", w.name)
	for n := 1; n < len(sides); n++ {
		_, mid, _ := quartiles(rates[n])
		if mid > fastest {
			best, fastest = n, mid
		}
		fmt.Printf(" %s %.4g,", peers[n-1], mid)
	}
	ratios := make([]float64, rounds)
	for i := range ratios {
		ratios[i] = rates[0][i] / rates[best][i]
	}
	lo, mid, hi := quartiles(ratios)
	_, ours, _ := quartiles(rates[0])
	fmt.Printf(" ours %.4g %s: %.3f (%.3f–%.3f) of %s\n", ours, w.unit, mid, lo, hi, peers[best-1])
	return nil
}
