package metrics

import (
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/orepl/orepl/runtime/observe"
	"github.com/orepl/orepl/runtime/offload"
)

// TestWrite checks the text: sums of buckets, escaped labels, errors by code, and types before their samples.
func TestWrite(t *testing.T) {
	m := &Metrics{}
	if err := m.Write(&strings.Builder{}); err != nil {
		t.Error(err)
	}
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			m.Observe(observe.Span{Kind: observe.Run, Name: "a\"\\\n\xff.js", Device: "cpu", Duration: time.Duration(i) * 40 * time.Millisecond})
		})
	}
	all.Wait()
	m.Observe(observe.Span{Kind: observe.Run, Name: "b.js", Duration: time.Minute, Err: errors.Join(offload.Errorf(offload.OutOfBounds, "launch", "x"))})
	m.Observe(observe.Span{Kind: observe.Copy, Name: "write", Bytes: 40, Err: errors.New("y")})
	answer := httptest.NewRecorder()
	m.ServeHTTP(answer, nil)
	text := answer.Body.String()
	for _, want := range []string{
		"# TYPE orepl_span_seconds histogram\n",
		`orepl_span_seconds_bucket{kind="run",owner="",name="a\"\\\n�.js",device="cpu",le="1e-05"} 1` + "\n",
		`device="cpu",le="0.05"} 2` + "\n", `device="cpu",le="0.1"} 3` + "\n", `device="cpu",le="+Inf"} 4` + "\n",
		`orepl_span_seconds_bucket{kind="run",owner="",name="b.js",device="",le="10"} 0` + "\n",
		`orepl_span_seconds_sum{kind="run",owner="",name="b.js",device=""} 60` + "\n",
		`orepl_span_errors_total{kind="run",owner="",name="b.js",device="",code="out-of-bounds"} 1` + "\n",
		`name="write",device="",code="error"} 1` + "\n",
		`orepl_span_bytes_total{kind="copy",owner="",name="write",device=""} 40` + "\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if n, failed := m.Count(observe.Run); n != 5 || failed != 1 {
		t.Errorf("%d runs, %d failed", n, failed)
	}
}

// TestSeriesAreBounded checks that names without end take bounded memory and lose no count.
func TestSeriesAreBounded(t *testing.T) {
	m := &Metrics{}
	for i := range 3 * mostSeries {
		m.Observe(observe.Span{Kind: observe.Launch, Name: fmt.Sprint("k", i)})
	}
	if n, _ := m.Count(observe.Launch); n != 3*mostSeries || len(m.series) > mostSeries+1 {
		t.Errorf("%d spans in %d series", n, len(m.series))
	}
}
