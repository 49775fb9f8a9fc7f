package main

import (
	"bytes"
	"context"
	"image"
	"image/png"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/offload"
)

// want returns the filter's result, computed in Go.
func want(in *image.Gray) []byte {
	w, h := in.Rect.Dx(), in.Rect.Dy()
	at := func(x, y int) float32 { return float32(in.Pix[min(max(y, 0), h-1)*in.Stride+min(max(x, 0), w-1)]) }
	out := make([]byte, w*h)
	for y := range h {
		for x := range w {
			dx := at(x+1, y-1) + 2*at(x+1, y) + at(x+1, y+1) - at(x-1, y-1) - 2*at(x-1, y) - at(x-1, y+1)
			dy := at(x-1, y+1) + 2*at(x, y+1) + at(x+1, y+1) - at(x-1, y-1) - 2*at(x, y-1) - at(x+1, y-1)
			out[y*w+x] = byte(min(255, math.Sqrt(float64(dx*dx+dy*dy))))
		}
	}
	return out
}

// TestServing sends pictures of several sizes from 16 clients, for 3 seconds, or 60 with OREPL_TEST_LONG=1. Every answer
// must be right, and memory, goroutines and buffers must not grow.
func TestServing(t *testing.T) {
	const clients = 16
	long := os.Getenv("OREPL_TEST_LONG") == "1"
	span := 3 * time.Second
	if long {
		span = 60 * time.Second
	}
	rt := orepl.Open(orepl.Options{Plugins: []offload.Plugin{cpu.New(cpu.Options{})}})
	defer rt.Close()
	filter, err := rt.LoadPipeline(context.Background(), "edges.js", orepl.PipelineOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer filter.Close()
	server := httptest.NewServer(edges(filter))
	defer server.Close()

	var answers atomic.Int64
	load := func(span time.Duration) {
		var group sync.WaitGroup
		for client := range clients {
			group.Go(func() {
				photo := image.NewGray(image.Rect(0, 0, 24+8*(client%2), 16))
				for i := range photo.Pix {
					photo.Pix[i] = byte(rand.IntN(256))
				}
				var body bytes.Buffer
				_ = png.Encode(&body, photo) // writes to a buffer cannot fail
				expected := want(photo)
				for end := time.Now().Add(span); time.Now().Before(end); answers.Add(1) {
					if err := ask(server.URL, body.Bytes(), expected); err != "" {
						t.Error(err)
						return
					}
				}
			})
		}
		group.Wait()
	}
	load(span / 6)
	before := measure(rt)
	for round := 1; ; round++ { // retries: instances may be loaded meanwhile, and ended goroutines may still be counted
		load(span)
		after := measure(rt)
		t.Logf("%d answers; before %+v, after %+v", answers.Load(), before, after)
		if after.buffers <= before.buffers && after.goroutines <= before.goroutines+4 && after.heap <= before.heap+8<<20 {
			break
		}
		if round == 6 {
			t.Errorf("every round left something behind: before %+v, after %+v", before, after)
			break
		}
		before = after
	}
	if answers.Load() < clients {
		t.Errorf("only %d answers", answers.Load())
	}
}

// ask sends a picture and returns a description of a wrong answer, or "".
func ask(url string, body, want []byte) string {
	r, err := http.Post(url, "image/png", bytes.NewReader(body))
	if err != nil {
		return err.Error()
	}
	defer r.Body.Close()
	data, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != http.StatusOK {
		return r.Status + ": " + string(data)
	}
	picture, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		return err.Error()
	}
	if gray, ok := picture.(*image.Gray); !ok || !bytes.Equal(gray.Pix, want) {
		return "the picture is another"
	}
	return ""
}

type figures struct {
	buffers, goroutines int
	heap                uint64
}

func measure(rt *orepl.Runtime) figures {
	http.DefaultClient.CloseIdleConnections()
	time.Sleep(50 * time.Millisecond) // connections end asynchronously
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	f := figures{goroutines: runtime.NumGoroutine(), heap: m.HeapAlloc}
	for _, o := range rt.Session().Live() {
		if o.Kind == "buffer" {
			f.buffers++
		}
	}
	return f
}

func TestBadRequests(t *testing.T) {
	rt := orepl.Open(orepl.Options{Plugins: []offload.Plugin{cpu.New(cpu.Options{})}})
	defer rt.Close()
	filter, err := rt.LoadPipeline(context.Background(), "edges.js", orepl.PipelineOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer filter.Close()
	answer := httptest.NewRecorder()
	edges(filter)(answer, httptest.NewRequest(http.MethodPost, "/", bytes.NewReader([]byte("no picture"))))
	if answer.Code != http.StatusBadRequest {
		t.Errorf("%d %s", answer.Code, answer.Body)
	}
}

// TestLength checks that the service has at most 25 lines of Go, without imports and comments.
func TestLength(t *testing.T) {
	text, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	_, program, _ := strings.Cut(string(text), "\n)\n")
	lines := 0
	for line := range strings.Lines(program) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
			lines++
		}
	}
	if lines == 0 || lines > 25 {
		t.Errorf("%d lines", lines)
	}
}
