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
	library, err := kernels.New()
	if err != nil {
		t.Fatal(err)
	}
	r := elementwise("sin", "f32", "f32", "math.sin %a", "0.5", "0.479425539")
	c := r.launch(t)
	m := &ir.Module{Kernels: []*ir.Kernel{c.Kernel}}
	if err := library.Expand(m); err != nil || kernels.Needed(m) {
		t.Fatalf("calls remain, or %v", err)
	}
	out, err := Run(c)
	if err != nil || read(out.Data[1]) != scalarBits(ir.F32, "0.479425539") {
		t.Errorf("the sine is % x, %v", out.Data[1], err)
	}
}

// edit changes a module's binary form and corrects its checksum.
func edit(data []byte, change func([]byte)) []byte {
	data = slices.Clone(data[:len(data)-4])
	change(data)
	return binary.LittleEndian.AppendUint32(data, crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)))
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

// TestEveryRuleIsCited compares the numbered sentences of the page with the comments of tests that cite them.
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
