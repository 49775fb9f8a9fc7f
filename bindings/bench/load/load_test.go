package load

import "testing"

// TestShare computes shares from texts of the system.
func TestShare(t *testing.T) {
	files := map[string]string{
		"/proc/self/status": "Name:\tx\nCpus_allowed_list:\t0-1,3\n",
		"/proc/stat":        "cpu  9 9 9 9 9 9 9 9 9 9\ncpu0 10 0 0 90 0 0 0 0 0 0\ncpu1 0 0 0 100 0 0 0 0 0 0\ncpu2 100 0 0 0 0 0 0 0 0 0\ncpu3 0 0 0 100 0 0 0 0 0 0\n",
	}
	m := &Meter{read: func(path string) string { return files[path] }, pid: -1}
	m.begun = m.ticks()
	files["/proc/stat"] = "cpu0 20 10 10 90 0 5 5 0 0 0\ncpu1 0 0 0 120 20 0 0 10 0 0\ncpu2 900 0 0 0 0 0 0 0 0 0\ncpu3 0 0 0 150 0 0 0 0 0 0\n"
	// 40 + 10 ticks of 140 + 150 - 200 + 50 are busy; processor 2 is not for this process.
	if got, want := m.Share(), 50.0/140; got != want {
		t.Errorf("%v, not %v", got, want)
	}
	if parent, ticks := process("12 (a ) b) S 7 1 1 0 -1 4 0 0 0 0 1 2 3 4 20 0 1"); parent != 7 || ticks != 10 {
		t.Errorf("parent %d, %v ticks", parent, ticks)
	}
	if parent, ticks := process(""); parent != 0 || ticks != 0 {
		t.Errorf("parent %d, %v ticks", parent, ticks)
	}
	if s := (&Meter{read: func(string) string { return "" }}).Share(); s != 0 {
		t.Errorf("the share of an unknown system is %v", s)
	}
}
