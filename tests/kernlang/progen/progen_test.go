package progen_test

import (
	"errors"
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel/diag"
	"github.com/orepl/orepl/lang/kernel/oracle"
	"github.com/orepl/orepl/tests/kernlang"
	"github.com/orepl/orepl/tests/kernlang/progen"
)

var (
	count = flag.Int("programs", 0, "programs to run; 0: 300, or 100000 in a long run")
	first = flag.Uint64("seed", 1, "seed of the first of them")
)

// TestRandomPrograms runs random programs in all implementations.
func TestRandomPrograms(t *testing.T) {
	n := *count
	if n == 0 {
		n = 300
		if os.Getenv("OREPL_TEST_LONG") == "1" {
			n = 100_000
		}
	}
	r, err := kernlang.NewRunner()
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}()
	refused, faults, reasons := 0, 0, map[diag.ID]int{}
	for seed := *first; seed < *first+uint64(n); seed++ {
		if done := seed - *first; done > 0 && done%5000 == 0 {
			t.Logf("%d programs agree so far", done)
		}
		p := progen.Generate(seed)
		res, err := r.Run(p)
		var list diag.List
		switch {
		case errors.As(err, &list) && list[0].ID != diag.Internal:
			refused++
			reasons[list[0].ID]++
			if testing.Verbose() && reasons[list[0].ID] == 1 {
				t.Logf("seed %d: %v\n%s", seed, list[0], progen.Scope(p.Scope)+p.Text)
			}
		case errors.Is(err, oracle.ErrNodeEnded):
			t.Fatalf("seed %d: %v\n%s%s", seed, err, progen.Scope(p.Scope), p.Text) // reducing needs a runner
		case err != nil:
			reduce(p, func() bool { return sameFailure(r, p, err) })
			t.Fatalf("seed %d: %v; reduced:\n%s%s", seed, err, progen.Scope(p.Scope), p.Text)
		case res.Fault != nil:
			faults++
		}
	}
	t.Logf("%d programs from seed %d on: %d with faults, %d refused: %v", n, *first, faults, refused, reasons)
	if refused*20 > n {
		t.Errorf("%d of %d programs do not compile", refused, n)
	}
}

// sameFailure reports whether a program still fails in the same way.
func sameFailure(r *kernlang.Runner, p *kernlang.Program, was error) bool {
	_, err := r.Run(p)
	var before, now *kernlang.DifferenceError
	if errors.As(was, &before) {
		return errors.As(err, &now) && now.Ways == before.Ways
	}
	return err != nil && strings.SplitN(err.Error(), ":", 2)[0] == strings.SplitN(was.Error(), ":", 2)[0]
}

// reduce removes lines while the program still fails.
func reduce(p *kernlang.Program, fails func() bool) {
	for again := true; again; {
		again = false
		lines := strings.Split(p.Text, "\n")
		for size := len(lines) / 2; size > 0; size /= 2 {
			for i := 1; i+size < len(lines); {
				before := p.Text
				p.Text = strings.Join(append(append([]string{}, lines[:i]...), lines[i+size:]...), "\n")
				if fails() {
					again = true
					lines = strings.Split(p.Text, "\n")
				} else {
					p.Text = before
					i++
				}
			}
		}
	}
}

// TestProgramsHaveAll checks that the programs of 400 seeds contain all constructs.
func TestProgramsHaveAll(t *testing.T) {
	parts := map[string]string{
		"a buffer of two dimensions":       `b0\[[^\]]*\]\[[^\]]*\]`,
		"one of three":                     `b0\[.*& [13]\]\[.*& [37]\]\[.*& 3\]`,
		"a row":                            `const w\d+ = .*b0\[`,
		"a shape":                          `b0\.shape`,
		"a flat index":                     `b0\.flat\[`,
		"an element of a matrix":           `z0\[g\.y\]\[g\.x\] [-+*]?=`,
		"a record of a buffer written":     `ps\[i\] = \{`,
		"a record of two dimensions":       `qs\[[^\]]*\]\[i & 7\]`,
		"a copy of a record":               `= \{\.\.\.`,
		"a choice of records":              `\? qs\[.* : qs\[`,
		"private records":                  `g\.private\(Particle`,
		"shared records":                   `mr\[l\] = `,
		"shared memory in two dimensions":  `g\.shared\(\w+, \d+, 2\)`,
		"private memory in two dimensions": `g\.private\(\w+, 4, 8\)`,
		"atomics in shared memory":         `Atomics\.\w+\(count`,
		"a helper inside":                  `= h\d+\(`,
		"a captured helper":                `[ (]f\d+\(`,
		"a helper of a reference":          `h\d+\(.*, ps\[i\]`,
		"a switch":                         `switch \(`,
		"a uniform switch":                 `switch \(K & 3\)`,
		"a labelled block":                 `l\d+: \{`,
		"a jump to a label":                `(break|continue) l\d+`,
		"a reduction":                      `g\.reduce\.`,
		"a scan":                           `g\.scan\.`,
		"a barrier in a construct":         `\n {4,}g\.barrier\(\)`,
		"four constructs in each other":    `\n {10}\S`,
		"a loop by steps":                  `for \(let k\d+ = .* < .*; k\d+ \+= `,
		"one that falls":                   `for \(let k\d+ = .* >= 0; k\d+ -= `,
		"one that falls unsigned":          `for \(let k\d+ = u32.* -= `,
		"a counter that may wrap":          `k\d+ = k\d+ [-+] (1073741824|2147483647|\(-)`,
		"a test of the next value":         `if \(j\d+ > 2147483646\) break`,
		"a guard of a counter":             `if \(k\d+ .*&& k\d+ .*\) `,
		"an assertion":                     `g\.assert\(`,
	}
	texts := make([]string, 400)
	for i := range texts {
		texts[i] = progen.Generate(uint64(i + 1)).Text
	}
	for what, pattern := range parts {
		re, n := regexp.MustCompile(pattern), 0
		for _, text := range texts {
			if re.MatchString(text) {
				n++
			}
		}
		if n < 4 {
			t.Errorf("%s: in %d of %d programs", what, n, len(texts))
		}
	}
}
