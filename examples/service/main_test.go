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
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orepl/orepl/runtime/observe"
)

const loops = `import { pipeline, kernel, f32 } from 'offload'
export default pipeline({ params: { on: { type: f32, default: 0 } }, inputs: { x: [f32] }, outputs: { y: [f32, 1] }, run({ on }) { while (on > 0); } })`

const eats = `import { pipeline, kernel, f32 } from 'offload'
export default pipeline({ params: { on: { type: f32, default: 0 } }, inputs: { x: [f32] }, outputs: { y: [f32, 1] },
  run({ on, device }) { const all = []; while (on > 0) all.push(device.buffer(f32, 2 ** 22)) } })`

// TestService edits a pipeline while callers use it and two tenants exceed their limits. No request of others may fail.
func TestService(t *testing.T) {
	callers, edits := 4, 2
	if os.Getenv("OREPL_TEST_LONG") == "1" {
		callers, edits = 16, 50
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
	all, err := newService(t.Context(), settings{Dir: dir, Time: 10 * time.Second, Poll: 2 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(all)
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
	smooth := all.pipelines["smooth"]
	for i := range edits {
		_, refused := all.counts.Count(observe.Reload)
		edit("smooth", "import './missing.js'")
		until(t, func() bool { _, n := all.counts.Count(observe.Reload); return n > refused })
		version, factor := smooth.Pipeline(), 1+(i+1)%2
		edit("smooth", strings.Replace(string(text), "gain * sum", fmt.Sprintf("%d * gain * sum", factor), 1)+fmt.Sprintf("// version %d\n", i))
		until(t, func() bool { return smooth.Pipeline() != version })
		if code, answer := post("/run/smooth?gain=2", "[3,3,3]"); code != 200 || answer != fmt.Sprintf("[%d,%[1]d,%[1]d]", 6*factor) {
			t.Errorf("edit %d: %d %s", i, code, answer)
		}
	}
	stop()
	busy.Wait()
	for _, c := range []struct {
		path, body string
		code       int
		want       string
	}{
		{"/run/smooth?gian=2", "[1]", 422, "gian"},
		{"/run/smooth?gain=200&rounds=0.5", "[1]", 422, "not at most 100"},
		{"/run/smooth", "[1", 400, "EOF"},
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
	if err := all.Close(context.Background()); err != nil {
		t.Error(err)
	}
	t.Logf("%d requests, %d edits", requests.Load(), edits)
}

// until waits for a condition, at most until the test's end.
func until(t *testing.T, met func() bool) {
	for !met() && t.Context().Err() == nil {
		time.Sleep(time.Millisecond)
	}
}
