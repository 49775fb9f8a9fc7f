// Package metrics counts spans and writes the counts in the text format of Prometheus.
//
//	m := &metrics.Metrics{}
//	rt := orepl.Open(orepl.Options{Plugins: all.Plugins(), Observe: m.Observe})
//	http.Handle("/metrics", m)
//
// The text is that of version 0.0.4, which OpenMetrics readers accept, too. No library of Prometheus is used: the format is simple,
// and the library would bring a registry that the program may not use.
package metrics

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/orepl/orepl/runtime/observe"
)

// buckets are the upper bounds of durations in seconds.
var buckets = []float64{1e-5, 1e-4, 1e-3, 2.5e-3, 5e-3, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10}

// mostSeries is the maximum number of combinations of labels. Spans of further combinations are counted under their kind alone.
const mostSeries = 1000

// Metrics counts spans. The zero value is ready; it is safe for concurrent use.
type Metrics struct {
	mu     sync.Mutex
	series map[key]*series
}

type key struct {
	kind                observe.Kind
	owner, name, device string
}

type series struct {
	count   uint64
	seconds float64
	bytes   int64
	within  []uint64          // number of spans in each bucket, without those in lower ones
	errors  map[string]uint64 // number of failed spans by code
}

// Observe counts a span: it is an [observe.Hook].
func (m *Metrics) Observe(s observe.Span) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := key{s.Kind, s.Owner, s.Name, s.Device}
	at := m.series[k]
	if at == nil && len(m.series) >= mostSeries {
		k = key{kind: s.Kind}
		at = m.series[k]
	}
	if at == nil {
		at = &series{within: make([]uint64, len(buckets)), errors: map[string]uint64{}}
		if m.series == nil {
			m.series = map[key]*series{}
		}
		m.series[k] = at
	}
	seconds := s.Duration.Seconds()
	at.count++
	at.seconds += seconds
	at.bytes += s.Bytes
	if i, _ := slices.BinarySearch(buckets, seconds); i < len(buckets) {
		at.within[i]++
	}
	if s.Err != nil {
		at.errors[s.Code()]++
	}
}

// Count returns the number of spans of a kind, and how many of them failed.
func (m *Metrics) Count(kind observe.Kind) (all, failed uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for k, at := range m.series {
		if k.kind == kind {
			all += at.count
			for _, n := range at.errors {
				failed += n
			}
		}
	}
	return all, failed
}

// ServeHTTP answers with the text that [Metrics.Write] writes.
func (m *Metrics) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_ = m.Write(w) // the client is gone
}

// Write writes up to three families: orepl_span_seconds, a histogram with the labels kind, owner, name and device;
// orepl_span_errors_total, also with the label code; and orepl_span_bytes_total. It omits a family without series.
func (m *Metrics) Write(w io.Writer) error {
	var seconds, errors, bytes strings.Builder
	m.mu.Lock()
	keys := slices.SortedFunc(maps.Keys(m.series), func(a, b key) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.owner, b.owner), cmp.Compare(a.name, b.name), cmp.Compare(a.device, b.device))
	})
	for _, k := range keys {
		at := m.series[k]
		labels := fmt.Sprintf("kind=%s,owner=%s,name=%s,device=%s", quoted(string(k.kind)), quoted(k.owner), quoted(k.name), quoted(k.device))
		sum := uint64(0)
		for i, bound := range buckets {
			sum += at.within[i]
			fmt.Fprintf(&seconds, "orepl_span_seconds_bucket{%s,le=\"%s\"} %d\n", labels, strconv.FormatFloat(bound, 'g', -1, 64), sum)
		}
		fmt.Fprintf(&seconds, "orepl_span_seconds_bucket{%s,le=\"+Inf\"} %d\n", labels, at.count)
		fmt.Fprintf(&seconds, "orepl_span_seconds_sum{%s} %s\norepl_span_seconds_count{%s} %d\n", labels, strconv.FormatFloat(at.seconds, 'g', -1, 64), labels, at.count)
		for _, code := range slices.Sorted(maps.Keys(at.errors)) {
			fmt.Fprintf(&errors, "orepl_span_errors_total{%s,code=%s} %d\n", labels, quoted(code), at.errors[code])
		}
		if at.bytes > 0 {
			fmt.Fprintf(&bytes, "orepl_span_bytes_total{%s} %d\n", labels, at.bytes)
		}
	}
	m.mu.Unlock()
	for _, family := range []struct{ name, kind, help, text string }{
		{"orepl_span_seconds", "histogram", "Durations of runs, launches, copies and loads.", seconds.String()},
		{"orepl_span_errors_total", "counter", "Failures by code.", errors.String()},
		{"orepl_span_bytes_total", "counter", "Copied bytes.", bytes.String()},
	} {
		if family.text == "" {
			continue
		}
		if _, err := fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n%s", family.name, family.help, family.name, family.kind, family.text); err != nil {
			return err
		}
	}
	return nil
}

// quoted returns the value of a label in the format's quotes.
func quoted(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(strings.ToValidUTF8(text, "�")) + `"`
}
