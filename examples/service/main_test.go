package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/orepltest"
	"github.com/orepl/orepl/plugins/all"
	"github.com/orepl/orepl/runtime/observe"
)

const loops = `import { pipeline, kernel, f32 } from 'offload'
export default pipeline({ params: { on: { type: f32, default: 0 } }, inputs: { x: [f32] }, outputs: { y: [f32, 1] }, run({ on }) { while (on > 0); } })`

const eats = `import { pipeline, kernel, f32 } from 'offload'
export default pipeline({ params: { on: { type: f32, default: 0 } }, inputs: { x: [f32] }, outputs: { y: [f32, 1] },
  run({ on, device }) { const all = []; while (on > 0) all.push(device.buffer(f32, 2 ** 22)) } })`

// TestService edits a pipeline while callers use it and two tenants exceed their limits. No request of others may fail.
func TestService(t *testing.T) {
	callers, edits, broken, pause := 4, 2, 2, time.Duration(0)
	if os.Getenv("OREPL_TEST_LONG") == "1" {
		callers, edits, broken, pause = 16, 50, 10, time.Minute/60
	}
	slog.SetDefault(slog.New(slog.DiscardHandler))
	dir := t.TempDir()
	text, err := os.ReadFile("tenants/smooth.js")
	if err != nil {
		t.Fatal(err)
	}
	edit := func(name, text string) {
		path := filepath.Join(dir, name+".js")
		if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
			t.Error(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Error(err)
		}
	}
	edit("smooth", string(text))
	edit("loops", loops)
	edit("eats", eats)
	web, err := newService(t.Context(), settings{Dir: dir, Time: 10 * time.Second, Poll: 2 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(web)
	defer server.Close()
	post := func(path, body string) (int, string) {
		r, err := http.Post(server.URL+path, "application/json", strings.NewReader(body))
		if err != nil {
			return 0, err.Error()
		}
		defer r.Body.Close()
		answer, _ := io.ReadAll(r.Body)
		return r.StatusCode, strings.TrimSpace(string(answer))
	}
	ctx, stop := context.WithCancel(t.Context())
	var busy sync.WaitGroup
	var requests atomic.Int64
	for range callers {
		busy.Go(func() {
			for ctx.Err() == nil {
				if code, answer := post("/run/smooth?gain=2", "[3,3,3]"); code != 200 || answer != "[6,6,6]" && answer != "[12,12,12]" {
					t.Errorf("%d: %s", code, answer)
				}
				requests.Add(1)
			}
		})
	}
	busy.Go(func() {
		for ctx.Err() == nil {
			if code, answer := post("/run/eats?on=1", "[1]"); code != 422 || !strings.Contains(answer, "limit") {
				t.Errorf("eats: %d, %s", code, answer)
			}
		}
	})
	busy.Go(func() { // a client that goes ends its run
		for ctx.Err() == nil {
			gone, leave := context.WithTimeout(ctx, 20*time.Millisecond)
			r, _ := http.NewRequestWithContext(gone, http.MethodPost, server.URL+"/run/loops?on=1", strings.NewReader("[1]"))
			if answer, err := http.DefaultClient.Do(r); err == nil {
				t.Errorf("loops: %s", answer.Status)
				answer.Body.Close()
			}
			leave()
		}
	})
	smooth := web.pipelines["smooth"]
	var early, late runtime.MemStats
	for i := range edits {
		time.Sleep(pause)
		if i == edits/3 {
			runtime.GC()
			runtime.ReadMemStats(&early)
		}
		if i%(edits/broken) == 0 {
			_, refused := web.counts.Count(observe.Reload)
			edit("smooth", "import './missing.js'")
			until(t, func() bool { _, n := web.counts.Count(observe.Reload); return n > refused })
		}
		version, factor := smooth.Pipeline(), 1+(i+1)%2
		edit("smooth", strings.Replace(string(text), "gain * sum", fmt.Sprintf("%d * gain * sum", factor), 1)+fmt.Sprintf("// version %d\n", i))
		until(t, func() bool { return smooth.Pipeline() != version })
		if code, answer := post("/run/smooth?gain=2", "[3,3,3]"); code != 200 || answer != fmt.Sprintf("[%d,%[1]d,%[1]d]", 6*factor) {
			t.Errorf("edit %d: %d %s", i, code, answer)
		}
	}
	stop()
	busy.Wait()
	runtime.GC()
	if runtime.ReadMemStats(&late); late.HeapAlloc > early.HeapAlloc+64<<20 {
		t.Errorf("the heap grows from %d to %d MiB", early.HeapAlloc>>20, late.HeapAlloc>>20)
	}
	for _, c := range []struct {
		path, body string
		code       int
		want       string
	}{
		{"/run/smooth?gian=2", "[1]", 422, "gian"},
		{"/run/smooth?gain=200&rounds=0.5", "[1]", 422, "not at most 100"},
		{"/run/smooth", "[1", 422, "EOF"},
		{"/run/smooth?gain=100", "[3e38, 3e38]", 422, "+Inf"},
		{"/run/smooth?gain=two", "[1]", 422, "gain"},
		{"/run/smooth?x=1", "[3]", 200, "[3]"},
		{"/run/loops", "[1]", 200, "[0]"},
		{"/run/eats", "[1]", 200, "[0]"},
		{"/run/none", "[1]", 404, "not found"},
	} {
		if code, answer := post(c.path, c.body); code != c.code || !strings.Contains(answer, c.want) {
			t.Errorf("%s: %d, %s", c.path, code, answer)
		}
	}
	for path, want := range map[string]string{"/metrics": `orepl_span_seconds_count{kind="run",owner="smooth",name="smooth.js",device="cpu"}`, "/schema/smooth": `"maximum": 100`} {
		r, err := http.Get(server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		answer, _ := io.ReadAll(r.Body)
		r.Body.Close()
		if !strings.Contains(string(answer), want) {
			t.Errorf("%s lacks %s:\n%s", path, want, answer)
		}
	}
	server.Close()
	if err := web.Close(); err != nil {
		t.Error(err)
	}
	t.Logf("%d requests, %d reloads, %d refused edits; heap %d and %d MiB", requests.Load(), edits, broken, early.HeapAlloc>>20, late.HeapAlloc>>20)
}

// TestTenants checks the pipelines of the folder, and runs their tests.
func TestTenants(t *testing.T) {
	rt := orepl.Open(orepl.Options{Plugins: all.Plugins()})
	defer rt.Close()
	files, err := filepath.Glob("tenants/*.js")
	if err != nil || len(files) < 2 {
		t.Fatal(files, err)
	}
	for _, path := range files {
		for _, d := range diag.All(rt.CheckPipeline(t.Context(), path, orepl.PipelineOptions{}, nil)) {
			t.Error("\n" + diag.Format(d, false))
		}
	}
	orepltest.Run(t, rt, "tenants/tests/*.test.js", orepl.TestOptions{})
}

// until waits for a condition, at most until the test's end.
func until(t *testing.T, met func() bool) {
	for !met() && t.Context().Err() == nil {
		time.Sleep(time.Millisecond)
	}
}
