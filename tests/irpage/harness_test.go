package irpage

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/irgen"
	"github.com/orepl/orepl/lang/kernel/opt"
	"github.com/orepl/orepl/lang/kernel/oracle"
)

// rule is a launch of a kernel in text form, with the expected results of the evaluator and the interpreter.
type rule struct {
	title  string // content of the page's sentence
	arrays string // declarations
	params string
	body   string   // without the final return
	args   []string // by parameter: elements or the scalar's value
	want   []string // expected contents of the last parameters
	size   [3]int   // zero: the number of elements of the last buffer
	group  [3]int   // zero: all items in one group
	width  int      // subgroup size; 0 means 32
	off    bool     // checks are off
	dims   []int32  // dimensions of the first buffer; nil: one dimension
	fault  string   // expected fault, as describe formats it
	prints []string
	places []string // expected sites and items of the prints; nil: any
}

// elementwise returns a rule for an operation on elements of buffers. In its text, %a, %b and %c are the operands; the last
// line is the operation without its result.
func elementwise(title, from, to, operation string, args ...string) rule {
	r := rule{title: title, args: args, want: args[len(args)-1:]}
	types := strings.Split(from, " ")
	r.body = "%100: i32 = item.global.x\n"
	for i, t := range types {
		name := string(rune('a' + i))
		r.params += fmt.Sprintf("%s: %s[*], ", name, t)
		r.body += fmt.Sprintf("%%%d: %v = load %s[%%100]\n", 101+i, elemType(t).Value(), name)
		operation = strings.ReplaceAll(operation, "%"+name, fmt.Sprintf("%%%d", 101+i))
	}
	r.params += "out: " + to + "[*]"
	last := strings.LastIndex(operation, "\n") + 1
	r.body += fmt.Sprintf("%s%%110: %v = %s\nstore out[%%100], %%110", operation[:last], elemType(to).Value(), operation[last:])
	r.args = append(slices.Clone(args[:len(args)-1]), strings.TrimSpace(strings.Repeat("0 ", len(strings.Fields(args[len(args)-1])))))
	return r
}

func elemType(name string) ir.Type {
	t, ok := ir.ParseType(name)
	if !ok {
		panic(name)
	}
	return t
}

// scalarBits parses a value of a storage type: a number, inf, nan, true, or its bits in hexadecimal.
func scalarBits(t ir.Type, s string) uint64 {
	if strings.HasPrefix(s, "0x") {
		b, err := strconv.ParseUint(s[2:], 16, 64)
		if err != nil {
			panic(err)
		}
		return b
	}
	switch {
	case t == ir.Bool:
		return boolBits(s == "true" || s == "1")
	case t.IsFloat():
		x, err := strconv.ParseFloat(s, 64)
		if err != nil {
			panic(err)
		}
		return stored(t, ir.FloatBits(t.Value(), x))
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		u, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			panic(err)
		}
		return u
	}
	return uint64(n)
}

func elements(t ir.Type, list string) (data []byte) {
	for _, s := range strings.Fields(list) {
		data = irgen.AppendElem(data, t, scalarBits(t, s))
	}
	return data
}

// flattened returns the scalar type in which a rule writes a buffer.
func flattened(e ir.Elem) ir.Type {
	for e.Record != nil {
		e = e.Record.Fields[0].Elem
	}
	return e.Scalar
}

func (r *rule) launch(t *testing.T) *oracle.Case {
	t.Helper()
	module := fmt.Sprintf("orepl-ir 2\nfile 0 \"f\"\nrecord R { a: u8 @0, b: u32[2] @4, c: u16 @12 } size 16 align 4\nkernel f(%s) real f32 {\n%s\n", r.params, r.arrays)
	for i := range 10 {
		module += fmt.Sprintf("  site %d = 0:%d:1 \"\"\n", i, i+1)
	}
	module += r.body
	if !strings.HasSuffix(r.body, "return") {
		module += "\nreturn"
	}
	m, err := ir.ParseText(r.title, module+"\n}\n")
	if err == nil {
		err = m.Verify()
	}
	if err != nil {
		t.Fatalf("%s: %v\n%s", r.title, err, module)
	}
	k := m.Kernels[0]
	opt.CanonicalizeNaNs(k)
	c := &oracle.Case{Kernel: k, Size: r.size, GroupSize: r.group, SubgroupSize: r.width, Unchecked: r.off}
	n := 0
	for i, p := range k.Params {
		if p.Array == nil {
			c.Args = append(c.Args, oracle.Arg{Bits: scalarBits(p.Type, r.args[i])})
			continue
		}
		data := elements(flattened(p.Array.Elem), r.args[i])
		n = len(data) / p.Array.Elem.Size()
		dims := []int32{int32(n)}
		if p.Array.ID == 0 && r.dims != nil {
			dims = r.dims
		}
		c.Args = append(c.Args, oracle.Arg{Data: data, Dims: dims})
	}
	if c.Size == [3]int{} {
		c.Size = [3]int{n, 1, 1}
	}
	if c.GroupSize == [3]int{} {
		c.GroupSize = c.Size
	}
	return c
}

func describe(f *oracle.Fault) string {
	if f == nil {
		return ""
	}
	s := fmt.Sprintf("%s at %d by %v", f.Kind, f.Site, f.Item)
	if f.Array != "" {
		s += fmt.Sprintf(": index %d of %s is %s of %s", f.Axis, f.Array, f.Index, f.Extent)
	}
	if f.Text != "" {
		s += ": " + f.Text
	}
	return s
}

// ways are the two ways of running a launch.
var ways = map[string]func(*oracle.Case) (*oracle.Outcome, error){
	"evaluator":   Run,
	"interpreter": func(c *oracle.Case) (*oracle.Outcome, error) { return c.Interp(interp.Options{}) },
}

// check runs a rule in the evaluator and in the interpreter.
func (r *rule) check(t *testing.T) {
	t.Helper()
	for name, run := range ways {
		c := r.launch(t)
		out, err := run(c)
		if err != nil {
			t.Errorf("%s, %s: %v", r.title, name, err)
			continue
		}
		if got := describe(out.Fault); got != r.fault {
			t.Errorf("%s, %s: fault %q, want %q", r.title, name, got, r.fault)
		}
		var prints, places []string
		for _, p := range out.Prints {
			prints, places = append(prints, p.Text), append(places, fmt.Sprint(p.Site, p.Item))
		}
		if r.places != nil && !slices.Equal(places, r.places) {
			t.Errorf("%s, %s: prints are at %q, want %q", r.title, name, places, r.places)
		}
		if !slices.Equal(prints, r.prints) {
			t.Errorf("%s, %s: prints %q, want %q", r.title, name, prints, r.prints)
		}
		for i, want := range r.want {
			at := len(c.Args) - len(r.want) + i
			elem := c.Kernel.Params[at].Array.Elem
			if data := elements(flattened(elem), want); !slices.Equal(data, out.Data[at]) {
				t.Errorf("%s, %s: argument %d is\n% x, want\n% x", r.title, name, at, out.Data[at], data)
			}
		}
	}
}

func checkAll(t *testing.T, rules []rule) {
	t.Helper()
	for i := range rules {
		rules[i].check(t)
	}
}

// series formats n values of a function as a rule writes them.
func series(n int, f func(i int) float64) string {
	var list []string
	for i := range n {
		x := f(i)
		s := strconv.FormatFloat(x, 'g', -1, 64)
		if math.IsInf(x, 0) {
			s = strings.TrimPrefix(strings.ToLower(s), "+")
		}
		list = append(list, s)
	}
	return strings.Join(list, " ")
}
