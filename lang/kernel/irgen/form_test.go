package irgen

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
)

// hasForms reports whether an operation has forms. Arithmetic is in Operations; host and control operations have no list.
func hasForms(op ir.Op) bool {
	return op.IsMemory() || op.IsItem() || op.IsVersion2() && op != ir.Lib && !strings.HasPrefix(op.String(), "op(")
}

// known returns the values of a field that have a name; the string of any other value has its number in parentheses.
func known[T interface {
	~uint8
	String() string
}]() (list []T) {
	for v := range T(255) {
		if !strings.HasSuffix(v.String(), ")") {
			list = append(list, v)
		}
	}
	return list
}

// candidates returns all combinations of an operation's fields and types, including invalid ones.
func candidates(op ir.Op) (out []Form) {
	types := []ir.Type{ir.Void}
	switch {
	case op.IsMemory():
		types = Storage
	case op == ir.Reduce || op == ir.Scan || op == ir.Subgroup || op == ir.Uniform:
		types = Values
	}
	for _, t := range types {
		f := Form{Op: op, Type: t}
		switch op {
		case ir.Load, ir.Store, ir.Zero:
			for _, f.Space = range known[ir.Space]() {
				out = append(out, f)
			}
		case ir.Extent:
			for _, f.Space = range known[ir.Space]() {
				for f.Axis = range 4 {
					out = append(out, f)
				}
			}
		case ir.Atomic:
			for _, f.Space = range known[ir.Space]() {
				for _, f.Atomic = range known[ir.AtomicKind]() {
					out = append(out, f)
				}
			}
		case ir.Reduce, ir.Scan:
			for _, f.Combine = range known[ir.Combine]() {
				f.Exclusive = false
				out = append(out, f)
				if f.Exclusive = true; op == ir.Scan {
					out = append(out, f)
				}
			}
		case ir.Subgroup:
			for _, f.Subgroup = range known[ir.SubgroupKind]() {
				out = append(out, f)
			}
		case ir.Item:
			for _, f.Item = range known[ir.ItemKind]() {
				for f.Axis = range 4 {
					out = append(out, f)
				}
			}
		case ir.Fence:
			for _, f.Order = range known[ir.FenceOrder]() {
				for _, f.Reach = range known[ir.FenceReach]() {
					out = append(out, f)
				}
			}
		default:
			out = append(out, f)
		}
	}
	return out
}

// TestForms compares the list with the verifier: it has exactly the valid forms of each memory, group and version 2
// operation. The tests of back ends take their forms from the list, and would not notice one that it lacks.
func TestForms(t *testing.T) {
	forms := Forms()
	listed := map[Form]bool{}
	for _, f := range forms {
		if listed[f] {
			t.Errorf("%v is listed twice", f)
		}
		listed[f] = true
	}
	tried := 0
	for op := range ir.Op(255) {
		if !hasForms(op) {
			continue
		}
		if !slices.ContainsFunc(forms, func(f Form) bool { return f.Op == op }) {
			t.Errorf("Forms lacks %v: add it to form.go; its tests then name the back ends that lack it (ARCHITECTURE.md lists their files)", op)
			continue
		}
		for _, f := range candidates(op) {
			if listed[f] {
				tried++
			}
			if err := Module(FormCase(f).Kernel).Verify(); (err == nil) != listed[f] {
				t.Errorf("%v: listed in form.go: %v; verifier (ir/verify_instr.go): %v", f, listed[f], err)
			}
		}
	}
	if tried != len(forms) {
		t.Errorf("%d of %d listed forms were compared", tried, len(forms))
	}
}

// TestFormsRun interprets the case of each form, which must not fault.
func TestFormsRun(t *testing.T) {
	for _, f := range Forms() {
		out, err := FormCase(f).Interp(interp.Options{})
		if err != nil || out.Fault != nil {
			t.Errorf("%v: %v, outcome %+v", f, err, out)
		}
	}
}

// TestRandomForms checks that random kernels have each form, of at least one type.
func TestRandomForms(t *testing.T) {
	missing := map[Form]bool{}
	for _, f := range Forms() {
		f.Type = ir.Void
		missing[f] = true
	}
	for seed := uint64(0); seed < 2000 && len(missing) > 0; seed++ {
		rng := rand.New(rand.NewPCG(seed, 41))
		c := Case(rng, Options{Groups: seed%3 != 0, Subgroups: seed%2 == 0, Tiles: seed%5 == 0, Places: seed%3 == 1, Extended: seed%4 == 0, Size: 120})
		c.Kernel.Body.Walk(func(in *ir.Instr) {
			if !hasForms(in.Op) {
				return
			}
			f := Form{Op: in.Op, Atomic: in.Atomic, Combine: in.Combine, Exclusive: in.Exclusive, Subgroup: in.Subgroup, Item: in.Item, Axis: in.Axis, Order: in.Order, Reach: in.Reach}
			if in.Array != nil {
				f.Space = in.Array.Space
			}
			delete(missing, f)
		})
	}
	for f := range missing {
		switch {
		case f.Op == ir.Atomic && f.Space == ir.Shared && f.Atomic >= ir.AtomicExchange: // depends on the order of items; tallies are shared by a group
		case f.Op == ir.Item && f.Item == ir.GroupSize && f.Axis == 2: // the linear index in a group does not depend on it
		default:
			t.Errorf("no random kernel has %v: emit it in this package, or tests of random kernels do not run it", f)
		}
	}
}
