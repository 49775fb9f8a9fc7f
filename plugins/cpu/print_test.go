package cpu

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orepl/orepl/runtime/offload"
)

const talkingKernels = `orepl-ir 1
file 0 "test.js"

kernel begin(x: i32[*]) real f32 {
  %0: i32 = const 0
  print "begun"
  loop @1 () {
    %1: i32 = load x[%0]
    %2: i32 = const 1
    %3: i32 = add %1, %2
    store x[%0], %3
    continue @1
  }
  unreachable
}

kernel count(x: i32[*]) real f32 {
  %0: i32 = const 0
  loop @1 () {
    %1: i32 = load x[%0]
    %2: i32 = const 1
    %3: i32 = add %1, %2
    store x[%0], %3
    print "at " %3 ""
    continue @1
  }
  unreachable
}
`

// engines are debug options that select each way of running a kernel.
var engines = []string{"", "cpu-features=avx2", "cpu-features=none", "cpu-engine=interp"}

// listener is a host that calls heard for each printed line.
type listener struct {
	host
	heard func(text string)
}

func (l *listener) Print(m *offload.Message) { l.heard(m.Text) }

// launchTalking launches an endless kernel of talkingKernels, and returns a function that cancels it.
func launchTalking(t *testing.T, engine, name string, services offload.Services) (end func() error) {
	t.Helper()
	f := open(t, Options{Debug: engine})
	p, err := f.dev.Load(background, image(t, talkingKernels))
	must(t, err)
	k, err := p.Kernel(name)
	must(t, err)
	must(t, f.queue.Launch(&offload.Launch{Kernel: k, Size: [3]int{1, 1, 1}, Args: []offload.Arg{x0(f)}, Services: services}))
	return func() error {
		ctx, cancel := context.WithCancel(background)
		cancel()
		return f.queue.Sync(ctx)
	}
}

// TestPrintsDuringAKernel prints before an endless loop, and checks that the line arrives while the kernel runs.
func TestPrintsDuringAKernel(t *testing.T) {
	for _, engine := range engines {
		t.Run(engine, func(t *testing.T) {
			lines := make(chan string, 1)
			end := launchTalking(t, engine, "begin", &listener{heard: func(text string) { lines <- text }})
			select {
			case text := <-lines:
				if text != "begun" {
					t.Errorf("printed %q", text)
				}
			case <-time.After(time.Minute):
				t.Error("the line does not arrive while the kernel runs")
			}
			wantCode(t, end(), offload.Cancelled)
		})
	}
}

// TestManyPrintsDuringAKernel checks that lines that arrive while their item prints further ones are complete and in order.
func TestManyPrintsDuringAKernel(t *testing.T) {
	for _, engine := range engines {
		t.Run(engine, func(t *testing.T) {
			var lines atomic.Int64
			end := launchTalking(t, engine, "count", &listener{heard: func(text string) {
				if want := fmt.Sprint("at ", lines.Add(1)); text != want {
					t.Errorf("printed %q, want %q", text, want)
				}
			}})
			for start := time.Now(); lines.Load() < 200_000 && time.Since(start) < 20*time.Second; {
				time.Sleep(time.Millisecond)
			}
			wantCode(t, end(), offload.Cancelled)
			if lines.Load() < 1000 {
				t.Errorf("%d lines", lines.Load())
			}
		})
	}
}

// TestPrintPanicsDuringAKernel checks that a panic of the host's writer ends the launch with an error.
func TestPrintPanicsDuringAKernel(t *testing.T) {
	for _, engine := range engines {
		for _, name := range []string{"begin", "count"} {
			t.Run(engine+" "+name, func(t *testing.T) {
				panicked := make(chan bool, 1)
				end := launchTalking(t, engine, name, &listener{heard: func(string) { panicked <- true; panic("no paper") }})
				<-panicked
				wantCode(t, end(), offload.BackendFailure)
			})
		}
	}
}
