package repl_test

import "testing"

// What Ctrl-C cancelled is reported with it, and by no later line.
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
