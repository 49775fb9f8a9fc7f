package amd64

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestConstants places constants of all sizes and alignments, compares the code with GNU as, and checks each constant.
func TestConstants(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		a := New(AllFeatures)
		a.StartListing()
		type wanted struct {
			data  []byte
			align int
			label Label
		}
		var all []wanted
		places := map[string]Label{}
		use := func(data []byte, align int) {
			l := a.Const(data, align)
			if first, again := places[string(data)]; again && first != l {
				t.Errorf("% x has two places", data)
			}
			places[string(data)] = l
			if rng.IntN(3) > 0 {
				a.Emit(VMOVUPS, X(rng.IntN(16)), l.mem())
			}
			all = append(all, wanted{data, align, l})
		}
		for range 1 + rng.IntN(12) {
			data := make([]byte, 1+rng.IntN(70))
			if rng.IntN(2) == 0 {
				data = data[:min(16*(1+rng.IntN(3)), len(data))]
			}
			for i := range data {
				data[i] = byte(rng.Uint32())
			}
			use(data, 1<<rng.IntN(7))
			if rng.IntN(3) == 0 { // again, at another alignment
				use(bytes.Clone(data), 1<<rng.IntN(7))
			}
		}
		small, large := a.Const32(0x01020304), a.Const64(0x0102030405060708)
		a.Emit(VBROADCASTSS, X(1), small)
		a.Emit(VBROADCASTSD, Y(1), large)
		all = append(all, wanted{binary.LittleEndian.AppendUint32(nil, 0x01020304), 4, small.Label},
			wanted{binary.LittleEndian.AppendUint64(nil, 0x0102030405060708), 8, large.Label})
		a.Emit(RET)
		code, err := a.Finish()
		if err != nil {
			t.Fatal(err)
		}
		end := 0
		for _, w := range all {
			at, ok := a.Offset(w.label)
			if !ok || at%w.align != 0 || !bytes.HasPrefix(code[min(at, len(code)):], w.data) {
				t.Fatalf("% x at a multiple of %d: at %d of\n% x", w.data, w.align, at, code)
			}
			end = max(end, at+len(w.data))
		}
		if end != len(code) {
			t.Errorf("%d bytes of code, and the constants end at %d", len(code), end)
		}
		for line := range strings.Lines(a.Listing()) {
			if strings.TrimSpace(line) == ".byte" {
				t.Errorf("a constant's line is empty:\n%s", a.Listing())
				break
			}
		}
		if theirs := gas(t, []byte(a.Listing())); !bytes.Equal(code, theirs) {
			t.Errorf("% x\nGNU as:\n% x\n%s", code, theirs, a.Listing())
		}
	}
}

// TestAlign pads to every power of two, from every offset.
func TestAlign(t *testing.T) {
	for n := 1; n <= maxAlign; n *= 2 {
		for before := range 70 {
			a := New(AllFeatures)
			a.StartListing()
			for range before {
				a.Emit(NOP)
			}
			a.Align(n)
			l := a.NewLabel()
			a.Bind(l)
			a.Emit(RET)
			code, err := a.Finish()
			if err != nil {
				t.Fatal(err)
			}
			want := (before + n - 1) / n * n
			if at, ok := a.Offset(l); !ok || at != want || len(code) != want+1 {
				t.Fatalf("%d bytes, then a multiple of %d: at %d of %d bytes", before, n, at, len(code))
			}
			// Padding consists of nops of at most nine bytes.
			for rest := code[before:want]; len(rest) > 0; {
				k := min(len(rest), len(nops)-1)
				if string(rest[:k]) != nops[k] {
					t.Fatalf("% x is not what was to be padded with", rest)
				}
				rest = rest[k:]
			}
			if got := strings.Contains(a.Listing(), ".balign"); got != (n > 1) {
				t.Errorf("multiples of %d: the listing says so: %v", n, got)
			}
		}
	}
}

// TestLabels checks that invalid labels, constants and alignments are errors.
func TestLabels(t *testing.T) {
	for _, c := range []struct {
		name string
		use  func(a *Assembler)
		want string // text of the error
	}{
		{"bound twice", func(a *Assembler) { l := a.NewLabel(); a.Bind(l); a.Bind(l) }, "bind: label 1 is bound already"},
		{"never bound, branch", func(a *Assembler) { a.NewLabel(); a.Emit(JMP, a.NewLabel()) }, "label 2 is used but not bound"},
		{"never bound, address", func(a *Assembler) { a.Emit(LEA, RAX, a.NewLabel().mem()) }, "label 1 is used but not bound"},
		{"never used", func(a *Assembler) { a.NewLabel(); a.NewLabel() }, ""},
		{"another's, bound", func(a *Assembler) { a.NewLabel(); a.Bind(2) }, "bind: label 2 is not of this assembler"},
		{"none, bound", func(a *Assembler) { a.NewLabel(); a.Bind(0) }, "bind: label 0 is not of this assembler"},
		{"another's, branch", func(a *Assembler) { a.Emit(JMP, Label(1)) }, "branch: label 1 is not of this assembler"},
		{"another's, address", func(a *Assembler) { a.Emit(LEA, RAX, Label(3).mem()) }, "address: label 3 is not of this assembler"},
		{"align 0", func(a *Assembler) { a.Align(0) }, "align: 0 is not a power of two up to 64"},
		{"align 24", func(a *Assembler) { a.Align(24) }, "align: 24 is not"},
		{"align 128", func(a *Assembler) { a.Align(128) }, "align: 128 is not"},
		{"constant, align 0", func(a *Assembler) { a.Const([]byte{1}, 0) }, "constant: alignment 0 is not a power of two up to 64"},
		{"constant, align 1", func(a *Assembler) { a.Const([]byte{1}, 1) }, ""},
		{"constant, align 6", func(a *Assembler) { a.Const([]byte{1}, 6) }, "constant: alignment 6 is not"},
		{"constant, align 64", func(a *Assembler) { a.Const([]byte{1}, 64) }, ""},
		{"constant, align 128", func(a *Assembler) { a.Const([]byte{1}, 128) }, "constant: alignment 128 is not"},
		{"constant without data", func(a *Assembler) { a.Const(nil, 4) }, "constant: no data"},
		{"the first error stays", func(a *Assembler) { a.Align(3); a.Align(5); a.Emit(JMP, Label(9)) }, "align: 3 is not"},
	} {
		a := New(AllFeatures)
		c.use(a)
		a.Emit(RET)
		_, err := a.Finish()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	a := New(AllFeatures)
	bound, unbound := a.NewLabel(), a.NewLabel()
	a.Emit(RET)
	a.Bind(bound)
	if _, err := a.Finish(); err != nil {
		t.Fatal(err)
	}
	for l, want := range map[Label]int{bound: 1, unbound: -1, 0: -1, 3: -1, -1: -1} {
		if at, ok := a.Offset(l); ok != (want >= 0) || at != max(want, 0) {
			t.Errorf("label %d is at %d, %v, want %d", l, at, ok, want)
		}
	}
	if a.Emit(NOP); a.Err() != errFinished {
		t.Errorf("after the end: %v", a.Err())
	}
}
