package ptxrun_test

import (
	"encoding/binary"
	"strings"
	"testing"
	"unsafe"

	"github.com/orepl/orepl/lang/kernel/emit/ptx/ptxrun"
)

// entry returns a kernel with registers of every type and a buffer at %a.
func entry(body string) string {
	return ".version 7.0\n.target sm_70\n.address_size 64\n\n.global .align 8 .b8 table[8] = {1, 2, 3, 4, 5, 6, 7, 8};\n\n.visible .entry k(\n\t.param .u64 p\n)\n{\n" +
		"\t.reg .b64 %a;\n\t.reg .b64 %l;\n\t.reg .b32 %i;\n\t.reg .f32 %f;\n\t.reg .f64 %d;\n\t.reg .pred %p;\n\t.shared .align 8 .b8 s[16];\n\tld.param.u64 %a, [p];\n" + body + "\tret;\n}\n"
}

// run runs a kernel's items on a buffer of words.
func run(t *testing.T, body string, items int) ([]uint32, error) {
	t.Helper()
	m, err := ptxrun.Parse(entry(body))
	if err != nil {
		return nil, err
	}
	words := make([]uint32, 8)
	base := unsafe.Pointer(&words[0])
	l := &ptxrun.Launch{Grid: [3]int{1, 1, 1}, Block: [3]int{items, 1, 1}, Params: binary.LittleEndian.AppendUint64(nil, uint64(uintptr(base))), Steps: 1000,
		Memory: func(address uint64, size int) unsafe.Pointer {
			if at := address - uint64(uintptr(base)); at < 32 && at+uint64(size) <= 32 {
				return unsafe.Add(base, at)
			}
			return nil
		}}
	return words, m.Kernel("k").Run(l)
}

// TestParseErrors parses texts that the vendor's assembler rejects.
func TestParseErrors(t *testing.T) {
	for body, want := range map[string]string{
		"\tadd.s32 %i, %i, %f;\n":                           "another type",
		"\tadd.s32 %i, %i;\n":                               "operands",
		"\tadd.s32 %i, %i, %x;\n":                           "operand %x",
		"\tadd.rn.f32 %f, %f, 1;\n":                         "operand 1",
		"\tclz.b64 %l, %l;\n":                               "another type",
		"\tmov.b64 %i, %l;\n":                               "another type",
		"\tfoo.s32 %i, %i, %i;\n":                           "unknown instruction",
		"\tshl.s32 %i, %i, 1;\n":                            "no such type",
		"\tadd.f32 %f, %f, %f;\n":                           "no such type",
		"\tbra nowhere;\n":                                  "label nowhere is missing",
		"again:\nagain:\n":                                  "twice",
		"\t.reg .b32 %i;\n":                                 "twice",
		"\t@%i bra end;\nend:\n":                            "no predicate",
		"\tld.global.u32 %i, [%i];\n":                       "another type",
		"\tatom.global.add.u32 %i,[%a],1;\n":                "",
		"\tatom.relaxed.gpu.global.add.s64 %l, [%a], %l;\n": "unknown atomic",
		"\tst.global.nc.u32 [%a], %i;\n":                    "unknown instruction",
		"\tld.shared.nc.u32 %i, [%a];\n":                    "unknown instruction",
		"\tcvt.s32.f32 %i, %f;\n":                           "unknown conversion",
		"\tadd.s32 %i, %i, %i\n":                            "unknown syntax",
	} {
		if _, err := ptxrun.Parse(entry(body)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", body, err)
		}
	}
}

// TestRunErrors runs kernels whose results PTX leaves undefined.
func TestRunErrors(t *testing.T) {
	for body, want := range map[string]string{
		"\tvote.sync.ballot.b32 %i, %p, 0xffffffff;\n":     "mask",
		"\tdiv.s32 %i, 1, 0;\n":                            "division by zero",
		"\tdiv.s32 %i, 0x80000000, -1;\n":                  "quotient",
		"\tld.global.u32 %i, [%a+32];\n":                   "no memory",
		"\tld.global.u64 %l, [%a+4];\n":                    "not aligned",
		"\tld.global.u32 %i, [%l];\n":                      "not aligned", // an unwritten register
		"\tmov.u64 %a, table;\n\tst.global.u32 [%a], 1;\n": "constant",
		"\tmov.u64 %a, s;\n\tld.shared.u32 %i, [%a+16];\n": "outside",
		"\tmov.u64 %a, s;\n\tld.global.u32 %i, [%a];\n":    "no memory",
		"again:\n\tbra again;\n":                           "steps",
		"\tmov.u32 %i, %tid.x;\n\tsetp.eq.s32 %p, %i, 0;\n\t@%p bra end;\n\tbar.sync 0;\nend:\n": "barrier",
	} {
		if _, err := run(t, body, 2); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", body, err)
		}
	}
}

// TestResults compares results with those in the PTX manual.
func TestResults(t *testing.T) {
	for body, want := range map[string]uint32{
		"\tadd.rn.f32 %f, 0f7F800000, 0fFF800000;\n\tst.global.f32 [%a], %f;\n":                             0x7fffffff,
		"\tfma.rn.f32 %f, 0f3F800001, 0f3F800001, 0fBF800002;\n\tst.global.f32 [%a], %f;\n":                 0x28800000,
		"\tcvt.rzi.s32.f32 %i, 0f7FC00000;\n\tst.global.u32 [%a], %i;\n":                                    0,
		"\tcvt.rzi.u32.f32 %i, 0fBF800000;\n\tst.global.u32 [%a], %i;\n":                                    0,
		"\tcvt.rzi.s32.f32 %i, 0f4F800000;\n\tst.global.u32 [%a], %i;\n":                                    0x7fffffff,
		"\tshl.b32 %i, 1, 40;\n\tst.global.u32 [%a], %i;\n":                                                 0,
		"\tshr.s32 %i, 0x80000000, 40;\n\tst.global.u32 [%a], %i;\n":                                        0xffffffff,
		"\tmul.hi.s32 %i, -1, 5;\n\tst.global.u32 [%a], %i;\n":                                              0xffffffff,
		"\tmul.hi.s64 %l, -1, 5;\n\tcvt.u32.u64 %i, %l;\n\tst.global.u32 [%a], %i;\n":                       0xffffffff,
		"\tmov.u64 %l, table;\n\tld.global.s8 %i, [%l+2];\n\tst.global.u32 [%a], %i;\n":                     3,
		"\tst.global.u32 [%a], 0xff80;\n\tld.global.s8 %i, [%a];\n\tst.global.u32 [%a], %i;\n":              0xffffff80,
		"\tsetp.ne.f32 %p, 0f7FC00000, 0f00000000;\n\tselp.b32 %i, 1, 2, %p;\n\tst.global.u32 [%a], %i;\n":  2,
		"\tsetp.neu.f32 %p, 0f7FC00000, 0f00000000;\n\tselp.b32 %i, 1, 2, %p;\n\tst.global.u32 [%a], %i;\n": 1,
		"\tcvt.rni.f32.f32 %f, 0f40200000;\n\tst.global.f32 [%a], %f;\n":                                    0x40000000,
		"\tatom.relaxed.gpu.global.add.u32 %i, [%a], 3;\n":                                                  6, // by two items
	} {
		if got, err := run(t, body, 2); err != nil || got[0] != want {
			t.Errorf("%q: %#x, want %#x; %v", body, got, want, err)
		}
	}
}

// TestWarp exchanges values of the two items of a partial warp and collects their votes.
func TestWarp(t *testing.T) {
	got, err := run(t, "\tmov.u32 %i, %laneid;\n\txor.b32 %i, %i, 1;\n\tshfl.sync.idx.b32 %i, %i, %i, 31, 0x3;\n\tsetp.ne.s32 %p, %i, 0;\n\tadd.s32 %i, %i, 7;\n"+
		"\tmov.u32 %i, %tid.x;\n\tmul.wide.u32 %l, %i, 4;\n\tvote.sync.ballot.b32 %i, %p, 0x3;\n\tadd.s64 %a, %a, %l;\n\tst.global.u32 [%a], %i;\n", 2)
	if err != nil || got[0] != 2 || got[1] != 2 {
		t.Errorf("%v, %v", got, err)
	}
}

// TestBarrier exchanges values of items through shared memory.
func TestBarrier(t *testing.T) {
	got, err := run(t, "\tmov.u32 %i, %tid.x;\n\tmul.lo.s32 %i, %i, 4;\n\tcvt.u64.u32 %l, %i;\n\tadd.s64 %a, %a, %l;\n\tst.shared.u32 [%l], %i;\n\tbar.sync 0;\n"+
		"\txor.b64 %l, %l, 4;\n\tld.shared.u32 %i, [%l];\n\tst.global.u32 [%a], %i;\n", 4)
	if want := []uint32{4, 0, 12, 8}; err != nil || [4]uint32(got) != [4]uint32(want) {
		t.Errorf("%v, want %v; %v", got, want, err)
	}
}

// TestReadOnly loads a word by ld.global.nc that the launch writes before, after, or not at all.
func TestReadOnly(t *testing.T) {
	for body, wrong := range map[string]bool{
		"\tld.global.nc.u32 %i, [%a];\n\tst.global.u32 [%a+4], %i;\n":                            false,
		"\tld.global.nc.u32 %i, [%a];\n\tst.global.u8 [%a+3], %i;\n":                             true,
		"\tst.global.u32 [%a], 1;\n\tld.global.nc.u8 %i, [%a+1];\n":                              true,
		"\tatom.relaxed.gpu.global.add.u32 %i, [%a], 1;\n\tld.global.nc.u32 %i, [%a];\n":         true,
		"\tld.global.u32 %i, [%a];\n\tst.global.u32 [%a], %i;\n\tld.global.nc.u32 %i, [%a+4];\n": false,
	} {
		if _, err := run(t, body, 2); (err != nil) != wrong || wrong && !strings.Contains(err.Error(), "ld.global.nc") {
			t.Errorf("%q: %v", body, err)
		}
	}
}
