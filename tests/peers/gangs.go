package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/orepl/orepl/plugins/cpu"
)

// gangs compares the gang width that the compiler chooses for each kernel with each of those it can choose from, under
// what else OREPL_DEBUG forces, such as cpu-engine=avx2.
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
		platform, err := cpu.New(cpu.Options{Cores: 1, Debug: os.Getenv("OREPL_DEBUG") + "," + debug}).Open(context.Background())
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
	var ratios []float64
	for round := range rounds {
		best := 0.0
		for at := range sides {
			n := (round + at) % len(sides) // each is the first in its turn
			start := processorTime()
			if err := sides[n].run(); err != nil {
				return err
			}
			rate := w.work / (processorTime() - start)
			rates[n] = append(rates[n], rate)
			if n > 0 {
				best = max(best, rate)
			}
		}
		ratios = append(ratios, rates[0][round]/best)
	}
	fmt.Printf("  %-40s", w.name)
	for n := range sides {
		_, median, _ := quartiles(rates[n])
		fmt.Printf(" %10.4g", median)
	}
	lo, median, hi := quartiles(ratios)
	fmt.Printf(" %s  chosen/best %.3f (%.3f–%.3f)\n", w.unit, median, lo, hi)
	return nil
}
