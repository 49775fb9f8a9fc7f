package main

import (
	"context"
	"fmt"
	"os"
	"strconv"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/bindings/inside"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/plugins/mpi"
	"github.com/orepl/orepl/runtime/offload"
)

// osuScript measures the suite of messages on the devices of two workers, and prints the median time of each test in seconds.
const osuScript = `import { messages } from 'suites'
const rows = await messages({ devices: ['mpi:1/cpu:0', 'mpi:2/cpu:0'], bench: { repeats: 30 } })
for (const r of rows) {
  if (r.verified !== true) throw new Error(r.name + ': ' + (r.wrong ?? r.failed))
  if (r.params.device !== 'mpi:2/cpu:0') console.log(r.params.test + '/' + r.params.bytes, r.median / 1e3)
}
`

// osuHost runs osuScript in the host process of an MPI job.
func osuHost(ctx context.Context) error {
	rt := orepl.Open(orepl.Options{Plugins: []offload.Plugin{mpi.New(), cpu.New(cpu.Options{})}})
	defer rt.Close()
	e, err := inside.Of(rt).NewEngine(lang.Options{Stdout: os.Stdout, Stderr: os.Stderr})
	if err != nil {
		return err
	}
	defer e.Close()
	_, err = e.Run(ctx, "osu.js", osuScript)
	return err
}

// osu compares the suite of messages on devices of an MPI job with the methods of OSU's micro-benchmarks in C. Each has two processes
// that hold data; the host of the suite is a third one.
func osu(r *report) error {
	const rounds = 5
	return withMPI("tests/peers/c/osu.c", func(name, program string) error {
		fmt.Printf("  %s\n", name)
		job := mpiPair{launcher: "mpirun." + name, program: program, workers: 2, hostless: true}
		figures, err := job.run(rounds, "osu")
		if err != nil {
			return err
		}
		for _, test := range []string{"osu_latency", "osu_bw", "osu_bcast", "osu_allreduce"} {
			for _, bytes := range []int{8, 1024, 65536, 1 << 20} {
				row := test + "/" + strconv.Itoa(bytes)
				rate := func(of []map[string]float64) func() (float64, error) {
					next := nextFigure(of, row)
					return func() (float64, error) {
						v, err := next()
						if test == "osu_bw" {
							return 64 * float64(bytes) / v / 1e9, err
						}
						return v * 1e6, err
					}
				}
				unit := "us"
				if test == "osu_bw" {
					unit = "GB/s"
				}
				if _, err := r.pair("  "+row, unit, rounds, rate(figures[0]), rate(figures[1])); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
