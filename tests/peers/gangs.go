package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/orepl/orepl/plugins/cpu"
)

// gangs compares the gang width that the compiler chooses for each kernel with gang=1, gang=2 and gang=4. OREPL_DEBUG may set
// further options, such as cpu-engine=avx2.
func gangs(*report) error {
	widths := []string{"", "gang=1", "gang=2", "gang=4"}
	for i := range workloads {
		w := &workloads[i]
		if !strings.HasPrefix(w.name, os.Getenv("OREPL_PEERS_ONLY")) {
			continue
		}
		if err := w.compareGangs(widths); err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
	}
	return nil
}

func (w *workload) compareGangs(widths []string) error {
	var sides []*prepared
	for _, debug := range widths {
		platform, err := cpu.New(cpu.Options{Cores: 1, Debug: debug}).Open(context.Background())
		if err != nil {
			return err
		}
		defer platform.Close()
		k, err := w.prepare(platform.Devices()[0])
		if err != nil {
			return err
		}
		defer k.close()
		if err := k.run(); err != nil {
			return err
		}
		sides = append(sides, k)
	}
	const rounds = 9
	rates := make([][]float64, len(sides))
	for round := range rounds {
		for at := range sides {
			n := (round + at) % len(sides) // rotates the order of the sides
			start := processorTime()
			if err := sides[n].run(); err != nil {
				return err
			}
			rates[n] = append(rates[n], w.work/(processorTime()-start))
		}
	}
	fmt.Printf("  %-40s", w.name)
	medians := make([]float64, len(sides))
	for n := range sides {
		_, medians[n], _ = quartiles(rates[n])
		fmt.Printf(" %10.4g", medians[n])
	}
	fmt.Printf(" %s  chosen/best %.3f\n", w.unit, medians[0]/slices.Max(medians[1:]))
	return nil
}
