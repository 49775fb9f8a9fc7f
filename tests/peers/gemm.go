package main

import (
	"fmt"
	"os"

	"github.com/ebitengine/purego"
	"golang.org/x/sys/unix"

	"github.com/orepl/orepl/bindings/array"
	"github.com/orepl/orepl/bindings/array/openblas"
	"github.com/orepl/orepl/lang/kernel/ir"
)

// gemms compares matrix products with those of OpenBLAS, which chooses its kernel by itself.
func gemms(r *report) error {
	for _, name := range []string{"OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"} {
		if err := os.Unsetenv(name); err != nil {
			return err
		}
	}
	kernel, err := blasKernel()
	if err != nil {
		return err
	}
	run, done, err := arraysOnCPU()
	if err != nil {
		return err
	}
	defer done()
	for _, t := range []ir.Type{ir.F32, ir.F64} {
		for _, n := range []int{1024, 2048} {
			a, err := run.Random(t, []int{n, n}, 1, -1, 1)
			if err != nil {
				return err
			}
			timed := func(multiply func(a, b array.Array) (array.Array, error)) func() (float64, error) {
				return func() (float64, error) {
					start := processorTime()
					c, err := multiply(a, a)
					if err == nil {
						err = run.Queue.Sync(run.Context)
					}
					if err != nil {
						return 0, err
					}
					return (processorTime() - start) * 1e3, c.Free()
				}
			}
			if _, err := r.pair(fmt.Sprintf("%s %d / OpenBLAS, kernel %s", t, n, kernel), "ms", 5, timed(run.MatMul), timed(run.MatMulByOpenBLAS)); err != nil {
				return err
			}
			if err := a.Free(); err != nil {
				return err
			}
		}
	}
	return nil
}

// blasKernel returns the name of the kernel that OpenBLAS chooses for the processor.
func blasKernel() (string, error) {
	path, err := openblas.Find()
	if err != nil {
		return "", err
	}
	lib, err := purego.Dlopen(path, purego.RTLD_NOW)
	if err != nil {
		return "", err
	}
	at, err := purego.Dlsym(lib, "openblas_get_corename")
	if err != nil {
		return "", err
	}
	var corename func() *byte
	purego.RegisterFunc(&corename, at)
	return unix.BytePtrToString(corename()), nil
}
