// Command gen compiles the device library: the kernel-language sources under kernels/common become the IR that package
// kernels embeds. Run it by `go generate ./kernels`.
package main

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/orepl/orepl/lang/kernel"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/opt"
)

func main() {
	dir := flag.String("dir", "common/math", "folder of the sources")
	out := flag.String("o", "math.ir.bin", "file to write")
	flag.Parse()
	data, err := compile(*dir)
	if err == nil {
		err = os.WriteFile(*out, data, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// compile compiles the folder's library to the binary form of one module.
func compile(dir string) ([]byte, error) {
	lib, err := load(dir)
	if err != nil {
		return nil, err
	}
	m := &ir.Module{Files: []string{"kernels/common/math"}}
	for _, name := range slices.Sorted(maps.Keys(lib.functions)) {
		f := lib.functions[name]
		public, t, ok := publicName(name)
		if !ok {
			continue
		}
		k, err := f.compile(public, t)
		if err != nil {
			return nil, err
		}
		m.Kernels = append(m.Kernels, k)
	}
	if err := m.Verify(); err != nil {
		return nil, err
	}
	return m.MarshalBinary()
}

// maxArms is the number of instructions up to which both arms of a conditional are computed: on SIMD lanes and GPUs they
// cost less than the branch.
const maxArms = 12

// names are the functions that ir.Math may call; the sources give each a suffix for its type.
var names = strings.Fields("acos acosh asin asinh atan atan2 atanh cbrt cos cosh erf exp exp2 expm1 frexp frexp_exponent " +
	"hypot ldexp log log10 log1p log2 pow rsqrt sin sinh sqrt tan tanh")

// publicName splits "exp2_32" or "exp32" into the function's name and type, "fastExp32" being fast.exp; ok is false for a
// helper.
func publicName(name string) (public string, t ir.Type, ok bool) {
	for suffix, t := range map[string]ir.Type{"32": ir.F32, "64": ir.F64} {
		base, found := strings.CutSuffix(name, suffix)
		if !found {
			continue
		}
		base = strings.TrimSuffix(base, "_")
		if fast, is := strings.CutPrefix(base, "fast"); is && slices.Contains(names, strings.ToLower(fast)) {
			return "fast." + strings.ToLower(fast), t, true
		}
		if slices.Contains(names, base) {
			return base, t, true
		}
	}
	return "", ir.Void, false
}

// compile compiles a function as a kernel that computes it for scalar parameters and stores it in result[0].
func (f *function) compile(public string, t ir.Type) (*ir.Kernel, error) {
	params := strings.Join(f.params, ", ")
	src := &kernel.Source{
		Text: fmt.Sprintf("(g, %s, result) => { result[0] = library(%s) }", params, params),
		Capture: func(name string) (any, error) {
			if name == "library" {
				return f.source, nil
			}
			return nil, nil
		},
	}
	parsed, err := kernel.Parse(src)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.name, err)
	}
	var args []kernel.Arg
	for range f.params {
		args = append(args, kernel.Arg{Kind: kernel.Scalar, Type: t})
	}
	args = append(args, kernel.Arg{Kind: kernel.Buffer, Elem: ir.Elem{Scalar: t}, Rank: 1})
	c, err := parsed.Compile(args, kernel.Options{Name: public + "." + t.String()})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.name, err)
	}
	k := c.Kernel
	opt.Run(c.Module, opt.Basic, nil)
	keepPayloads(k)
	opt.IfConvert(k, maxArms)
	opt.Run(c.Module, opt.Basic, nil)
	k.Body.Walk(func(in *ir.Instr) { in.Site, in.Proved = 0, 0 })
	k.Sites = []ir.Site{{Text: k.Name}}
	return k, nil
}

// keepPayloads drops the tests by which bits(x) makes every NaN the canonical one. No function of the library lets the
// bits of a NaN reach its result, which the tests show with NaNs of every kind.
func keepPayloads(k *ir.Kernel) {
	with := map[*ir.Value]*ir.Value{}
	k.Body.Walk(func(in *ir.Instr) {
		if in.Op != ir.Select {
			return
		}
		test, cast := in.Args[0].Def, in.Args[1].Def
		if test != nil && test.Op == ir.Eq && test.Args[0] == test.Args[1] && cast != nil && cast.Op == ir.Bitcast && cast.Args[0] == test.Args[0] {
			with[in.Result()] = cast.Result()
		}
	})
	k.Body.ReplaceUses(with)
}
