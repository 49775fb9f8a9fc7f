package opt_test

import (
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel/analysis"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/irgen"
	"github.com/orepl/orepl/lang/kernel/opt"
	"github.com/orepl/orepl/tests/golden"
)

// TestEffect compares the effect of each pass on random kernels, and the results of the analyses, with testdata/effect.golden.
// It detects a pass that stops optimizing although results stay correct.
//
// Each line describes a kernel. It has the number of instructions initially, after each pass in turn, and after repeating all
// of them. The proofs, the facts, and a checksum of all intermediate texts follow.
func TestEffect(t *testing.T) {
	const file = "testdata/effect.golden"
	var got strings.Builder
	for seed := range uint64(70) {
		got.WriteString(effect(t, seed) + "\n")
	}
	golden.Compare(t, file, got.String(), *update)
}

func effect(t *testing.T, seed uint64) string {
	rng := rand.New(rand.NewPCG(seed, 4))
	c := irgen.Case(rng, irgen.Options{Size: 20 + rng.IntN(120), NoFaults: seed%2 == 1, Groups: seed%3 == 0, Subgroups: seed%6 == 0, Tiles: seed%5 < 2})
	m := irgen.Module(c.Kernel)
	sum := crc32.NewIEEE()
	note := func(format string, args ...any) string {
		text := fmt.Sprintf(format, args...)
		_, _ = sum.Write([]byte(text))
		return text
	}
	line := fmt.Sprintf("%d: %d instructions", seed, instructions(m))
	for _, facts := range []*opt.Facts{nil, trueFacts(t, c)} {
		passed := m.Clone()
		for _, p := range opt.Passes(opt.Default) {
			p.Run(passed.Kernels[0], facts)
			passed.Kernels[0].Renumber()
			note("%v", passed)
			line += fmt.Sprintf(", %s %d", p.Name, instructions(passed))
		}
		all := m.Clone()
		opt.Run(all, opt.Default, facts)
		note("%v", all)
		line += fmt.Sprintf(", all %d, %d proved", instructions(all), proofs(all))
		opt.IfConvert(all.Kernels[0], 4)
		all.Kernels[0].Renumber()
		note("%v", all)
		line += fmt.Sprintf(", branches joined %d", instructions(all))
		k := all.Kernels[0]
		var list []string
		for _, f := range opt.IndexFacts(k, facts) {
			list = append(list, f.String())
		}
		line += fmt.Sprintf(", %d and %d facts", len(list), len(opt.SizeFacts(k)))
		note("%v %v", list, opt.SizeFacts(k))
		doubts, affine := opt.Doubts(k, facts), analysis.FindAffine(k, k.Uniformity(ir.Scope{}))
		k.Body.Walk(func(in *ir.Instr) {
			note("%v", doubts[in])
			for _, r := range in.Results {
				strides, ok := affine.Strides(r)
				note("%v %v", strides, ok)
			}
		})
	}
	return fmt.Sprintf("%s #%08x", line, sum.Sum32())
}

func instructions(m *ir.Module) (n int) {
	m.Kernels[0].Body.Walk(func(*ir.Instr) { n++ })
	return n
}

func proofs(m *ir.Module) (n int) {
	m.Kernels[0].Body.Walk(func(in *ir.Instr) {
		for bits := in.Proved; bits != 0; bits &= bits - 1 {
			n++
		}
	})
	return n
}
