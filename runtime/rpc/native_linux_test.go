package rpc

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"
)

const headerFile = "../../kernels/include/orepl_rpc.h"

// TestHeaderOrders compares the memory orders of the C header with those that the explorer checks.
func TestHeaderOrders(t *testing.T) {
	text, err := os.ReadFile(headerFile)
	if err != nil {
		t.Fatal(err)
	}
	orders := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^#define OREPL_RPC_ORDER_(\w+) __ATOMIC_(\w+)`).FindAllStringSubmatch(string(text), -1) {
		orders[strings.ToLower(m[1])] = strings.ToLower(m[2])
		if uses := strings.Count(string(text), "OREPL_RPC_ORDER_"+m[1]); uses < 2 {
			t.Errorf("%s is not used", m[1])
		}
	}
	for i, tr := range Transitions {
		if i == ServeInbox || i == Answer || i == ServerBell { // the server's
			continue
		}
		if orders[tr.Name] != tr.Order.String() {
			t.Errorf("%s is %q in the header, want %s", tr.Name, orders[tr.Name], tr.Order)
		}
	}
}

// nativeClient is testdata/client.c, compiled against the header.
type nativeClient struct {
	increment func(calls, first int64) int64
	post      func(calls int64) int64
	stream    func(data, back *byte, size int64) int64
	time      func(calls, idle int64, times *int64) int64
}

// compile builds the client, attached to a channel. Without a compiler the test fails on CI and is skipped elsewhere.
func compile(t testing.TB, channel []byte, compiler ...string) *nativeClient {
	t.Helper()
	path, err := exec.LookPath(compiler[0])
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	lib := filepath.Join(t.TempDir(), "client.so")
	args := append(compiler[1:], "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-I", filepath.Dir(headerFile), "-o", lib, "testdata/client.c")
	if out, err := exec.Command(path, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	h, err := purego.Dlopen(lib, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = purego.Dlclose(h) })
	c := &nativeClient{}
	var attach func(*byte)
	purego.RegisterLibFunc(&attach, h, "test_attach")
	purego.RegisterLibFunc(&c.increment, h, "test_increment")
	purego.RegisterLibFunc(&c.post, h, "test_post")
	purego.RegisterLibFunc(&c.stream, h, "test_stream")
	purego.RegisterLibFunc(&c.time, h, "test_time")
	attach(&channel[0])
	return c
}

// mapped returns memory outside of the Go heap.
func mapped(t testing.TB, l Layout) []byte {
	t.Helper()
	m, err := syscall.Mmap(-1, 0, l.Size(), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Munmap(m) })
	return m
}

// TestNativeClient runs C code of both compilers as client: calls from threads, streams, one-way calls.
func TestNativeClient(t *testing.T) {
	for _, compiler := range [][]string{{"clang-19"}, {"gcc"}, {"clang-19", "-x", "c++", "-std=c++20"}, {"clang-19", "-std=c11", "-DSTRICT"}, {"gcc", "-std=c99", "-DSTRICT"}} {
		t.Run(strings.Join(compiler, " "), func(t *testing.T) {
			l := Layout{Ports: 3, Lanes: 1}
			m := mapped(t, l)
			v := serveIn(t, m, l)
			c := compile(t, m, compiler...)
			var all sync.WaitGroup
			for g := range int64(4) {
				all.Go(func() {
					if wrong := c.increment(2000, g<<40); wrong != 0 {
						t.Errorf("%d replies are wrong", wrong)
					}
					if wrong := c.post(2000); wrong != 0 {
						t.Errorf("%d posts failed", wrong)
					}
				})
			}
			all.Wait()
			if err := v.Drain(within(t)); err != nil {
				t.Fatal(err)
			}
			if n := v.count.Load(); n != 8000 {
				t.Errorf("%d one-way calls were served, want 8000", n)
			}
			random := rand.New(rand.NewPCG(1, 1))
			for _, size := range []int{1, 55, 56, 57, 63, 64, 119, 120, 121, 1000, 65536} {
				data, back := make([]byte, size), make([]byte, size)
				for i := range data {
					data[i] = byte(random.Uint32())
				}
				if r := c.stream(&data[0], &back[0], int64(size)); r != 0 {
					t.Errorf("a stream of %d bytes: %d", size, r)
				}
			}
		})
	}
}

// BenchmarkNative measures a call from C and back, busy and from idle, as the median.
func BenchmarkNative(b *testing.B) {
	l := Layout{Ports: 8, Lanes: 1}
	m := mapped(b, l)
	serveIn(b, m, l)
	c := compile(b, m, "clang-19")
	for _, k := range []struct {
		name        string
		calls, idle int64
	}{{"busy", 20000, 0}, {"idle", 300, 500}} {
		b.Run(k.name, func(b *testing.B) {
			times := make([]int64, k.calls)
			for b.Loop() {
				if c.time(k.calls, k.idle, unsafe.SliceData(times)) != 0 {
					b.Fatal("a call failed")
				}
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)/2]), "ns/median")
		})
	}
	b.Run("post", func(b *testing.B) {
		b.ResetTimer()
		if c.post(int64(b.N)) != 0 {
			b.Fatal("a post failed")
		}
	})
}
