package lower_test

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/irgen"
	"github.com/orepl/orepl/lang/kernel/lower"
)

// FuzzLower lowers any module that decodes. The kernel is unsupported, or its lowered form verifies and contains only leaves.
// The input is the part between the magic and the checksum.
func FuzzLower(f *testing.F) {
	for _, name := range []string{"../ir/testdata/all.irb", "../ir/testdata/v1/all.irb"} {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data[8 : len(data)-4])
	}
	for seed := range uint64(6) {
		c := irgen.Case(rand.New(rand.NewPCG(seed, 5)), irgen.Options{Groups: seed%2 == 0, Subgroups: seed%4 == 0, Extended: true, Size: 20})
		data, err := irgen.Module(c.Kernel).MarshalBinary()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data[8 : len(data)-4])
	}
	list := targets(f)
	empty, err := (&ir.Module{}).MarshalBinary()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		data = append(slices.Clone(empty[:8]), data...)
		data = binary.LittleEndian.AppendUint32(data, crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)))
		m, err := ir.DecodeBinary(data)
		if err != nil {
			return
		}
		for i, k := range m.Kernels {
			target := list[(len(data)+i)%len(list)]
			l, err := lower.Lower(k, target, lower.Options{MaxGroup: 64, GroupSize: [3]int{8, 4, 2}, Unchecked: len(data)%3 == 0})
			var unsupported *lower.UnsupportedError
			if errors.As(err, &unsupported) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			out := &ir.Module{Kernels: []*ir.Kernel{l.IR}, Records: m.Records, Files: m.Files}
			if err := out.VerifyLowered(); err != nil {
				t.Fatalf("%v\n%s", err, k)
			}
			l.IR.Body.Walk(func(in *ir.Instr) {
				if err := target.Check(in); err != nil {
					t.Error(err)
				}
			})
		}
	})
}
