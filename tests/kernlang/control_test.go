package kernlang

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/orepl/orepl/lang/kernel"
	"github.com/orepl/orepl/lang/kernel/diag"
	"github.com/orepl/orepl/lang/kernel/ir"
)

// form is a control construct around a body: COND is its condition, BODY its body, # a number for unique names. The texts
// are JavaScript with coerced integers, so node can run them unchanged.
type form struct {
	name, text string
	helper     bool // the body is in a helper function
	divergent  bool // its own condition differs between items
}

var forms = []form{
	{name: "if", text: "if (COND) { BODY }"},
	{name: "if-else", text: "if (COND) { BODY } else { s = Math.imul(s, 3) + 1 | 0 }"},
	{name: "else", text: "if (COND) s = s + 7 | 0; else { BODY }"},
	{name: "?:", text: "const h# = () => { BODY; return s ^ 5 }; s = s + (COND ? h#() : 11) | 0", helper: true},
	{name: "&&", text: "const h# = () => { BODY; return s & 1 }; s = s + (COND && h#()) | 0", helper: true},
	{name: "||", text: "const h# = () => { BODY; return s & 1 }; s = s + (COND || h#()) | 0", helper: true},
	{name: "&&=", text: "let b# = COND ? 3 : 0; const h# = () => { BODY; return 2 }; b# &&= h#(); s = s + b# | 0", helper: true},
	{name: "||=", text: "let b# = COND ? 3 : 0; const h# = () => { BODY; return 2 }; b# ||= h#(); s = s + b# | 0", helper: true},
	{name: "for", text: "for (let k# = 0; k# < (COND ? 3 : 1); k#++) { s = s + k# | 0; BODY }"},
	{name: "while", text: "let k# = COND ? 2 : 0; while (k# > 0) { k#--; BODY }"},
	{name: "do", text: "let k# = 0; do { BODY; k#++ } while (k# < 3 && COND)"},
	{name: "break", text: "for (let k# = 0; k# < 3; k#++) { if (COND && k# === 1) break; BODY }"},
	{name: "continue", text: "for (let k# = 0; k# < 3; k#++) { if (COND && k# === 1) continue; BODY }"},
	{name: "while-continue", text: "let k# = 0; while (k#++ < 3) { if (COND) { s = s ^ k#; continue } BODY }"},
	{name: "do-continue", text: "let k# = 0; do { if (COND) continue; BODY } while (++k# < 2)"},
	{name: "labelled break", text: "o#: for (let k# = 0; k# < 2; k#++) { for (let j# = 0; j# < 2; j#++) { if (COND && j# === 1) break o#; BODY } s = s + 1 | 0 }"},
	{name: "labelled continue", text: "o#: for (let k# = 0; k# < 2; k#++) { for (let j# = 0; j# < 2; j#++) { if (COND && j# === 1) continue o#; BODY } s = s + 1 | 0 }"},
	{name: "block break", text: "b#: { if (COND) break b#; BODY }"},
	{name: "switch", text: "switch (COND ? 1 : 3) { case 0: s = s + 1 | 0; case 1: { BODY } case 2: s = s ^ 12; break; default: s = s - 1 | 0 }"},
	{name: "switch default first", text: "switch (s & 3) { default: s = s ^ 5; case 2: if (COND) break; { BODY } case 1: s = s + 2 | 0 }", divergent: true},
	{name: "switch by value", text: "switch (s % 3) { case COND ? 1 : 0: { BODY } break; case -1: case 2: s = s + 3 | 0 }", divergent: true},
	{name: "helper return", text: "const h# = () => { if (COND) return 1; BODY; return 2 }; s = s + h#() | 0", helper: true},
	{name: "helper loop return", text: "const h# = () => { for (let k# = 0; k# < 3; k#++) { if (COND && k# === 1) return k#; BODY } return 9 }; s = s + h#() | 0", helper: true},
	{name: "return", text: "if (COND) { LEAVE } BODY"},
}

// mode is the behaviour of a condition: n is 2 in every launch.
type mode struct{ name, text string }

var modes = []mode{
	{"uniform true", "n > 1"},
	{"uniform false", "n > 2"},
	{"divergent", "(s >> 2 & 1) === 1"},
}

const divergentMode = 2

// nest is a choice of form and mode for each level, outermost first.
type nest []struct{ form, mode int }

func (n nest) String() string {
	var parts []string
	for _, l := range n {
		parts = append(parts, forms[l.form].name+" "+modes[l.mode].name)
	}
	return strings.Join(parts, " / ")
}

// text returns the nest around a body.
func (n nest) text(body string) string {
	inHelper := make([]bool, len(n)+1)
	for i, l := range n {
		inHelper[i+1] = inHelper[i] || forms[l.form].helper
	}
	for i := len(n) - 1; i >= 0; i-- {
		f := &forms[n[i].form]
		leave := "y[i] = s; return"
		if inHelper[i] {
			leave = "return 4"
		}
		body = strings.NewReplacer("COND", modes[n[i].mode].text, "BODY", body, "LEAVE", leave, "#", fmt.Sprint(i)).Replace(f.text)
	}
	return body
}

func (n nest) divergent() bool {
	for _, l := range n {
		if l.mode == divergentMode || forms[l.form].divergent {
			return true
		}
	}
	return false
}

// has reports whether a level has this mode.
func (n nest) has(mode int) bool {
	for _, l := range n {
		if l.mode == mode {
			return true
		}
	}
	return false
}

// nests returns all nests with this number of levels.
func nests(levels int) []nest {
	out := []nest{nil}
	for range levels {
		var next []nest
		for _, n := range out {
			for f := range forms {
				for m := range modes {
					next = append(next, append(n[:len(n):len(n)], struct{ form, mode int }{f, m}))
				}
			}
		}
		out = next
	}
	return out
}

// mostly omits most nests with a false uniform condition, which resemble those with a true one.
func mostly(list []nest) (out []nest) {
	for i, n := range list {
		if !n.has(1) || i%7 == 0 {
			out = append(out, n)
		}
	}
	return out
}

func everyNth(list []nest, n int) (out []nest) {
	for i := 0; i < len(list); i += n {
		out = append(out, list[i])
	}
	return out
}

const controlItems = 37

func controlProgram(n nest) *Program {
	a, y := make([]byte, 4*controlItems), make([]byte, 4*controlItems)
	for i := range controlItems {
		binary.LittleEndian.PutUint32(a[4*i:], uint32(i)*2654435761)
	}
	number := kernel.Arg{Kind: kernel.Scalar, Type: ir.I32}
	return &Program{
		Text: "(g, n, a, y) => { const i = g.x; let s = a[i]; " + n.text("s = Math.imul(s, 31) + i + 7 | 0") + "; y[i] = s }",
		Args: []Arg{{Arg: number, Value: 2}, buffer(ir.I32, a), buffer(ir.I32, y)}, Size: [3]int{controlItems, 1, 1},
	}
}

// Flags for partial runs: all nestings of three forms take hours.
var (
	nestings     = flag.Int("nestings", 0, "nestings of three control forms to run; 0: every 997th, or all in a long run")
	firstNesting = flag.Int("first-nesting", 0, "number of the first of them")
)

// TestControl nests each control construct in each other, under uniform and divergent conditions, and compares the results
// with the same text in node.
func TestControl(t *testing.T) {
	t.Parallel()
	list := append(nests(1), nests(2)...)
	if !long {
		list = mostly(list)
	}
	if testing.Short() {
		list = everyNth(list, 3)
	}
	three := nests(3)
	switch {
	case *nestings > 0: // only the chosen nestings
		list = three[min(*firstNesting, len(three)):min(*firstNesting+*nestings, len(three))]
	case long:
		list = append(list, three...)
	default:
		list = append(list, everyNth(three, 997)...)
	}
	p := newPool(t)
	const batch = 400
	for at := 0; at < len(list); at += batch {
		part := list[at:min(at+batch, len(list))]
		p.do(func(r *Runner) { controlBatch(t, r, part) })
	}
	p.wait()
	t.Logf("%d cells (control forms × conditions × nesting), on interpreter, optimised IR, emitted JavaScript and plain JavaScript", len(list))
}

func controlBatch(t *testing.T, r *Runner, list []nest) {
	var programs []*Program
	for _, n := range list {
		programs = append(programs, controlProgram(n))
	}
	plain, err := plainJavaScript(programs)
	if err != nil {
		t.Error(err)
		return
	}
	for i, p := range programs {
		res, err := r.Run(p)
		if err != nil {
			t.Errorf("%v: %v\n%s", list[i], err, p.Text)
			continue
		}
		if plain == nil {
			continue
		}
		for x := range controlItems {
			if got := int32(binary.LittleEndian.Uint32(res.Data[2][4*x:])); got != plain[i][x] {
				t.Errorf("%v: item %d is %d, JavaScript gives %d\n%s", list[i], x, got, plain[i][x], p.Text)
				break
			}
		}
	}
}

// plainJavaScript runs the texts of programs (n, a, y) in node. It returns nil without node.
func plainJavaScript(programs []*Program) ([][]int32, error) {
	node, err := exec.LookPath("node")
	if err != nil {
		return nil, nil
	}
	var texts []string
	for _, p := range programs {
		texts = append(texts, p.Text)
	}
	quoted, err := json.Marshal(texts)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(node, "-")
	cmd.Stdin = strings.NewReader(fmt.Sprintf(`const out = []
for (const text of %s) {
  const kernel = (0, eval)(text), a = new Int32Array(%d), y = new Int32Array(a.length)
  for (let i = 0; i < a.length; i++) a[i] = Math.imul(i, 2654435761)
  for (let x = 0; x < a.length; x++) kernel({x}, 2, a, y)
  out.push([...y])
}
console.log(JSON.stringify(out))
`, quoted, controlItems))
	data, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	var out [][]int32
	return out, json.Unmarshal(data, &out)
}

// TestBarriers inserts a barrier in and after every nest of two statements. It must be an error exactly if a condition
// around it is divergent, or items may have returned.
func TestBarriers(t *testing.T) {
	t.Parallel()
	list := append(nests(1), nests(2)...)
	if !long {
		list = mostly(list)
	}
	if testing.Short() {
		list = everyNth(list, 4)
	}
	p := newPool(t)
	var mu sync.Mutex
	refused := 0
	cells := 0
	for _, n := range list {
		cells += 2
		p.do(func(r *Runner) {
			for _, behind := range []bool{false, true} {
				if barrierCell(t, r, n, behind) {
					mu.Lock()
					refused++
					mu.Unlock()
				}
			}
		})
	}
	p.wait()
	t.Logf("%d cells (barrier in or behind control forms × conditions), %d of them errors", cells, refused)
}

func barrierCell(t *testing.T, r *Runner, n nest, behind bool) (refused bool) {
	const exchange = "m[l] = s; g.barrier(); s = s + m[63 - l] | 0; g.barrier()"
	p := controlProgram(n)
	inside, after := exchange, ""
	want := n.divergent()
	if behind {
		inside, after = "s = s + 1 | 0", exchange
		want = leaves(n)
	}
	p.Text = "(g, n, a, y) => { const i = g.x, l = g.local.x, m = g.shared(i32, 64); let s = n; " + n.text(inside) + "; " + after + "; y[i] = s }"
	if n.divergent() {
		p.Text = strings.Replace(p.Text, "let s = n", "let s = a[i]", 1)
	}
	p.GroupSize = [3]int{64, 1, 1}
	_, err := r.Run(p)
	var list diag.List
	isDivergence := errors.As(err, &list) && list[0].ID == diag.DivergentGroup
	switch {
	case want && !isDivergence:
		t.Errorf("%v: got %v, expected %s\n%s", n, err, diag.DivergentGroup, p.Text)
	case !want && err != nil:
		t.Errorf("%v: %v\n%s", n, err, p.Text)
	}
	return want
}

// leaves reports whether a part of a group may have returned from the kernel.
func leaves(n nest) bool {
	divergent := false
	for _, l := range n {
		f := &forms[l.form]
		if f.helper {
			return false
		}
		divergent = divergent || l.mode == divergentMode || f.divergent
		if f.name == "return" && divergent {
			return true
		}
	}
	return false
}
