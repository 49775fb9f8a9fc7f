package app

import (
	"bytes"
	"testing"
	"time"
)

func TestBenchProgress(t *testing.T) {
	var out bytes.Buffer
	p := &benchProgress{out: &out, on: true}
	p.report("copy", 0, 3)
	p.report("copy", 1, 3) // too soon after the last update
	p.last = p.last.Add(-time.Second)
	p.report("copy", 2, 3)
	p.report("copy", 3, 3)
	p.clear()
	const line = "\r\x1b[2K"
	if want := line + "measuring copy, 0 of 3 samples" + line + "measuring copy, 2 of 3 samples" + line; out.String() != want {
		t.Errorf("wrote %q, want %q", out.String(), want)
	}
	out.Reset()
	p = &benchProgress{out: &out}
	p.report("copy", 0, 3)
	p.report("copy", 3, 3)
	if p.clear(); out.Len() > 0 {
		t.Errorf("wrote %q to what is no terminal", out.String())
	}
}
