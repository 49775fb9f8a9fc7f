//go:build unix

package scale

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/pool"
	"github.com/orepl/orepl/runtime/remote"
)

var update = flag.Bool("update", false, "measure up to 4096 ranks and write the curves of docs/mpi.md")

// cluster is a host with ranks that are connected with each other.
type cluster struct {
	platform offload.Platform
	devices  []offload.Device
	served   *sync.WaitGroup // counts served connections
}

// open starts ranks whose launches take a fixed time, and connects the host, which spends time works on each message.
func open(t *testing.T, net *network, ranks int, takes, works time.Duration) *cluster {
	host, nodes, served := &node{works: works}, make([]*node, ranks), new(sync.WaitGroup)
	for i := range nodes {
		nodes[i] = new(node)
	}
	serve := func(to int, from *node) io.ReadWriteCloser {
		here, there := net.connect(from, nodes[to])
		s := remote.Server{Plugins: []offload.Plugin{model{takes}}, Address: strconv.Itoa(to)}
		return serveOn(s, here, there, nodes, net, to, served)
	}
	p, err := remote.NewCluster("mpi", func(context.Context) (peers []remote.Peer, err error) {
		for i := range ranks {
			peers = append(peers, remote.Peer{Name: strconv.Itoa(i), Dial: func(context.Context) (io.ReadWriteCloser, error) { return serve(i, host), nil }})
		}
		return peers, nil
	}).Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return &cluster{p, p.Devices(), served}
}

// serveOn serves one end of a connection and returns the other.
func serveOn(s remote.Server, here, there *end, nodes []*node, net *network, rank int, served *sync.WaitGroup) io.ReadWriteCloser {
	s.DialPeer = func(_ context.Context, address string) (io.ReadWriteCloser, error) {
		to, err := strconv.Atoi(address)
		if err != nil {
			return nil, err
		}
		x, y := net.connect(nodes[rank], nodes[to])
		return serveOn(remote.Server{Address: address}, x, y, nodes, net, to, served), nil
	}
	served.Go(func() { _ = s.Serve(context.Background(), there) })
	return here
}

// work runs tasks on the ranks like a script's pool, and returns the simulated time.
func (c *cluster) work(t *testing.T, tasks int) time.Duration {
	const width = 2
	queues := make([]offload.Queue, len(c.devices))
	launches := make([]*offload.Launch, len(c.devices))
	for i, d := range c.devices {
		program, err := d.Load(t.Context(), &offload.Image{Kind: offload.ImageIR, Data: []byte("image")})
		must(t, err)
		k, err := program.Kernel("work")
		must(t, err)
		queues[i], err = d.NewQueue(offload.QueueOptions{})
		must(t, err)
		launches[i] = &offload.Launch{Kernel: k, Size: [3]int{1, 1, 1}}
	}
	p := pool.New[int](len(c.devices), width)
	for i := range tasks {
		p.Push(i, pool.Anywhere)
	}
	ends := make(chan int, len(c.devices)*width)
	start := time.Now()
	for left := tasks; left > 0; {
		for {
			_, member, ok := p.Next()
			if !ok {
				break
			}
			must(t, queues[member].Launch(launches[member]))
			ev, err := queues[member].Record()
			must(t, err)
			go func() {
				if err := ev.Sync(context.Background()); err != nil {
					t.Error(err)
				}
				ends <- member
			}()
		}
		p.End(<-ends, true)
		left--
		for more := true; more; { // all tasks that have ended
			select {
			case member := <-ends:
				p.End(member, true)
				left--
			default:
				more = false
			}
		}
	}
	took := time.Since(start)
	for _, q := range queues {
		must(t, q.Close())
	}
	return took
}

// load loads an image on all ranks and returns the simulated time.
func (c *cluster) load(t *testing.T, size int) time.Duration {
	img := &offload.Image{Kind: offload.ImageIR, Data: make([]byte, size)}
	start := time.Now()
	ends := make(chan error, len(c.devices))
	for _, d := range c.devices {
		go func() {
			_, err := d.Load(context.Background(), img)
			ends <- err
		}()
	}
	for range c.devices {
		must(t, <-ends)
	}
	return time.Since(start)
}

// broadcast copies bytes from one rank to all others along a tree, like collective.broadcast, and returns the simulated
// time.
func (c *cluster) broadcast(t *testing.T, size int64) time.Duration {
	spans, queues := make([]offload.Span, len(c.devices)), make([]offload.Queue, len(c.devices))
	for i, d := range c.devices {
		m, err := d.Allocate(size, offload.DeviceMemory)
		must(t, err)
		spans[i] = offload.Span{Memory: m, Size: size}
		queues[i], err = d.NewQueue(offload.QueueOptions{})
		must(t, err)
	}
	start := time.Now()
	for have := 1; have < len(spans); have *= 2 {
		ends, begun := make(chan error, have), 0
		for i := 0; i < have && have+i < len(spans); i++ {
			must(t, queues[i].Exchange(spans[have+i], spans[i]))
			begun++
			go func() { ends <- queues[i].Sync(context.Background()) }()
		}
		for range begun {
			must(t, <-ends)
		}
	}
	took := time.Since(start)
	for _, q := range queues {
		must(t, q.Close())
	}
	return took
}

// result has the figures for one number of ranks.
type result struct {
	ranks                       int
	strong, weak, image, spread time.Duration // simulated times
	cpu                         time.Duration // processor time of this process per task, both sides
}

const (
	taskTime    = time.Millisecond
	strongTasks = 16384
	weakTasks   = 16 // tasks per rank
	imageSize   = 256 << 10
	spreadSize  = 256 << 10
)

// cluster100 is a typical cluster network: 2 µs latency, 100 Gbit/s, and 0.5 µs overhead per message at each end.
var cluster100 = network{latency: 2 * time.Microsecond, overhead: 500 * time.Nanosecond, rate: 12.5}

func cpuTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// measure returns the figures for a number of ranks. The host spends works on each message; zero means half of the measured
// processor time.
func measure(t *testing.T, ranks, strong int, works time.Duration) (r result) {
	r.ranks = ranks
	in := func(takes, works time.Duration, do func(t *testing.T, c *cluster)) {
		synctest.Test(t, func(t *testing.T) {
			c := open(t, &cluster100, ranks, takes, works)
			do(t, c)
			must(t, c.platform.Close())
			c.served.Wait()
		})
	}
	in(0, 0, func(t *testing.T, c *cluster) {
		before := cpuTime()
		c.work(t, strong)
		r.cpu = (cpuTime() - before) / time.Duration(strong)
	})
	if works == 0 {
		works = r.cpu / 4 // a task has two messages: to a rank and back
	}
	in(taskTime, works, func(t *testing.T, c *cluster) {
		r.strong = c.work(t, strong)
		r.weak = c.work(t, weakTasks*ranks)
		r.image = c.load(t, imageSize)
	})
	in(0, 0, func(t *testing.T, c *cluster) { r.spread = c.broadcast(t, spreadSize) })
	return r
}

// TestScale checks that more ranks speed up the same work, and that the same work per rank takes about the same time.
func TestScale(t *testing.T) {
	const works = 5 * time.Microsecond // fixed, since a measured time would depend on other processes
	small, large := measure(t, 8, 2048, works), measure(t, 64, 2048, works)
	t.Logf("%+v\n%+v", small, large)
	if speed := float64(small.strong) / float64(large.strong); speed < 5 {
		t.Errorf("64 ranks are %.1f times as fast as 8", speed)
	}
	if ratio := float64(large.weak) / float64(small.weak); ratio > 1.3 {
		t.Errorf("the same work per rank takes %.2f times as long on 64 ranks as on 8", ratio)
	}
	if ideal := 16 * taskTime; small.weak < ideal {
		t.Errorf("%v is less than the tasks take", small.weak)
	}
	if large.spread > 4*small.spread {
		t.Errorf("a broadcast to 64 ranks takes %v, to 8 %v: it grows faster than a tree", large.spread, small.spread)
	}
}

// TestCurves measures up to 4096 ranks and writes the charts and the table.
func TestCurves(t *testing.T) {
	if !*update {
		t.Skip("with -update it writes the curves")
	}
	var results []result
	for ranks := 8; ranks <= 4096; ranks *= 2 {
		r := measure(t, ranks, strongTasks, 0)
		t.Logf("%+v", r)
		results = append(results, r)
	}
	var table strings.Builder
	fmt.Fprintf(&table, "| ranks | strong, speed-up | weak, efficiency | image of %d KiB | broadcast of %d KiB | CPU per task, both sides |\n|---|---|---|---|---|---|\n", imageSize>>10, spreadSize>>10)
	var speed, ideal, efficiency, images, spreads, cpus []float64
	for _, r := range results {
		s := float64(strongTasks*taskTime) / float64(r.strong)
		e := float64(weakTasks*taskTime) / float64(r.weak)
		fmt.Fprintf(&table, "| %d | %.1f | %.0f %% | %v | %v | %v |\n", r.ranks, s, 100*e, r.image.Round(time.Microsecond), r.spread.Round(time.Microsecond), r.cpu.Round(100*time.Nanosecond))
		speed, ideal, efficiency = append(speed, s), append(ideal, float64(r.ranks)), append(efficiency, 100*e)
		images, spreads, cpus = append(images, ms(r.image)), append(spreads, ms(r.spread)), append(cpus, float64(r.cpu)/1e3)
	}
	t.Log("\n" + table.String())
	write(t, "speedup", picture("Strong scaling: 16 384 tasks of 1 ms", "speed-up", results, curve{"ideal", ideal}, curve{"measured", speed}))
	write(t, "weak", picture("Weak scaling: 16 tasks of 1 ms per rank", "efficiency, %", results, curve{"measured", efficiency}))
	write(t, "data", picture("Data from one process to all ranks: 256 KiB", "ms", results, curve{"image, from the host", images}, curve{"broadcast, down a tree", spreads}))
	write(t, "host", picture("CPU per task, host and rank together", "µs", results, curve{"measured", cpus}))
}

func ms(d time.Duration) float64 { return float64(d) / 1e6 }

func write(t *testing.T, name, text string) {
	must(t, os.MkdirAll("../../docs/pictures", 0o755))
	must(t, os.WriteFile("../../docs/pictures/scale-"+name+".svg", []byte(text), 0o644))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
