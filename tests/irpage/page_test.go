package irpage

import (
	"encoding/binary"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/orepl/orepl/kernels"
	"github.com/orepl/orepl/lang/kernel/ir"
)

// TestLibrary expands a call of the device library, which the evaluator has no code for.
//
// [I2.11] math
func TestLibrary(t *testing.T) {
	t.Parallel()
	r := elementwise("sin", "f32", "f32", "math.sin %a", "0.5", "0.479425539")
	c := r.launch(t)
	m := &ir.Module{Kernels: []*ir.Kernel{c.Kernel}}
	if err := kernels.New().Expand(m); err != nil || kernels.Needed(m) {
		t.Fatalf("calls remain, or %v", err)
	}
	out, err := Run(c)
	if err != nil || read(out.Data[1]) != scalarBits(ir.F32, "0.479425539") {
		t.Errorf("the sine is % x, %v", out.Data[1], err)
	}
}

// edit returns a module's binary form after a change, with a corrected checksum.
func edit(data []byte, change func([]byte)) []byte {
	data = slices.Clone(data[:len(data)-4])
	change(data)
	return binary.LittleEndian.AppendUint32(data, crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)))
}

// TestVersion2 evaluates operations of version 2.
func TestVersion2(t *testing.T) {
	t.Parallel()
	head := "%1: i32 = item.global.x\n"
	checkAll(t, []rule{
		// [I16.1] fences, in any control flow
		{title: "fences", params: "out: i32[*]", args: []string{"0 0 0"}, want: []string{"0 1 2"}, body: head + "%2: i32 = const 1\n%3: bool = lt %1, %2\n" +
			"if %3 {\nfence.acquire.group\nfence.release.device\nyield\n}\nfence.both.system\nstore out[%1], %1"},
		// [I16.2] clocks
		{title: "clocks", params: "out: bool[*]", args: []string{"0 0 0"}, want: []string{"1 1 1"}, body: head + "%2: u64 = clock\n%3: u64 = clock\n" +
			"%4: bool = le %2, %3\nstore out[%1], %4"},
		// [I16.3] pauses
		{title: "a pause", params: "out: i32[*]", args: []string{"0 0"}, want: []string{"0 1"}, body: head + "pause\nstore out[%1], %1"},
		// [I17.3] the fallback of an extension
		{title: "an extension", params: "out: i32[*]", args: []string{"0 0 0"}, want: []string{"0 4 8"}, body: head + "%2: i32 = const 2\n" +
			"%3: i32 = block.scale @1 %1, %2 {\n%4: i32 = mul %1, %2\n%5: bool = lt %4, %2\nif %5 {\nbreak @1 %4\n}\n%6: i32 = add %4, %4\nyield %6\n}\nstore out[%1], %3"},
	})
}

// TestFunctions expands a call of a function with operands of two types, two results and an array.
//
// [I17.1] results
// [I17.2] arrays by reference
func TestFunctions(t *testing.T) {
	t.Parallel()
	var library *kernels.Library
	f, err := ir.ParseText("f", "orepl-ir 2\nkernel take(i %0: i32, by %1: u32, x: f32[*], was: f32[*], next: u32[*]) real f32 {\n%2: f32 = load x[%0]\n%3: f32 = neg %2\n"+
		"store x[%0], %3\n%4: u32 = add %1, %1\n%5: i32 = const 0\nstore was[%5], %2\nstore next[%5], %4\nreturn\n}\n")
	if err == nil {
		library, err = kernels.New().With(f)
	}
	if err != nil {
		t.Fatal(err)
	}
	r := rule{title: "take", params: "x: f32[*], a: f32[*], b: u32[*]", args: []string{"1 2 3", "0 0 0", "0 0 0"}, want: []string{"-1 -2 -3", "1 2 3", "14 14 14"},
		body: "%1: i32 = item.global.x\n%2: u32 = const 7\n%3: f32, %4: u32 = lib.take [x] %1, %2\nstore a[%1], %3\nstore b[%1], %4"}
	c := r.launch(t)
	if err := library.Expand(&ir.Module{Kernels: []*ir.Kernel{c.Kernel}}); err != nil {
		t.Fatal(err)
	}
	out, err := Run(c)
	if err != nil || out.Fault != nil {
		t.Fatalf("%v, fault %v", err, out.Fault)
	}
	for i, want := range r.want {
		if data := elements(c.Kernel.Params[i].Array.Elem.Scalar, want); !slices.Equal(data, out.Data[i]) {
			t.Errorf("argument %d is % x, want % x", i, out.Data[i], data)
		}
	}
}

func TestVersions(t *testing.T) {
	t.Parallel()
	m, err := ir.ParseText("f", "orepl-ir 1\nkernel f(n %0: bool) real f32 {\nassert.overflow %0, \"\"\nreturn\n}\n")
	if err != nil {
		t.Fatal(err)
	}
	data, err := m.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	// [I15.1] another version
	if _, err := ir.DecodeBinary(edit(data, func(b []byte) { b[8] = 7 })); err == nil || !strings.Contains(err.Error(), "version 7") || !strings.Contains(err.Error(), "1") {
		t.Errorf("version 7 is read: %v", err)
	}
	if _, err := ir.ParseText("f", "orepl-ir 7\n"); err == nil || !strings.Contains(err.Error(), "version 7") {
		t.Errorf("version 7 in text is read: %v", err)
	}
	// [I15.2] the code of assert.overflow, and one that is free
	at := slices.Index(data, 255)
	if at < 0 {
		t.Fatal("assert.overflow has another code")
	}
	if _, err := ir.DecodeBinary(edit(data, func(b []byte) { b[at] = 200 })); err == nil {
		t.Error("an operation with a free code is read")
	}
	if _, err := ir.DecodeBinary(edit(data, func([]byte) {})); err != nil {
		t.Error(err)
	}
}

// TestEveryRuleIsCited checks that tests cite each numbered sentence of the page in a comment.
func TestEveryRuleIsCited(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/kernel-ir.md")
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, m := range regexp.MustCompile(`\*\*(I\d+\.\d+)\*\* `).FindAllStringSubmatch(string(page), -1) {
		if _, twice := count[m[1]]; twice {
			t.Errorf("the page has two sentences %s", m[1])
		}
		count[m[1]] = 0
	}
	comment, cited := regexp.MustCompile(`(?m)^\s*//.*`), regexp.MustCompile(`\[(I\d+\.\d+)\]`)
	for _, root := range []string{".", "../../lang/kernel"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			for _, line := range comment.FindAllString(string(text), -1) {
				for _, m := range cited.FindAllStringSubmatch(line, -1) {
					if _, ok := count[m[1]]; !ok {
						t.Errorf("%s cites %s, and the page has no such sentence", path, m[1])
					}
					count[m[1]]++
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(count) < 50 {
		t.Errorf("the page has only %d numbered sentences", len(count))
	}
	for n, times := range count {
		if times == 0 {
			t.Errorf("no test cites %s", n)
		}
	}
}
