package spmd

import (
	"flag"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/irgen"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/exec"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
	"github.com/orepl/orepl/tests/golden"
)

var update = flag.Bool("update", false, "write what the code of kernels looks like into testdata")

// listedKernels are typical kernels with complete golden listings.
var listedKernels = []string{
	"saxpy", "roots", "attraction", "mixing", "stencil", "mandelbrot", "transpose", "a search", "gather and scatter", "histogram",
	"product by shared tiles", "sums of groups",
}

// TestListings compares the code of a dozen kernels with testdata/asm, for gangs of one register on both targets.
// -update rewrites the files; review their diff after an intended change.
func TestListings(t *testing.T) {
	for _, name := range listedKernels {
		i := slices.IndexFunc(typicalKernels, func(k struct{ name, text string }) bool { return k.name == name })
		k := anyRank(t, typicalKernels[i].text)
		for _, target := range allTargets {
			p, err := Compile(k, plan.Options{Features: target.Features, Gang: 1, CacheBytes: 1 << 20, Model: every})
			if err != nil {
				t.Fatal(err)
			}
			text, err := p.List(p.Listed(), func(site int) string { return k.Sites[site].Text })
			if err != nil {
				t.Fatal(err)
			}
			file := fmt.Sprintf("testdata/asm/%s.%s.s", strings.ReplaceAll(name, " ", "-"), target.Name)
			t.Run(name+" "+target.Name, func(t *testing.T) { golden.Compare(t, file, tidied(text), *update) })
		}
	}
}

var labels = regexp.MustCompile(`\.L\d+`)

// tidied returns a listing without unused labels, with the others renumbered, and with constants of equal elements on
// one line. A local change of code then changes few lines.
func tidied(listing string) string {
	used := map[string]int{}
	for line := range strings.Lines(listing) {
		if label := labels.FindString(line); label != "" && !strings.HasPrefix(line, ".L") {
			used[label] = 0
		}
	}
	var out strings.Builder
	var bytes []string // bytes of one constant
	flush := func() {
		if n := len(bytes); n > 4 && slices.Equal(bytes[4:], bytes[:n-4]) {
			out.WriteString("\t.byte " + strings.Join(bytes[:4], ",") + fmt.Sprintf(" # %d times\n", n/4))
		} else {
			for part := range slices.Chunk(bytes, 16) {
				out.WriteString("\t.byte " + strings.Join(part, ",") + "\n")
			}
		}
		bytes = nil
	}
	number := 0
	for line := range strings.Lines(listing) {
		if data, ok := strings.CutPrefix(line, "\t.byte "); ok {
			bytes = append(bytes, strings.Split(strings.TrimSpace(data), ",")...)
			continue
		}
		flush()
		if label := labels.FindString(line); strings.HasPrefix(line, ".L") {
			if _, ok := used[label]; !ok {
				continue
			}
			number++
			used[label] = number
		}
		out.WriteString(line)
	}
	flush()
	return labels.ReplaceAllStringFunc(out.String(), func(label string) string { return fmt.Sprintf(".L%d", used[label]) })
}

// TestCode compares the sizes of the code of many kernels with testdata/code.golden. Tests of results do not detect longer
// code, spilled registers or missing traps.
//
// Each line is for a kernel on a target. For a gang width and a class of launches, perhaps with 2-D gangs or one-gang
// groups, it has the bytes of code, frame and context, and the number of traps. A line of random kernels has sums over eight
// kernels. -update rewrites the file.
func TestCode(t *testing.T) {
	const file = "testdata/code.golden"
	var lines []string
	var work vcode.Workspace
	for _, k := range codeKernels(t) {
		for _, target := range allTargets {
			lines = append(lines, fmt.Sprintf("%s, %s: %s\n", k.name, target.Name, codeLine(t, k, target, &work)))
		}
	}
	for first := uint64(0); first < 80; first += 8 {
		for _, target := range allTargets {
			lines = append(lines, fmt.Sprintf("random %d to %d, %s: %s\n", first, first+7, target.Name, randomLine(t, first, target, &work)))
		}
	}
	golden.Compare(t, file, strings.Join(lines, ""), *update)
}

type codeKernel struct {
	name    string
	kernel  *ir.Kernel
	options plan.Options
	launch  int // class of launch: any, with all indices proved, or also with large outputs
}

// codeKernels returns typical kernels and kernels of other tests. A hash of the name selects their options.
func codeKernels(t *testing.T) (list []codeKernel) {
	gangs := []int{0, 1, 2, 4, 0}
	add := func(name string, k *ir.Kernel) {
		n := int(crc32.ChecksumIEEE([]byte(name)) >> 8) // independent of the other kernels
		o := plan.Options{Gang: gangs[n%len(gangs)], Unchecked: n%7 == 3, InterleaveAll: n%3 == 1, FewRegs: n/2%2 == 0}
		list = append(list, codeKernel{name, k, o, n / 105 % 3})
	}
	for _, k := range typicalKernels {
		typical := anyRank(t, k.text)
		for launch := range 3 {
			list = append(list, codeKernel{k.name, typical, plan.Options{}, launch})
		}
		list = append(list, codeKernel{k.name + ", few registers", typical, plan.Options{FewRegs: true}, 0})
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
	return list
}

// sizes are sums over the variants of one or more kernels.
type sizes struct{ code, frame, context, traps int }

func (s *sizes) add(c *exec.Code) {
	s.code, s.frame, s.context, s.traps = s.code+len(c.Bytes), s.frame+c.Frame, s.context+c.Context, s.traps+len(c.Traps)
}

func (s sizes) String() string {
	text := fmt.Sprintf("%d + %d + %d", s.code, s.frame, s.context)
	if s.traps > 0 {
		text += fmt.Sprintf(", %d traps", s.traps)
	}
	return text
}

// randomLine returns the sizes of the code of eight random kernels.
func randomLine(t *testing.T, first uint64, target *vcode.Target, work *vcode.Workspace) string {
	var all sizes
	for seed := first; seed < first+8; seed++ {
		rng := rand.New(rand.NewPCG(seed, 7))
		c := irgen.Case(rng, irgen.Options{Size: 20 + rng.IntN(100), NoFaults: seed%2 == 1, Groups: seed%3 == 0, Subgroups: seed%6 == 0,
			Even: seed%9 == 0, Tiles: seed%5 == 0, Places: seed%4 == 0, Strides: seed%7 == 0})
		k := c.Kernel
		if seed%4 > 0 {
			k = optimized(k)
		}
		p, err := Compile(k, plan.Options{Features: target.Features, Workspace: work, CacheBytes: 1 << 20, Model: every,
			Gang: []int{0, 1, 2, 4, 0}[seed%5], Unchecked: seed%7 == 3, InterleaveAll: seed%3 == 1, FewRegs: seed%2 == 0})
		if err != nil {
			t.Fatal(err)
		}
		code, err := p.code(p.spec(), nil)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		all.add(code)
	}
	return all.String()
}

// codeLine returns the golden line of a kernel on a target.
func codeLine(t *testing.T, k codeKernel, target *vcode.Target, work *vcode.Workspace) string {
	o := k.options
	o.Workspace = work
	o.Features, o.CacheBytes, o.Model = target.Features, 1<<20, every
	p, err := Compile(k.kernel, o)
	if err != nil {
		t.Fatal(err)
	}
	line := fmt.Sprintf("gang %d", p.gang)
	add := func(name string, spec Spec) {
		c, err := p.code(spec, nil)
		if err != nil {
			line += fmt.Sprintf("; %s: %v", name, err)
			return
		}
		var s sizes
		s.add(c)
		line += fmt.Sprintf("; %s %v", name, s)
	}
	proved := Spec{Gang: p.gang, Whole: p.observes, Adjacent: p.observes}
	proved.WithinExtents, proved.IndicesProved = p.facts.Any()
	switch k.launch {
	case 0:
		add("any", p.spec())
	case 1:
		add("proved", proved)
	default:
		much := proved
		much.Stores = []plan.Stores{plan.HalfLineStores, plan.NonTemporalStores}[len(k.name)%2]
		add("much", much)
	}
	if p.rows > 0 {
		add("stacked", p.Listed())
	}
	for i := 0; 1<<i <= p.oneGang; i++ {
		if (len(k.name)+i)%3 == 0 {
			add(fmt.Sprintf("single %d", 1<<i), Spec{Shape: plan.OneGang, Gang: 1 << i, Whole: true})
		}
	}
	return line
}
