package heap

import "testing"

func TestText(t *testing.T) {
	for n, want := range map[uint64]string{0: "0 bytes", 1: "1 byte", 1023: "1023 bytes", 1 << 10: "1 KiB", 1<<20 - 1: "1023 KiB", 1 << 20: "1 MiB", 5 << 30: "5120 MiB"} {
		if got := Text(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
}
