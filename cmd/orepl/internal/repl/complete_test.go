package repl_test

import (
	"strings"
	"testing"
)

// Completion goes by the documentation where there is no value: options and their values, and what ? explains.
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
		{"Math.fas", "Math.fast"},
		{"Math.fast.si", "Math.fast.sin"},
		{"Math.flo", "Math.floor"},
		{"?LaunchOp", "?LaunchOptions"},
		{"?LaunchOptions.che", "?LaunchOptions.checks"},
		{"?timers.clearTi", "?timers.clearTimeout"},
		{"?fs.appendTextS", "?fs.appendTextSync"},
		{"({ lab", "({ lab"}, // of no call
		{"dev.buffer(f32, 10, { la: { lab", "dev.buffer(f32, 10, { la: { lab"},
	} {
		row := u.row()
		u.types(c.typed)
		u.press("\t")
		u.edits("> " + c.line)
		u.press("\x03")
		u.prompted(row)
	}
}

// ? finds types of options, and names that are members of something.
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
	} {
		if got := u.enters(c.asked); !strings.Contains(got, c.want) {
			t.Errorf("%s printed\n%s\nwithout %q", c.asked, got, c.want)
		}
	}
}

// ? explains codes of errors, as they stand in messages too; a variable of that name comes first.
func TestHelpExplainsCodes(t *testing.T) {
	u := sit(t, 120, 40)
	u.prompted(0)
	for _, c := range []struct{ asked, want string }{
		{"?out-of-bounds", "out-of-bounds, a code of errors at run time"},
		{"?[cancelled]", "It was ended from outside"},
		{"?race", "race, a code of errors"},
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
