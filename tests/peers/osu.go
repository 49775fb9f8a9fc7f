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

// ranksScript measures the operations of module mpi as c/osu.c does those of MPI, and prints the same lines.
const ranksScript = `import { mpi } from 'mpi'
const other = 1 - mpi.rank, ack = new Uint8Array(4)
async function latency(a, b) {
  if (mpi.rank === 0) await mpi.send(a, other)
  await mpi.recv(other, { into: b })
  if (mpi.rank === 1) await mpi.send(a, other)
}
async function bw(a, b) {
  const all = []
  for (let i = 0; i < 64; i++) all.push(mpi.rank === 0 ? mpi.send(a, 1, { tag: 100 }) : mpi.recv(0, { tag: 100, into: b }))
  await Promise.all(all)
  if (mpi.rank === 0) await mpi.recv(1, { tag: 101, into: ack })
  else await mpi.send(ack, 0, { tag: 101 })
}
const tests = {
  osu_latency: latency,
  osu_bw: bw,
  osu_bcast: a => mpi.broadcast(a, 0),
  osu_allreduce: (a, b) => mpi.allReduce(a, 'sum', { into: b }),
}
for (const [name, run] of Object.entries(tests)) {
  for (const bytes of [8, 1024, 4096, 65536, 1 << 20, 16 << 20]) {
    const a = new Int32Array(bytes / 4).fill(mpi.rank + 1), b = new Int32Array(bytes / 4)
    const times = bytes > 1 << 20 ? 10 : bytes > 8192 ? 100 : 1000, warmup = times / 10
    let total = 0
    for (let i = 0; i < warmup + times; i++) {
      if (name === 'osu_bcast' || name === 'osu_allreduce') await mpi.barrier()
      const start = performance.now()
      await run(a, b)
      if (i >= warmup) total += performance.now() - start
    }
    const want = { osu_latency: mpi.rank ? [2, 1] : [1, 2], osu_bw: mpi.rank ? [2, 1] : [1, 0], osu_bcast: [1, 0], osu_allreduce: [mpi.rank + 1, 3] }[name]
    if (!a.every(x => x === want[0]) || !b.every(x => x === want[1])) throw new Error(name + ': the data are wrong')
    if (mpi.rank === 0) console.log(name + '/' + bytes, total / times / 1e3)
  }
}
`

// osuProcess runs a script in a process of an MPI job.
func osuProcess(ctx context.Context, script string) error {
	rt := orepl.Open(orepl.Options{Plugins: []offload.Plugin{mpi.New(), cpu.New(cpu.Options{})}})
	defer rt.Close()
	e, err := inside.Of(rt).NewEngine(lang.Options{Stdout: os.Stdout, Stderr: os.Stderr})
	if err != nil {
		return err
	}
	defer e.Close()
	_, err = e.Run(ctx, "osu.js", script)
	return err
}

// osu compares the suite of messages on devices of an MPI job with the methods of OSU's micro-benchmarks in C. Each has two processes
// that hold data; the host of the suite is a third one.
func osu(r *report) error {
	return osuPairs(r, "osu", mpiPair{workers: 2, hostless: true}, []int{8, 1024, 65536, 1 << 20})
}

// overRanks compares the module mpi with the methods of OSU's micro-benchmarks in C, by two processes each.
func overRanks(r *report) error {
	return osuPairs(r, "ranks", mpiPair{workers: 2, hostless: true, scripts: true}, []int{8, 1024, 4096, 65536, 1 << 20, 16 << 20})
}

// osuPairs compares the figures of processes with a role and of c/osu.c for messages of some sizes.
func osuPairs(r *report, role string, job mpiPair, sizes []int) error {
	const rounds = 5
	return withMPI("tests/peers/c/osu.c", func(name, program string) error {
		fmt.Printf("  %s\n", name)
		job.launcher, job.program = "mpirun."+name, program
		figures, err := job.run(rounds, role)
		if err != nil {
			return err
		}
		for _, test := range []string{"osu_latency", "osu_bw", "osu_bcast", "osu_allreduce"} {
			for _, bytes := range sizes {
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
