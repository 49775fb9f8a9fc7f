//go:build linux

package repl_test

import (
	"strings"
	"testing"
)

// TestLinesAfterCtrlC checks that work cancelled by Ctrl-C is reported with it, and not by later lines.
func TestLinesAfterCtrlC(t *testing.T) {
	u := sit(t, 100, 40)
	u.prompted(0)
	w := &walk{user: u}
	u.enters("const d = device('cpu'), y = d.buffer(i32, 1 << 10)")
	u.enters("const spin = kernel((g, y) => { while (y[0] == 0) { y[0] = 0 } }), kq = kernel((g, y) => { y[g.x] = 1 })")
	for _, line := range []string{
		"spin.launch({size: 1 << 10}, y); y.readSync()",
		"spin.launch({size: 1 << 10}, y); await y.read()",
		"spin.launch({size: 1 << 10}, y); spin.launch({size: 1 << 10}, y); await d.queue.sync()",
		"const b = d.buffer(u8, [10, 2 ** 28]); b.free(); spin.launch({size: 1 << 10}, y); await d.queue.sync()",
	} {
		w.interrupts(line)
		if got := u.enters("await kq.launch({size: 4}, y)"); got != "" {
			t.Errorf("after %s\n%s", line, got)
		}
		if got := u.enters("(await d.buffer(f32, 4).read()).join()"); got != "'0,0,0,0'" {
			t.Errorf("after %s\n%s", line, got)
		}
		u.enters("y.fill(0); 0")
	}
}

// TestLeavingWhileAKernelRuns checks that the end of a session reports cancelled kernels and the reason.
func TestLeavingWhileAKernelRuns(t *testing.T) {
	u := sit(t, 100, 40)
	u.prompted(0)
	u.enters("const y = device('cpu').buffer(i32, 4), spin = kernel((g, y) => { while (y[0] == 0) { y[0] = 0 } })")
	u.enters("spin.launch({size: 4}, y); 0")
	row := u.row()
	u.press("\x04")
	if code := u.leaves(); code != 107 {
		t.Errorf("it ended with status %d", code)
	}
	if shown := strings.Join(strings.Fields(u.all(row)), " "); !strings.Contains(shown, `launch "spin"`) || !strings.Contains(shown, "it still ran 2s after the prompt was left") {
		t.Errorf("it printed\n%s", shown)
	}
}
