package amd64

import (
	"bytes"
	"debug/elf"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// sample is an instruction to compare with GNU as.
type sample struct {
	op   Op
	args []Operand
}

// slot is the space of each instruction in the object file, so that a wrong length does not shift the others.
const slot = 16

// gas returns the code that GNU as emits for the text. It reports errors of GNU as with their entry of texts, each of which
// takes two lines after the first.
func gas(t *testing.T, text []byte, texts ...string) []byte {
	t.Helper()
	as, err := exec.LookPath("as")
	if err != nil {
		t.Skip("GNU as (binutils) is not installed: the encoder is not compared")
	}
	dir := t.TempDir()
	source, object := filepath.Join(dir, "x.s"), filepath.Join(dir, "x.o")
	if err := os.WriteFile(source, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(as, "-o", object, source).CombinedOutput(); err != nil {
		lines := strings.SplitAfter(string(out), "\n")
		for _, l := range lines[:min(len(lines), 40)] {
			var n int
			if _, rest, ok := strings.Cut(l, "x.s:"); ok {
				fmt.Sscanf(rest, "%d:", &n)
			}
			if i := (n - 2) / 2; n >= 2 && i < len(texts) {
				l = texts[i] + "\t" + l
			}
			t.Error(l)
		}
		t.FailNow()
	}
	f, err := elf.Open(object)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	code, err := f.Section(".text").Data()
	if err != nil {
		t.Fatal(err)
	}
	return code
}

// compareWithGas assembles the samples with this package and their printed text with GNU as, and reports each difference.
func compareWithGas(t *testing.T, samples []sample) (compared int) {
	t.Helper()
	var text bytes.Buffer
	text.WriteString("\t.intel_syntax noprefix\n")
	a := New(AllFeatures)
	mine := make([][]byte, len(samples))
	texts := make([]string, len(samples))
	for i, s := range samples {
		a.Reset(AllFeatures)
		a.Emit(s.op, s.args...)
		if a.Err() != nil {
			t.Fatalf("%v", a.Err())
		}
		texts[i] = a.in.String()
		code, err := a.Finish()
		if err != nil {
			t.Fatal(err)
		}
		mine[i] = bytes.Clone(code)
		fmt.Fprintf(&text, "%s\n.p2align 4,0xf4\n", texts[i])
	}
	theirs := gas(t, text.Bytes(), texts...)
	bad := 0
	for i, m := range mine {
		at := theirs[i*slot:]
		if shortExchange(samples[i], at) {
			continue
		}
		if !bytes.Equal(at[:len(m)], m) || len(m) < slot && at[len(m)] != 0xF4 {
			if bad++; bad <= 40 {
				t.Errorf("%s: % x, GNU as: % x", texts[i], m, at[:slot])
			}
		}
	}
	if bad > 0 {
		t.Errorf("%d of %d differ", bad, len(mine))
	}
	return len(mine)
}

var full = flag.Bool("full", false, "compare all samples with GNU as, not one in 37")

// TestAgainstGas compares every form with GNU as, over registers, addresses, immediates and modifiers.
func TestAgainstGas(t *testing.T) {
	total := 0
	for _, forms := range families {
		t.Run(fmt.Sprint(forms[0].op, " to ", forms[len(forms)-1].op), func(t *testing.T) {
			g := generator{stride: stride}
			if *full {
				g.stride = 1
			}
			for j := range forms {
				g.form(&forms[j])
				if len(g.samples) > 100_000 { // bounds the memory that as needs
					total += compareWithGas(t, g.samples)
					g.samples = g.samples[:0]
				}
			}
			total += compareWithGas(t, g.samples)
		})
	}
	t.Logf("%d instructions compared", total)
}

// stride is prime, so that it is no multiple of the periods in the samples.
const stride = 37

// shortExchange reports whether GNU as chose the short form of xchg with the accumulator, which the tables lack. Operand
// order does not matter there, and the code 90 for eax, eax is a nop.
func shortExchange(s sample, theirs []byte) bool {
	if s.op != XCHG {
		return false
	}
	a, ok := s.args[0].(Reg)
	b, ok2 := s.args[1].(Reg)
	if !ok || !ok2 || a.Bytes() == 1 {
		return false
	}
	if a.Num() != 0 {
		a, b = b, a
	}
	want := []byte{}
	if a.Bytes() == 2 {
		want = append(want, 0x66)
	}
	rex := byte(b.Num() >> 3)
	if a.Bytes() == 8 && b.Num() != 0 {
		rex |= 8
	}
	if rex != 0 {
		want = append(want, 0x40|rex)
	}
	want = append(want, 0x90|byte(b.Num()&7), 0xF4)
	return a.Num() == 0 && bytes.HasPrefix(theirs, want)
}
