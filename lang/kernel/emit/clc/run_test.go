package clc_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel/emit/clc"
	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/irgen"
	"github.com/orepl/orepl/lang/kernel/lower"
	"github.com/orepl/orepl/lang/kernel/opt"
	"github.com/orepl/orepl/lang/kernel/oracle"
)

// builtins implements the OpenCL C functions that this test's kernels call, for the host. Their names are mangled as in C++,
// except for pointers with an address space.
const builtins = `
typedef unsigned long ulong;
typedef unsigned uint;
static ulong at[3];
ulong get_group_id(uint axis) { return at[axis]; }
ulong get_local_id(uint) { return 0; }
ulong get_local_size(uint) { return 1; }
ulong get_num_groups(uint) { return 1; }
int mul_hi(int x, int y) { return (int)((long)x * y >> 32); }
uint mul_hi(uint x, uint y) { return (uint)((ulong)x * y >> 32); }
long mul_hi(long x, long y) { return (long)((__int128)x * y >> 64); }
ulong mul_hi(ulong x, ulong y) { return (ulong)((unsigned __int128)x * y >> 64); }
int clz(int x) { return x ? __builtin_clz((uint)x) : 32; }
uint clz(uint x) { return x ? __builtin_clz(x) : 32; }
long clz(long x) { return x ? __builtin_clzl((ulong)x) : 64; }
ulong clz(ulong x) { return x ? __builtin_clzl(x) : 64; }
int popcount(int x) { return __builtin_popcount((uint)x); }
uint popcount(uint x) { return __builtin_popcount(x); }
long popcount(long x) { return __builtin_popcountl((ulong)x); }
ulong popcount(ulong x) { return __builtin_popcountl(x); }
#define EACH(F) F(int) F(uint) F(long) F(ulong)
#define ORDER(T) T min(T x, T y) { return y < x ? y : x; } T max(T x, T y) { return x < y ? y : x; }
EACH(ORDER)
float fabs(float x) { return __builtin_fabsf(x); }
double fabs(double x) { return __builtin_fabs(x); }
float floor(float x) { return __builtin_floorf(x); }
double floor(double x) { return __builtin_floor(x); }
float ceil(float x) { return __builtin_ceilf(x); }
double ceil(double x) { return __builtin_ceil(x); }
float trunc(float x) { return __builtin_truncf(x); }
double trunc(double x) { return __builtin_trunc(x); }
float rint(float x) { return __builtin_rintf(x); }
double rint(double x) { return __builtin_rint(x); }
double sqrt(double x) { return __builtin_sqrt(x); }
float fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
extern "C" uint swap(volatile uint *p, uint old, uint x) __asm__("_Z14atomic_cmpxchgPU8CLglobalVjjj");
uint swap(volatile uint *p, uint old, uint x) { return __sync_val_compare_and_swap(p, old, x); }
#define UPDATE(T, M, N, OP, EXPR) extern "C" T OP##M(volatile T *, T) __asm__("_Z" #N "atomic_" #OP "PU8CLglobalV" #M #M); \
	T OP##M(volatile T *p, T x) { T old = *p; *p = (EXPR); return old; }
#define UPDATES(T, M) UPDATE(T, M, 10, add, (T)((uint)old + (uint)x)) UPDATE(T, M, 10, sub, (T)((uint)old - (uint)x)) UPDATE(T, M, 10, min, x < old ? x : old) \
	UPDATE(T, M, 10, max, x > old ? x : old) UPDATE(T, M, 10, and, old & x) UPDATE(T, M, 9, or, old | x) UPDATE(T, M, 10, xor, old ^ x) UPDATE(T, M, 11, xchg, x)
UPDATES(int, i) UPDATES(uint, j)
extern "C" ulong swap64(volatile ulong *p, ulong old, ulong x) __asm__("_Z12atom_cmpxchgPU8CLglobalVmmm");
ulong swap64(volatile ulong *p, ulong old, ulong x) { return __sync_val_compare_and_swap(p, old, x); }
void mem_fence(uint) {}
void read_mem_fence(uint) {}
void write_mem_fence(uint) {}
extern "C" long read(int, void *, ulong);
extern "C" long write(int, const void *, ulong);
extern "C" void *calloc(ulong, ulong);
static void get(void *to, ulong n) {
	for (long k; n > 0 && (k = read(0, to, n)) > 0; n -= (ulong)k) to = (char *)to + k;
}
static void put(const void *from, ulong n) {
	for (long k; n > 0 && (k = write(1, from, n)) > 0; n -= (ulong)k) from = (const char *)from + k;
}
`

// TestBits compiles every operation for the host and compares its results, for all combinations of special values, with the
// interpreter's.
func TestBits(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the builtins are for amd64")
	}
	var list []*lower.Kernel
	var cases []*oracle.Case
	for i, o := range irgen.Operations() {
		if testing.Short() && i%4 != 0 {
			continue
		}
		c := irgen.OperationCase(o)
		c.Kernel.Name = fmt.Sprint("op", len(cases))
		cases, list = append(cases, c), append(list, lowered(t, c.Kernel))
	}
	text, err := clc.Emit(list...)
	if err != nil {
		t.Fatal(err)
	}
	var input bytes.Buffer
	driver := builtins
	calls := ""
	for i, c := range cases {
		params, args, body := "", "", ""
		for j, a := range c.Args {
			params += "char *, ulong, int, "
			args += fmt.Sprintf("b%d, 0, %d, ", j, a.Dims[0])
			body += fmt.Sprintf("\tstatic char b%d[%d] __attribute__((aligned(8)));\n\tget(b%d, %d);\n", j, len(a.Data)+8, j, len(a.Data))
			input.Write(a.Data)
		}
		driver += fmt.Sprintf("extern \"C\" void k_op%d(%schar *, ulong, int, int, int, int);\nstatic void run%d() {\n%s\tstatic uint records[256];\n"+
			"\tfor (at[0] = 0; at[0] < %d; at[0]++) k_op%d(%s(char *)records, 0, 256, %d, 1, 1);\n\tput(b%d, %d);\n\tput(records + %d, 4);\n}\n", i, params, i, body,
			c.Size[0], i, args, c.Size[0], len(c.Args)-1, len(c.Args[len(c.Args)-1].Data), lower.FaultWord)
		calls += fmt.Sprintf("\trun%d();\n", i)
	}
	driver += "int main() {\n" + calls + "}\n"
	out := build(t, text, driver, input.Bytes())
	for i, c := range cases {
		want, err := c.Interp(interp.Options{})
		if err != nil {
			t.Fatal(err)
		}
		last := len(c.Args) - 1
		n := len(c.Args[last].Data)
		if len(out) < n+4 {
			t.Fatal("the program writes too little")
		}
		if (binary.LittleEndian.Uint32(out[n:]) != 0) != (want.Fault != nil) {
			t.Errorf("operation %d: fault %v", i, want.Fault)
		}
		size := n / c.Size[0]
		for item := range c.Size[0] {
			if got, want := out[item*size:][:size], want.Data[last][item*size:][:size]; !bytes.Equal(got, want) {
				t.Errorf("%v, item %d: % x, want % x", c.Kernel, item, got, want)
				break
			}
		}
		out = out[n+4:]
	}
}

// TestRandomBits runs random kernels without group operations, one item after the other, and compares buffers and prints.
func TestRandomBits(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the builtins are for amd64")
	}
	n := 60
	if os.Getenv("OREPL_TEST_LONG") == "1" {
		n = 500
	}
	if testing.Short() {
		n = 20
	}
	var list []*lower.Kernel
	var cases []*oracle.Case
	var input bytes.Buffer
	driver, calls := builtins, ""
	const recordWords = 1 << 16
	types := map[ir.Type]string{ir.Bool: "unsigned char", ir.I32: "int", ir.U32: "uint", ir.I64: "long", ir.U64: "ulong", ir.F32: "float", ir.F64: "double"}
	for seed := range uint64(n) {
		rng := rand.New(rand.NewPCG(seed, 13))
		c := irgen.Case(rng, irgen.Options{NoFaults: seed%2 == 0, Tiles: seed%3 == 0, Size: 20 + rng.IntN(100)})
		opt.Run(irgen.Module(c.Kernel), opt.Default, nil)
		i := len(cases)
		c.Kernel.Name = fmt.Sprint("r", i)
		k := lowered(t, c.Kernel)
		cases, list = append(cases, c), append(list, k)
		params, args, body, end := "", "", "", ""
		for j, a := range c.Args {
			p := c.Kernel.Params[j]
			if p.Array == nil {
				params += types[p.Type] + ", "
				args += fmt.Sprintf("s%d, ", j)
				body += fmt.Sprintf("\tulong w%d; get(&w%d, 8);\n\t%s s%d; __builtin_memcpy(&s%d, &w%d, sizeof s%d);\n", j, j, types[p.Type], j, j, j, j)
				bits := a.Bits
				if p.Type == ir.Bool && bits != 0 {
					bits = 1
				}
				input.Write(binary.LittleEndian.AppendUint64(nil, bits))
				continue
			}
			params += "char *, ulong, "
			args += fmt.Sprintf("b%d, 8, ", j)
			for _, d := range a.Dims {
				params += "int, "
				args += fmt.Sprintf("%d, ", d)
			}
			body += fmt.Sprintf("\tstatic char b%d[%d] __attribute__((aligned(8)));\n\tget(b%d + 8, %d);\n", j, len(a.Data)+16, j, len(a.Data))
			end += fmt.Sprintf("\tput(b%d + 8, %d);\n", j, len(a.Data))
			input.Write(a.Data)
		}
		words := k.PrintStart() + recordWords
		driver += fmt.Sprintf("extern \"C\" void k_r%d(%schar *, ulong, int, int, int, int);\nstatic void run%d() {\n%s\tstatic uint records[%d];\n\trecords[%d] = %d;\n"+
			"\tfor (at[2] = 0; at[2] < %d; at[2]++) for (at[1] = 0; at[1] < %d; at[1]++) for (at[0] = 0; at[0] < %d; at[0]++)\n"+
			"\t\tk_r%d(%s(char *)records, 0, %d, %d, %d, %d);\n%s\tput(records, sizeof records);\n}\n", i, params, i, body, words, lower.CapacityWord, recordWords,
			c.Size[2], c.Size[1], c.Size[0], i, args, words, c.Size[0], c.Size[1], c.Size[2], end)
		calls += fmt.Sprintf("\trun%d();\n", i)
	}
	text, err := clc.Emit(list...)
	if err != nil {
		t.Fatal(err)
	}
	out := build(t, text, driver+"int main() {\n"+calls+"}\n", input.Bytes())
	next := func(n int) []byte {
		if len(out) < n {
			t.Fatal("the program writes too little")
		}
		data := out[:n]
		out = out[n:]
		return data
	}
	prints := 0
	for i, c := range cases {
		got := &oracle.Outcome{}
		for _, a := range c.Args {
			got.Data = append(got.Data, next(len(a.Data)))
		}
		words := make([]uint32, list[i].PrintStart()+recordWords)
		if _, err := binary.Decode(next(4*len(words)), binary.LittleEndian, words); err != nil {
			t.Fatal(err)
		}
		fault, texts, lost := list[i].Read(words, lower.Geometry{Size: c.Size, GroupSize: [3]int{1, 1, 1}})
		for _, p := range texts {
			got.Prints = append(got.Prints, oracle.Print{Site: p.Site, Item: p.Item, Text: p.Text})
		}
		prints += len(texts)
		if fault != nil {
			got.Fault = &oracle.Fault{Kind: fault.Kind, Site: fault.Site, Item: fault.Item, Text: fault.Text}
			if fault.Array != nil {
				got.Fault.Array, got.Fault.Axis = fault.Array.Name, fault.Axis
				got.Fault.Index, got.Fault.Extent = fault.Index()
			}
			c.Watch = &fault.Item
		}
		want, err := c.Interp(interp.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if d := c.Diff(want, got); d != "" || lost > 0 {
			t.Errorf("seed %d: %.500s, %d prints are lost", i, d, lost)
		}
	}
	if prints == 0 {
		t.Error("no prints")
	}
}

// build compiles kernels and the program that launches them, runs it, and returns its output.
func build(t *testing.T, kernels, driver string, input []byte) []byte {
	t.Helper()
	compiler, folder := clang(t), t.TempDir()
	run := func(args ...string) {
		t.Helper()
		cmd := exec.Command(compiler, args...)
		cmd.Dir = folder
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%.3000s", strings.Join(args, " "), err, out)
		}
	}
	for name, text := range map[string]string{"kernels.cl": kernels, "driver.cc": driver} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run("-x", "cl", "-cl-std=CL1.2", "-O1", "-w", "-fPIE", "-c", "kernels.cl", "-o", "kernels.o")
	run("-x", "c++", "-O1", "-w", "-fno-builtin", "-fno-operator-names", "-ffp-contract=off", "-fPIE", "-c", "driver.cc", "-o", "driver.o")
	run("driver.o", "kernels.o", "-lm", "-o", "program")
	cmd := exec.Command(filepath.Join(folder, "program"))
	cmd.Stdin = bytes.NewReader(input)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return out
}
