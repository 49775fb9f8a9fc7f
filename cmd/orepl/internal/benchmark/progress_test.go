package benchmark

import (
	"bytes"
	"testing"
	"time"

	"github.com/orepl/orepl/bindings/bench"
)

func TestProgress(t *testing.T) {
	var out bytes.Buffer
	p := &Progress{Out: &out, On: true}
	report := func(done int) { p.Report(bench.Progress{Name: "copy", Done: done, Samples: 3}) }
	report(0)
	report(1) // too soon after the last update
	p.last = p.last.Add(-time.Second)
	report(2)
	report(3)
	p.Clear()
	const line = "\r\x1b[2K"
	if want := line + "measuring copy, 0 of 3 samples" + line + "measuring copy, 2 of 3 samples" + line; out.String() != want {
		t.Errorf("wrote %q, want %q", out.String(), want)
	}
	out.Reset()
	p = &Progress{Out: &out}
	report(0)
	report(3)
	if p.Clear(); out.Len() > 0 {
		t.Errorf("wrote %q to what is no terminal", out.String())
	}
}

func TestLine(t *testing.T) {
	got := line(bench.Progress{Name: "copy/n=64\x1b[31m", Done: 1, Samples: 2, Point: 2, Points: 5}, 10*time.Second)
	if want := "██████████░░░░░░░░░░ 2 of 5 points, 10s left, copy/n=64\ufffd[31m"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	got = line(bench.Progress{Name: "a", Samples: 2, Points: 5}, 0)
	if want := "░░░░░░░░░░░░░░░░░░░░ 0 of 5 points, a"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
