package ir

import "testing"

func TestSubscript(t *testing.T) {
	access := func(op Op, rank int) *Instr {
		in := &Instr{Op: op, Array: &Array{Elem: Elem{Scalar: F32}, Rank: rank, Space: Global}}
		for range rank {
			in.Path = append(in.Path, Step{Kind: StepIndex})
		}
		return in
	}
	for _, c := range []struct {
		op      Op
		rank, i int
		text    string
		want    string
	}{
		{Load, 1, 0, "x[i]", "i"},
		{Load, 1, 0, "x[k[g.x] + (2)]", "k[g.x] + (2)"},
		{Store, 1, 0, "m.flat[g.y * w + g.x]", "g.y * w + g.x"},
		{Load, 2, 0, "m[a][b]", "a"},
		{Load, 2, 1, "m[a][b]", "b"},
		{Load, 2, 0, "row[b]", ""},
		{Load, 2, 1, "row[b]", "b"},
		{Load, 1, 0, "f(x)[0]", ""},
		{Load, 1, 0, "x[something long…", ""},
		{Load, 1, 0, "x[something long…]", ""},
		{Load, 1, 0, "", ""},
		{Load, 1, 0, "x]", ""},
		{Atomic, 1, 0, "Atomics.add(h, i32(x[g.x]) & 15, 1)", "i32(x[g.x]) & 15"},
		{Atomic, 1, 0, "Atomics.add(h, f(a, b), 1)", "f(a, b)"},
		{Atomic, 1, 0, "Atomics.load(h, w)", "w"},
		{Atomic, 1, 0, "Atomics.add(h, some…", ""},
		{Atomic, 2, 0, "Atomics.add(m[a], b, 1)", "a"},
		{Atomic, 2, 1, "Atomics.add(m[a], b, 1)", "b"},
		{Atomic, 2, 0, "Atomics.add(row, b, 1)", ""},
	} {
		if got := access(c.op, c.rank).Subscript(c.i, c.text); got != c.want {
			t.Errorf("index %d of %q is %q, want %q", c.i, c.text, got, c.want)
		}
	}
	for text, want := range map[string]string{"": "", "i": "i", "i + 1": "i + 1", "x[a & 1]": "x[a & 1]", "a & 15": "(a & 15)", "i < 3 ? 1 : 2": "(i < 3 ? 1 : 2)", "f(a, b)": "f(a, b)"} {
		if got := Operand(text); got != want {
			t.Errorf("%q is the operand %q, want %q", text, got, want)
		}
	}
}
