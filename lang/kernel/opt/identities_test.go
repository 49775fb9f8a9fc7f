package opt_test

import (
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/opt"
	"github.com/orepl/orepl/tests/golden"
)

// TestIdentities folds every operation on every type with the operands of identities, and compares the results with
// testdata/identities.golden. For each operation and type that file has the number of instructions before and after, and a
// checksum of the text.
func TestIdentities(t *testing.T) {
	const file = "testdata/identities.golden"
	constants := map[string][]string{
		"i32": {"0", "1", "-1", "4", "-2147483648"}, "u32": {"0", "1", "4294967295", "8"}, "i64": {"0", "1", "-1", "16", "5"},
		"u64": {"0", "1", "18446744073709551615", "32"}, "f32": {"0", "-0", "1", "-1", "0.5", "3", "nan"}, "f64": {"0", "-0", "1", "-1", "0.25"},
		"bool": {"true", "false"},
	}
	var got strings.Builder
	for _, typ := range []string{"i32", "u32", "i64", "u64", "f32", "f64", "bool"} {
		for op := ir.Const + 1; op < ir.Unreachable; op++ {
			if line := identities(op.String(), typ, constants[typ]); line != "" {
				got.WriteString(line + "\n")
			}
		}
	}
	golden.Compare(t, file, got.String(), *update)
}

// identities folds an operation with operands of a type. It returns "" if the operation does not support the type.
func identities(op, typ string, constants []string) string {
	var head strings.Builder
	fmt.Fprintf(&head, "orepl-ir 1\nkernel k(v %%0: %s, w %%1: %s, c %%2: bool, small %%3: i32, unsigned %%4: u32, single %%5: f32) {\n", typ, typ)
	operands := []string{"%0", "%1"}
	id := 10
	define := func(format string, args ...any) string {
		name := fmt.Sprint("%", id)
		id++
		fmt.Fprintf(&head, "%s: %s = %s\n", name, typ, fmt.Sprintf(format, args...))
		return name
	}
	for _, c := range constants {
		operands = append(operands, define("const %s", c))
	}
	// operands of further identities: the same operation twice, negations, and conversions
	for _, inner := range []string{op + " %0", "neg %0", "not %0", "abs %0", "floor %0", "convert %3", "convert %4", "convert %5", "lt %3, %3", "eq %3, %4", "le %5, %5", "lt %3, %3"} {
		before, n := head.String(), id
		name := define("%s", inner)
		if !valid(head.String()) {
			head.Reset()
			head.WriteString(before)
			id = n
			continue
		}
		operands = append(operands, name)
	}
	// the operation's form and result type depend only on the operands' type
	var forms []string
	for _, result := range []string{typ, "bool", "i32", "u32", "i64", "f32", "f64"} {
		for _, operands := range []string{"%0", "%0, %1", "%2, %0, %1", "%0, %1, %0", "%0, %3"} {
			form := fmt.Sprintf("%s = %s %s", result, op, operands)
			if valid(head.String()+"%900: "+form+"\n") && !slices.Contains(forms, form) {
				forms = append(forms, form)
			}
		}
	}
	if len(forms) == 0 {
		return ""
	}
	var body strings.Builder
	body.WriteString(head.String())
	for _, form := range forms {
		for _, x := range operands {
			for _, y := range operands {
				if y != "%0" && !strings.Contains(form, "%1") {
					continue
				}
				fmt.Fprintf(&body, "%%%d: %s\ncall.\"keep\" %%%d\n", id, strings.NewReplacer("%0", x, "%1", y).Replace(form), id)
				id++
			}
		}
	}
	m, err := ir.ParseText("identities", body.String()+"return\n}\n")
	if err != nil {
		return fmt.Sprintf("%s %s: %v", op, typ, err)
	}
	before := instructions(m)
	opt.Fold(m.Kernels[0], nil)
	m.Kernels[0].Renumber()
	return fmt.Sprintf("%s %s: %d instructions, %d folded #%08x", op, typ, before, instructions(m), crc32.ChecksumIEEE([]byte(m.String())))
}

func valid(text string) bool {
	m, err := ir.ParseText("identities", text+"return\n}\n")
	return err == nil && m.Verify() == nil
}
