package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strconv"
	"time"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/plugins/mpi"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// spinText is a kernel with n steps of four cycles each.
const spinText = `orepl-ir 1
kernel spin(n %n.0: i32, x: i32[*]) real f32 {
  %1: i32 = const 0
  %2: i32 = load x[%1]
  %3: i32, %4: i32 = loop @1 (%5: i32 = %1, %6: i32 = %2) {
    %7: bool = lt %5, %n.0
    if %7 {
      yield
    } else {
      break @1 %5, %6
    }
    %8: i32 = const 1664525
    %9: i32 = mul %6, %8
    %10: i32 = const 1013904223
    %11: i32 = add %9, %10
    %12: i32 = const 1
    %13: i32 = add %5, %12
    continue @1 %13, %11
  }
  store x[%1], %4
  return
}
`

// granularity returns the microseconds of the smallest tasks at which workers compute at least half of the time, or infinity if
// they never do. run runs a number of tasks with a number of steps each.
func granularity(workers int, run func(tasks, steps int) (time.Duration, error)) (float64, error) {
	const longest = 4 << 20 // maximum steps of a task
	var perStep float64     // seconds, in the fastest of several runs
	for i := range 5 {
		d, err := run(workers, longest)
		if err != nil {
			return 0, err
		}
		if s := d.Seconds() / longest; i == 0 || s < perStep {
			perStep = s
		}
	}
	processors := min(workers, runtime.NumCPU())
	perStep *= float64(processors) / float64(workers)
	smallest := math.Inf(1)
	for steps := longest / 2; steps > 16; steps = steps * 3 / 4 {
		each := perStep * float64(steps)
		tasks := workers * min(max(int(0.02*float64(processors)/each)/workers, 20), 2000)
		best := 0.0
		for range 3 {
			d, err := run(tasks, steps)
			if err != nil {
				return 0, err
			}
			best = max(best, each*float64(tasks)/(d.Seconds()*float64(processors)))
		}
		if best < 0.5 {
			break
		}
		smallest = each * 1e6
	}
	return smallest, nil
}

// mpiTasks prints the smallest efficient tasks for all workers of the job.
func mpiTasks(ctx context.Context) error {
	rt := orepl.Open(orepl.Options{Plugins: []offload.Plugin{mpi.New()}})
	defer rt.Close()
	s := rt.Session()
	type member struct {
		kernel *session.Kernel
		queue  *session.Queue
		buffer *session.Buffer
		call   *session.Call
	}
	var members []*member
	for _, d := range s.Devices(ctx) {
		m := new(member)
		var errs [3]error
		m.kernel, errs[0] = textKernel(ctx, s, d, "spin", spinText)
		m.queue, errs[1] = d.Queue()
		m.buffer, errs[2] = d.NewBuffer(session.BufferOptions{Type: offload.I32, Dims: []int{1}})
		if err := errors.Join(errs[:]...); err != nil {
			return err
		}
		members = append(members, m)
	}
	us, err := granularity(len(members), func(tasks, steps int) (time.Duration, error) {
		for _, m := range members {
			var err error
			if m.call, err = m.kernel.Bind(session.Config{Size: []int{1}}, session.I32(int32(steps)), session.Buf(m.buffer)); err != nil {
				return 0, err
			}
		}
		start := time.Now()
		for i := range tasks {
			m := members[i%len(members)]
			if err := m.queue.Launch(m.call); err != nil {
				return 0, err
			}
		}
		for _, m := range members {
			if err := m.queue.Sync(ctx); err != nil {
				return 0, err
			}
		}
		return time.Since(start), nil
	})
	fmt.Println("smallest", strconv.FormatFloat(us, 'g', 4, 64))
	return err
}
