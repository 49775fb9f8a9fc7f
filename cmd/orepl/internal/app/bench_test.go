package app

import (
	"bytes"
	"testing"
	"time"

	"github.com/orepl/orepl/bindings/bench"
)

func TestBenchProgress(t *testing.T) {
	var out bytes.Buffer
	p := &benchProgress{out: &out, on: true}
	p.report(bench.Progress{Name: "copy", Done: 0, Samples: 3})
	p.report(bench.Progress{Name: "copy", Done: 1, Samples: 3}) // too soon after the last update
	p.last = p.last.Add(-time.Second)
	p.report(bench.Progress{Name: "copy", Done: 2, Samples: 3})
	p.report(bench.Progress{Name: "copy", Done: 3, Samples: 3})
	p.clear()
	const line = "\r\x1b[2K"
	if want := line + "measuring copy, 0 of 3 samples" + line + "measuring copy, 2 of 3 samples" + line; out.String() != want {
		t.Errorf("wrote %q, want %q", out.String(), want)
	}
	out.Reset()
	p = &benchProgress{out: &out}
	p.report(bench.Progress{Name: "copy", Done: 0, Samples: 3})
	p.report(bench.Progress{Name: "copy", Done: 3, Samples: 3})
	if p.clear(); out.Len() > 0 {
		t.Errorf("wrote %q to what is no terminal", out.String())
	}
}
