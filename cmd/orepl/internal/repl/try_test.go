package repl_test

import "testing"

func TestTry(t *testing.T) {
	u := sit(t, 80, 24)
	u.prompted(0)
	t.Log(u.enters("1 + 1"))
	t.Log(u.enters("const dev = device('cpu'), x = dev.buffer(f32, 1000, i => i * 0.5)"))
	t.Log(u.enters("x"))
	t.Log(u.enters("for (let i = 0; i < 2; i++) {", "console.log(i)", "}"))
	t.Log(u.enters("?x"))
	t.Log(u.enters("??x"))
	t.Log(u.enters("?device"))
	t.Log(u.enters("?dev"))
	t.Log(u.enters(".help"))
	t.Log(u.enters("setTimeout(() => console.log('tick'), 300);"))
	u.types("const half")
	u.press("\x1b[D\x1b[D")
	u.sees(0, "\ntick")
	u.press("X")
	u.edits("> const haXlf")
	u.press("\x03")
	u.prompted(u.row())
	t.Log(u.enters("while (true) {", "}   // never"))
}
