//go:build linux

package repl_test

import (
	"strings"
	"testing"
)

// TestInterruptHandlers sends Ctrl-C during handlers of a kernel's calls, and checks that the line ends and later lines
// work.
func TestInterruptHandlers(t *testing.T) {
	u := sit(t, 160, 60)
	u.prompted(0)
	u.enters("const { rpc } = await import('offload'), o = device('cpu').buffer(i32, 1)")
	u.enters("rpc.on('busy', { result: i32 }, () => { console.log('it runs'); for (;;); })")
	u.enters("rpc.on('waits', { result: i32 }, () => { console.log('it runs'); return new Promise(() => {}) })")
	u.enters("rpc.on('next', { args: [i32], result: i32 }, x => x + 1)")
	for _, name := range []string{"busy", "waits", "busy"} {
		row := u.row()
		u.types("await kernel((g, o) => { o[0] = i32(g.call('" + name + "')) }).launch({ size: 1 }, o)")
		u.press("\r")
		u.sees(row+1, "it runs")
		u.giveUp()
		if shown := u.all(row + 1); !strings.Contains(shown, "stopped with Ctrl-C") {
			t.Errorf("%s: Ctrl-C printed\n%s", name, shown)
		}
		if got := u.enters("await kernel((g, o) => { o[0] = i32(g.call('next', 41)) }).launch({ size: 1 }, o); (await o.read())[0]"); got != "42" {
			t.Errorf("after %s: %s", name, got)
		}
	}
}

// TestProgress checks that a one-way handler's output appears while the calling kernel runs.
func TestProgress(t *testing.T) {
	u := sit(t, 160, 60)
	u.prompted(0)
	u.enters("const { rpc } = await import('offload'), y = device('cpu').buffer(i32, 1)")
	u.enters("rpc.on('step', { args: [i32], oneWay: true }, n => console.log(`step ${n} of 1000`))")
	row := u.row()
	u.types("await kernel((g, y) => { g.call('step', i32(g.x) + 7); while (y[0] == 0) { y[0] = 0 } }).launch({ size: 1 }, y)")
	u.press("\r")
	u.sees(row+1, "step 7 of 1000")
	u.giveUp()
}
