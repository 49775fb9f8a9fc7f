//go:build linux

package repl_test

import (
	"strings"
	"testing"
	"time"
)

// TestCompletionByDocumentation completes by documentation where there are no values: options and their values, and topics
// of ?.
func TestCompletionByDocumentation(t *testing.T) {
	u := sit(t, 120, 40)
	u.prompted(0)
	u.enters("const dev = device('cpu'), x = dev.buffer(f32, 4), k = kernel((g, a) => { a[g.x] = 1 })")
	for _, c := range []struct{ typed, line string }{
		{"dev.buffer(f32, 10, { lab", "dev.buffer(f32, 10, { label: "},
		{"device('cpu').buffer(f32, 10, { label: 'a', ki", "device('cpu').buffer(f32, 10, { label: 'a', kind: "},
		{"dev.buffer(f32, 10, { kind: 'ho", "dev.buffer(f32, 10, { kind: 'host"},
		{"x.view(0, 2, { la", "x.view(0, 2, { label: "},
		{"x.readRect({ ori", "x.readRect({ origin: "},
		{"dev.createQueue({ hazards: 'o", "dev.createQueue({ hazards: 'off"},
		{"k.launch({ size: 4, checks: 'ra", "k.launch({ size: 4, checks: 'races"},
		{"k.debug({ size: 4, pri", "k.debug({ size: 4, print: "},
		{"k.debug({ size: 4, print: tr", "k.debug({ size: 4, print: true"},
		{"kernel(g => {}, { contract: fa", "kernel(g => {}, { contract: false"},
		{"bench('n', () => {}, { repe", "bench('n', () => {}, { repeats: "},
		{"fs.readImage('a.png', { chan", "fs.readImage('a.png', { channels: "},
		{"kernel((g, x) => { x[g.x] = Math.fas", "kernel((g, x) => { x[g.x] = Math.fast"},
		{"kernel((g, x) => { x[g.x] = Math.fast.si", "kernel((g, x) => { x[g.x] = Math.fast.sin"},
		{"Math.flo", "Math.floor"},
		{"Math.ran", "Math.random"},
		{"kernel((g, x) => { x[0] = Math.ran", "kernel((g, x) => { x[0] = Math.ran"},
		{"help('gro", "help('group"},
		{"help('groupRed", "help('groupReduce"},
		{"help('fs.appendTextS", "help('fs.appendTextSync"},
		{"?LaunchOp", "?LaunchOptions"},
		{"?LaunchOptions.che", "?LaunchOptions.checks"},
		{"?timers.clearTi", "?timers.clearTimeout"},
		{"?fs.appendTextS", "?fs.appendTextSync"},
		{"({ lab", "({ lab"}, // braces outside of a call
		{"dev.buffer(f32, 10, { la: { lab", "dev.buffer(f32, 10, { la: { lab"},
	} {
		row := u.row()
		u.types(c.typed)
		u.completes("> " + c.line)
		u.press("\x03")
		u.prompted(row)
	}
}

// TestCompletionWithoutObject checks that completion works if a script has overwritten classes of the language.
func TestCompletionWithoutObject(t *testing.T) {
	u := sit(t, 120, 40)
	u.prompted(0)
	u.enters("globalThis.Object = 1; const own = { first: 1 }")
	for _, c := range []struct{ typed, line string }{{"own.fi", "own.first"}, {"own.toS", "own.toString"}} {
		row := u.row()
		u.types(c.typed)
		u.completes("> " + c.line)
		u.press("\x03")
		u.prompted(row)
	}
	if got := u.enters("own.first + 1"); got != "2" {
		t.Errorf("then %q", got)
	}
}

// TestCompletionInKernels checks that names in kernels are those of the kernel language, and that parameters hide globals.
func TestCompletionInKernels(t *testing.T) {
	u := sit(t, 120, 40)
	u.prompted(0)
	u.enters("const dev = device('cpu'), x = dev.buffer(f32, 4), k = kernel((g, a) => { a[g.x] = 1 }), q = 3")
	u.enters("await k.launch({ size: 4 }, x)")
	for _, c := range []struct{ typed, line string }{
		{"kernel((g, x) => { g.lo", "kernel((g, x) => { g.local"},
		{"kernel((it, x) => { it.reduce.a", "kernel((it, x) => { it.reduce.add"},
		{"kernel((g, x) => { g.scan.mi", "kernel((g, x) => { g.scan.min"},
		{"kernel((g, x) => { g.scan.min.ex", "kernel((g, x) => { g.scan.min.exclusive"},
		{"kernel((g, x) => { g.subgroup.shuffleX", "kernel((g, x) => { g.subgroup.shuffleXor"},
		{"kernel({ x: [f32] }, (g, x) => { for (let i = 0; i < x.le", "kernel({ x: [f32] }, (g, x) => { for (let i = 0; i < x.length"},
		{"kernel(function named(g, x) { x.fl", "kernel(function named(g, x) { x.flat"},
		{"kernel((g, x) => { x.rea", "kernel((g, x) => { x.rea"}, // a method of host buffers only
		{"kernel((g, x) => { const tile = g.shared(f32, 4); tile.len", "kernel((g, x) => { const tile = g.shared(f32, 4); tile.length"},
		{"kernel((g, value) => { const weight = 1; wei", "kernel((g, value) => { const weight = 1; weight"},
		{"kernel((g, value) => { val", "kernel((g, value) => { value"},
		{"kernel((g, x) => { Math.rand", "kernel((g, x) => { Math.rand"},
		{"kernel((g, x) => { Math.popc", "kernel((g, x) => { Math.popcount"},
		{"kernel((g, x) => { Math.floo", "kernel((g, x) => { Math.floor"},
		{"Math.rand", "Math.random"},
		{"kernel((g, x) => { x[0] = 1 }); x.readR", "kernel((g, x) => { x[0] = 1 }); x.readRect"},
		{"k.launch({ size: 4, si", "k.launch({ size: 4, si"},
		{"k.launch({ size: 4, gr", "k.launch({ size: 4, group"},
		{"k.launch({ group, size: 4, checks: 'on', labe", "k.launch({ group, size: 4, checks: 'on', label: "},
		{".explain ", ".explain k"},
		{".explain k o", ".explain k opt"},
		{".explain k w", ".explain k warnings"},
	} {
		row := u.row()
		u.types(c.typed)
		u.completes("> " + c.line)
		u.press("\x03")
		u.prompted(row)
	}
	u.types("kernel((g, x) => { g.local.")
	u.press("\t")
	time.Sleep(50 * time.Millisecond)
	u.press("\t")
	u.sees(0, "\nx  y  z\n")
	u.giveUp()
	u.types(".explain k ")
	u.press("\t")
	time.Sleep(50 * time.Millisecond)
	u.press("\t")
	u.sees(0, "\nasm       clc       ir        js        opt       ptx       warnings\n")
	u.giveUp()
}

// TestHelpFindsMembersAndTypes checks that ? finds types of options and members without their owner.
func TestHelpFindsMembersAndTypes(t *testing.T) {
	u := sit(t, 120, 40)
	u.prompted(0)
	for _, c := range []struct{ asked, want string }{
		{"?LaunchOptions", "interface LaunchOptions"},
		{"?LaunchOptions.checks", "checks?: 'on' | 'off' | 'races'"},
		{"?checks", "LaunchOptions.checks"},
		{"?launch", "Kernel.launch"},
		{"?writeImage", "writeImage(path: string"},
		{"?repeats", "repeats?: number"},
		{"?Math.sin", "The sine of an angle"},
		{"?JSON.stringify", "of JavaScript's JSON"},
		{"?Array.prototype.map", "Array.prototype.map"},
		{"?Array", "since ECMAScript 1"},
	} {
		if got := u.enters(c.asked); !strings.Contains(got, c.want) {
			t.Errorf("%s printed\n%s\nwithout %q", c.asked, got, c.want)
		}
	}
}

// TestHelpExplainsCodes checks that ? explains error codes, also as they occur in messages; variables of that name take
// precedence.
func TestHelpExplainsCodes(t *testing.T) {
	u := sit(t, 120, 40)
	u.prompted(0)
	for _, c := range []struct{ asked, want string }{
		{"?out-of-bounds", "out-of-bounds, an error code at run time"},
		{"?[cancelled]", "An operation was stopped"},
		{"?race", "race, an error code"},
		{"?out-of-bunds", `did you mean "out-of-bounds"?`},
		{"let race = 42, out = 50, of = 8", ""},
		{"?race", "42"},
		{"?out-of", "42"},
	} {
		if got := u.enters(c.asked); !strings.Contains(got, c.want) {
			t.Errorf("%s printed\n%s\nwithout %q", c.asked, got, c.want)
		}
	}
}
