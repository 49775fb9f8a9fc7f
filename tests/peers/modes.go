package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/offload"
)

// checks compares kernels with and without bounds checks, on one core.
func checks(r *report) error {
	return eachTwice(r, "", "", func(p *prepared) { p.launch.Checks = offload.ChecksOff })
}

// vectorUnits compares AVX2 with AVX-512, on one core.
func vectorUnits(r *report) error {
	err := eachTwice(r, "cpu-engine=avx2", "cpu-engine=avx512", func(*prepared) {})
	if offload.CodeOf(err) == offload.Unsupported {
		fmt.Printf("  not compared: %v\n", err)
		return nil
	}
	return err
}

// eachTwice compares each workload on two CPU devices of one core, with the debug options first and second. It applies change to
// what is prepared on the second device. Equal options share a device.
func eachTwice(r *report, first, second string, change func(*prepared)) error {
	ctx := context.Background()
	var devices [2]offload.Device
	for i, debug := range []string{first, second} {
		if i == 1 && first == second {
			devices[1] = devices[0]
			break
		}
		platform, err := cpu.New(cpu.Options{Cores: 1, Debug: debug}).Open(ctx)
		if err != nil {
			return err
		}
		defer platform.Close()
		devices[i] = platform.Devices()[0]
	}
	for i := range workloads {
		w := &workloads[i]
		if !strings.HasPrefix(w.name, os.Getenv("OREPL_PEERS_ONLY")) {
			continue
		}
		if err := w.twice(r, devices, change); err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
	}
	return nil
}

// twice compares a workload on two devices, which may be the same. It applies change to what is prepared on the second one.
func (w *workload) twice(r *report, devices [2]offload.Device, change func(*prepared)) error {
	var sides [2]*prepared
	for i, dev := range devices {
		p, err := w.prepare(dev)
		if err != nil {
			return err
		}
		defer p.close()
		sides[i] = p
	}
	change(sides[1])
	if err := errors.Join(sides[0].run(), sides[1].run()); err != nil {
		return err
	}
	runs := 0
	turn := func(rate func() (float64, error)) func() (float64, error) {
		return func() (float64, error) {
			x, err := rate()
			if runs++; runs%2 == 0 && devices[0] == devices[1] { // exchanges the memory of both sides, as compare does
				a, b := sides[0].launch.Args, sides[1].launch.Args
				for i := range a {
					a[i].Memory, b[i].Memory = b[i].Memory, a[i].Memory
				}
			}
			return x, err
		}
	}
	_, err := r.pair(w.name, w.unit, 9, turn(w.rate(sides[0].run)), turn(w.rate(sides[1].run)))
	return err
}
