package spmd

import (
	"flag"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/irgen"
	"github.com/orepl/orepl/tests/golden"
)

var update = flag.Bool("update", false, "write what the code of many kernels looks like into testdata")

// TestCode compares the code of many kernels with testdata/code.golden: results that are right do not show that the code
// got longer, that a register went to memory, or that a fault is told in another place.
//
// A line is a kernel on a target: how many registers its gangs have, then for one kind of launches, and perhaps stacked
// gangs and groups of one gang, the bytes of code, of a gang's frame and of the context, and how often it traps; at the
// end a checksum of all code with what Go knows of it. When what the compiler does changes on purpose, -update writes the
// file anew.
func TestCode(t *testing.T) {
	const file = "testdata/code.golden"
	var lines []string
	var work Workspace
	for i, k := range codeKernels(t) {
		if testing.Short() && i%8 > 0 { // some will do
			continue
		}
		for _, target := range []*target{&avx512, &avx2} {
			lines = append(lines, fmt.Sprintf("%s, %s: %s\n", k.name, target.name, codeLine(t, k, target, &work)))
		}
	}
	if !testing.Short() {
		golden.Compare(t, file, strings.Join(lines, ""), *update)
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines {
		if !strings.Contains(string(want), line) {
			t.Errorf("%s has no line %s", file, line)
		}
	}
}

type codeKernel struct {
	name    string
	kernel  *ir.Kernel
	options Options
	launch  int // which kind of launches: any, those for which all is proved, or such as write much besides
}

// codeKernels are the kernels of many tests of results, typical ones, and random ones, with options that their names choose.
func codeKernels(t *testing.T) (list []codeKernel) {
	gangs := []int{0, 1, 2, 4, 0}
	add := func(name string, k *ir.Kernel) {
		n := int(crc32.ChecksumIEEE([]byte(name)) >> 8) // whatever other kernels there are
		o := Options{Gang: gangs[n%len(gangs)], Unchecked: n%7 == 3, rounds: n%3 == 1, few: n/2%2 == 0}
		list = append(list, codeKernel{name, k, o, n / 105 % 3})
	}
	for _, k := range typicalKernels {
		typical := anyRank(t, k.text)
		for launch := range 3 {
			list = append(list, codeKernel{k.name, typical, Options{}, launch})
		}
		list = append(list, codeKernel{k.name + ", few registers", typical, Options{few: true}, 0})
		add(k.name+", with options", typical)
	}
	for n, ops := range operationGroups() {
		add(fmt.Sprintf("operations %d", n), operations(ops, false))
		add(fmt.Sprintf("operations %d, uniform", n), operations(ops, true))
	}
	for _, typ := range irgen.Values {
		k, _ := allTogether(t, typ)
		add(fmt.Sprintf("together, %v", typ), k)
	}
	for _, typ := range []ir.Type{ir.F32, ir.F64} {
		add(fmt.Sprintf("choices, %v", typ), parse(t, strings.ReplaceAll(choices, "T", typ.String())))
	}
	for _, s := range shapes {
		add(s.name, parse(t, s.text))
	}
	for _, c := range columnKernels {
		add(c.name, optimized(rank2(t, c.text, c.elem)))
	}
	for _, c := range barrierKernels {
		add(c.name, optimized(rank2(t, c.text, ir.F32)))
	}
	for _, c := range singleKernels {
		add(c.name, rank1(t, c.text, ir.F32, ir.F32))
	}
	for _, c := range batchKernels {
		add(c.name, rank1(t, c.text, ir.F32, ir.F32))
	}
	for seed := range uint64(80) {
		rng := rand.New(rand.NewPCG(seed, 7))
		c := irgen.Case(rng, irgen.Options{Size: 20 + rng.IntN(100), NoFaults: seed%2 == 1, Groups: seed%3 == 0, Subgroups: seed%6 == 0,
			Even: seed%9 == 0, Tiles: seed%5 == 0, Places: seed%4 == 0, Strides: seed%7 == 0})
		k := c.Kernel
		if seed%4 > 0 {
			k = optimized(k)
		}
		add(fmt.Sprintf("random %d", seed), k)
	}
	return list
}

// codeLine says what code a kernel gets on a target.
func codeLine(t *testing.T, k codeKernel, target *target, work *Workspace) string {
	o := k.options
	o.Workspace = work
	o.Features, o.CacheBytes, o.Past = target.features, 1<<20, true
	p, err := Compile(k.kernel, o)
	if err != nil {
		t.Fatal(err)
	}
	line := fmt.Sprintf("gang %d", p.options.Gang)
	sum := crc32.NewIEEE()
	add := func(name string, p *Program, kind int) {
		c, err := p.code(kind)
		if err != nil {
			line += fmt.Sprintf("; %s: %v", name, err)
			return
		}
		line += fmt.Sprintf("; %s %d + %d + %d", name, len(c.bytes), c.frame, c.context)
		if len(c.traps) > 0 {
			line += fmt.Sprintf(", %d traps", len(c.traps))
		}
		_, _ = sum.Write(c.bytes)
		fmt.Fprint(sum, c.layout, c.resume, c.ends, c.shared, c.lanes, c.small, c.batches, c.band, c.barrier, len(c.groups))
		for _, x := range c.traps {
			if x.in != nil {
				fmt.Fprint(sum, x.in.Site)
			}
			fmt.Fprint(sum, x.kind, x.axis, x.args, x.types, x.mask, x.results, x.uniform, x.x, x.end)
			for _, r := range slices.Concat(x.uses, x.defs) {
				v := &c.regs[r]
				fmt.Fprint(sum, v.class, v.phys, v.slot, v.shared, v.elem, c.constants[r])
			}
		}
	}
	proved := 0
	if len(p.facts)+len(p.indices) > 0 {
		proved |= kindWithin | kindIndices
	}
	if p.observes && !p.options.single {
		proved |= kindWhole | kindBeside
	}
	switch k.launch {
	case 0:
		add("any", p, 0)
	case 1:
		add("proved", p, proved)
	default:
		add("much", p, proved|[]int{kindHalves, kindPast}[len(k.name)%2])
	}
	if p.stacked != nil {
		add("stacked", p.stacked(), proved)
	}
	for i, single := range p.singles {
		if single != nil && (len(k.name)+i)%3 == 0 {
			add(fmt.Sprintf("single %d", 1<<i), single(), 0)
		}
	}
	return fmt.Sprintf("%s; %08x", line, sum.Sum32())
}
