package main

import (
	"fmt"
	"os/exec"
	"path/filepath"

	"github.com/orepl/orepl/plugins/opencl"
)

// arraysOnPoCL compares operations on whole arrays of the first OpenCL device, PoCL's, with the same algorithms in OpenCL C. A
// C++ program launches these. Without a device it only prints why.
func arraysOnPoCL(r *report) error {
	run, done, err := arraysOn(opencl.New(opencl.Options{}))
	if err != nil {
		fmt.Printf("  not compared: %v\n", err)
		return nil
	}
	defer done()
	return withOperands(run, func(o *operands, dir, file string) error {
		program := filepath.Join(dir, "arrays_cl")
		if text, err := exec.Command("g++", "-O2", "-std=c++17", "-o", program, "tests/peers/c/arrays_cl.cpp", "-l:libOpenCL.so.1").CombinedOutput(); err != nil {
			return fmt.Errorf("g++: %w\n%s", err, text)
		}
		return besidePeer(r, run, o, processorTime, program, file, "tests/peers/c/arrays.cl")
	})
}
