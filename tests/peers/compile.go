package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/orepl/orepl/lang/kernel"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/offload"
)

// compileTimes compares the processor time from a kernel's text to executable code with gcc -c for the same function in C.
func compileTimes(r *report) error {
	platform, err := cpu.New(cpu.Options{Cores: 1}).Open(context.Background())
	if err != nil {
		return err
	}
	defer platform.Close()
	source, err := os.ReadFile("tests/peers/c/kernels.c")
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "orepl-compile")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	number := 0
	var times, ratios []float64
	for i := range workloads {
		w := &workloads[i]
		if !strings.HasPrefix(w.name, os.Getenv("OREPL_PEERS_ONLY")) {
			continue
		}
		p, err := w.prepare(platform.Devices()[0])
		if err != nil {
			return err
		}
		defer p.close()
		file := filepath.Join(dir, w.symbol+".c")
		if err := os.WriteFile(file, []byte(alone(string(source), w.symbol)), 0o600); err != nil {
			return err
		}
		var mine []float64
		ratio, err := r.pair(w.name, "ms", 9, func() (float64, error) {
			number++
			start := processorTime()
			err := w.compile(platform.Devices()[0], p.launch, fmt.Sprint("k", number))
			mine = append(mine, 1e3*(processorTime()-start))
			return mine[len(mine)-1], err
		}, func() (float64, error) {
			cmd := exec.Command("gcc", "-O3", "-march=native", "-fopenmp", "-c", "-o", os.DevNull, file)
			if text, err := cmd.CombinedOutput(); err != nil {
				return 0, fmt.Errorf("gcc: %w\n%s", err, text)
			}
			u := cmd.ProcessState.SysUsage().(*syscall.Rusage)
			return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e6, nil
		})
		if err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		_, mid, _ := quartiles(mine)
		times, ratios = append(times, mid), append(ratios, 1/ratio)
	}
	_, mid, _ := quartiles(times)
	_, faster, _ := quartiles(ratios)
	fmt.Printf("  median %.3g ms, of %.3g to %.3g; %.3g times as fast as gcc, of %.3g to %.3g\n", mid, slices.Min(times), slices.Max(times),
		faster, slices.Min(ratios), slices.Max(ratios))
	return nil
}

// compile compiles a workload's text for a launch. name must be new in each call, so that the device's cache has no such
// kernel.
func (w *workload) compile(dev offload.Device, launch offload.Launch, name string) error {
	f, err := kernel.Parse(&kernel.Source{Text: w.text})
	if err != nil {
		return err
	}
	var args []kernel.Arg
	for i, t := range w.buffers {
		args = append(args, kernel.Arg{Kind: kernel.Buffer, Elem: ir.Elem{Scalar: t}, Rank: len(w.dims[i])})
	}
	c, err := f.Compile(args, kernel.Options{Name: name})
	if err != nil {
		return err
	}
	data, err := c.Module.MarshalBinary()
	if err != nil {
		return err
	}
	program, err := dev.Load(context.Background(), &offload.Image{Kind: offload.ImageIR, Data: data})
	if err != nil {
		return err
	}
	defer program.Unload()
	if launch.Kernel, err = program.Kernel(name); err != nil {
		return err
	}
	_, err = dev.(offload.Preparer).Prepare(&launch, nil)
	return err
}

// alone returns a C file with one function and its dependencies. Empty lines separate the pieces of a file.
func alone(source, symbol string) string {
	pieces := strings.Split(source, "\n\n")
	var text strings.Builder
	for i, piece := range pieces {
		if i == 0 || strings.HasPrefix(piece, "static inline") || strings.Contains(piece, "typedef") || strings.Contains(piece, " "+symbol+"(") {
			text.WriteString(piece + "\n\n")
		}
	}
	return text.String()
}
