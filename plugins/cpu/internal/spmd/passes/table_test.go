package passes

import (
	"slices"
	"testing"

	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// TestOrder checks the order constraints of the table.
func TestOrder(t *testing.T) {
	for _, complaint := range misplaced(table) {
		t.Error(complaint)
	}
	reversed := slices.Clone(table)
	slices.Reverse(reversed)
	if got := misplaced(reversed); len(got) < len(table)-1 {
		t.Errorf("only %d complaints about the reverse order: %q", len(got), got)
	}
	names := Names()
	for i, p := range table {
		if slices.Contains(names[:i], p.name) {
			t.Errorf("two passes are named %s", p.name)
		}
	}
}

// TestRun checks which passes run for which functions, and that they see each other's results.
func TestRun(t *testing.T) {
	for _, c := range []struct {
		in   Input
		want []string
	}{
		{Input{Func: vcode.NewFunc(&vcode.AVX512, amd64.New(amd64.ForAVX512))}, []string{"licm", "lsr", "dce", "coalesce", "fold", "branches", "splitranges", "splitlocal"}},
		{Input{Func: vcode.NewFunc(&vcode.AVX2, amd64.New(amd64.ForAVX2)), TwoD: true}, Names()},
	} {
		r, dead := c.in.NewVec(), c.in.NewVec()
		c.in.Def(amd64.VPXORD, r.Z(), r.Z(), r.Z())
		c.in.Def(amd64.VPADDD, dead.Z(), r.Z(), r.Z())
		c.in.Use(amd64.VMOVUPS, vcode.FrameMem(0, 0).At(), r.Z())
		var ran []string
		if err := Run(&c.in, func(pass string) { ran = append(ran, pass) }); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(ran, c.want) {
			t.Errorf("%s: ran %q, want %q", c.in.Target.Name, ran, c.want)
		}
		if len(c.in.Insts) != 2 {
			t.Errorf("%s: %d instructions are left, want 2:\n%s", c.in.Target.Name, len(c.in.Insts), c.in.Func)
		}
	}
}

// TestRunFails checks the error of an instruction without an AVX2 expansion.
func TestRunFails(t *testing.T) {
	in := Input{Func: vcode.NewFunc(&vcode.AVX2, amd64.New(amd64.ForAVX2))}
	r := in.NewVec()
	in.Def(amd64.VPMOVDB, r.X(), r.Z())
	if Run(&in, nil) == nil {
		t.Error("no error")
	}
}
