package ir_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/irgen"
)

var update = flag.Bool("update", false, "write the files that hold what is expected")

func random(seed uint64) *ir.Module {
	rng := rand.New(rand.NewPCG(seed, 1))
	o := irgen.Options{Extended: seed%5 == 4, Size: 10 + rng.IntN(150), NoFaults: seed%2 == 1, Groups: seed%3 == 0, Subgroups: seed%6 == 0}
	m := irgen.Module(irgen.Case(rng, o).Kernel)
	m.Files = []string{"random.js"}
	return m
}

func encode(t testing.TB, m *ir.Module) []byte {
	t.Helper()
	data, err := m.MarshalBinary()
	if err != nil {
		t.Fatalf("%v\n%v", err, m)
	}
	return data
}

func TestRandomModulesRoundTrip(t *testing.T) {
	for seed := range uint64(400) {
		m := random(seed)
		data := encode(t, m)
		text := m.String()

		parsed, err := ir.ParseText("printed", text)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, text)
		}
		if got := parsed.String(); got != text {
			t.Fatalf("seed %d: text differs\n%s", seed, firstDifference(got, text))
		}
		if !bytes.Equal(encode(t, parsed), data) || !ir.Equal(parsed, m) {
			t.Fatalf("seed %d: the parsed module differs", seed)
		}

		decoded, err := ir.DecodeBinary(data)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		m.Kernels[0].Renumber()
		text = m.String()
		if got := decoded.String(); got != text {
			t.Fatalf("seed %d: decoded differs\n%s", seed, firstDifference(got, text))
		}
		clone := m.Clone()
		if got := clone.String(); got != text || clone.Verify() != nil {
			t.Fatalf("seed %d: clone differs\n%s", seed, firstDifference(got, text))
		}
		if clone.Hash() != decoded.Hash() {
			t.Fatalf("seed %d: hashes of equal modules differ", seed)
		}
	}
}

func TestCloneSharesNothing(t *testing.T) {
	m := readModule(t, "testdata/all.ir")
	want := m.String()
	c := m.Clone()
	k := c.Kernels[0]
	k.Body.Walk(func(in *ir.Instr) {
		in.Bits, in.Site, in.Proved = 0, 0, 1
		for i := range in.Path {
			in.Path[i].Field = 0
		}
		for i := range in.Text {
			in.Text[i] = ""
		}
		for _, r := range in.Results {
			r.Name = "changed"
		}
	})
	for _, a := range k.Arrays {
		a.Name = "changed"
		clear(a.Data)
		clear(a.Dims)
	}
	for _, r := range c.Records {
		r.Fields[0].Name = "changed"
		clear(r.Fields[0].Dims)
	}
	clear(k.Params)
	clear(k.Sites)
	clear(c.Files)
	if got := m.String(); got != want {
		t.Errorf("a change of the clone changed the original:\n%s", firstDifference(got, want))
	}
}

// TestBinaryIsStable checks the operation codes and the rest of the format, on which stored images depend.
func TestBinaryIsStable(t *testing.T) {
	const path = "testdata/all.irb"
	m := readModule(t, "testdata/all.ir")
	data := encode(t, m)
	if *update {
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(data, want) {
		t.Error("the binary form has changed: it needs a new version")
	}
	if !ir.IsBinary(want) || ir.IsBinary(want[:5]) || ir.IsBinary([]byte("orepl-ir 1\n")) {
		t.Error("IsBinary is wrong")
	}
	m.Kernels[0].Body.Instrs[0].Proved = 1
	if !bytes.Equal(encode(t, m), want) {
		t.Error("a mark of proof is stored")
	}
}

func TestEveryFlippedBitIsRejected(t *testing.T) {
	for _, m := range []*ir.Module{readModule(t, "testdata/all.ir"), random(3), random(4), {}} {
		data := encode(t, m)
		for i := range data {
			for bit := range 8 {
				data[i] ^= 1 << bit
				rejected(t, data)
				data[i] ^= 1 << bit
			}
		}
	}
}

func TestEveryTruncationIsRejected(t *testing.T) {
	data := encode(t, readModule(t, "testdata/all.ir"))
	for n := range data {
		rejected(t, data[:n])
		if n != len(data)-4 {
			rejected(t, checksummed(data[:n]))
		}
	}
	rejected(t, append(bytes.Clone(data), 0))
}

// TestDamageBehindAChecksumIsSafe flips bits and corrects the checksum. Accepted data must be a module in its unique form.
func TestDamageBehindAChecksumIsSafe(t *testing.T) {
	data := encode(t, readModule(t, "testdata/all.ir"))
	data = data[:len(data)-4]
	accepted := 0
	for i := range data {
		for bit := range 8 {
			data[i] ^= 1 << bit
			if acceptsOnlyCanonical(t, checksummed(data)) {
				accepted++
			}
			data[i] ^= 1 << bit
		}
	}
	if accepted == 0 {
		t.Error("nothing was accepted, so that nothing was tested behind the checksum")
	}
}

func checksummed(data []byte) []byte {
	return binary.LittleEndian.AppendUint32(bytes.Clone(data), crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)))
}

func rejected(t *testing.T, data []byte) {
	t.Helper()
	m, err := ir.DecodeBinary(data)
	var coded interface{ Code() string }
	if err == nil || m != nil || !errors.As(err, &coded) || coded.Code() != "invalid-binary" {
		t.Fatalf("%d bytes accepted, or an error without its code: %v", len(data), err)
	}
}

func acceptsOnlyCanonical(t *testing.T, data []byte) bool {
	t.Helper()
	m, err := ir.DecodeBinary(data)
	if err != nil {
		return false
	}
	if !bytes.Equal(encode(t, m), data) {
		t.Fatal("accepted what encodes differently")
	}
	text := m.String()
	again, err := ir.ParseText("t", text)
	if err != nil {
		t.Fatalf("the text of an accepted module does not parse: %v\n%s", err, text)
	}
	if again.String() != text || !ir.Equal(again, m) {
		t.Fatalf("the text of an accepted module does not come back:\n%s", text)
	}
	return true
}

func TestOtherVersion(t *testing.T) {
	data := encode(t, &ir.Module{})
	data[8] = 3
	if _, err := ir.DecodeBinary(checksummed(data[:len(data)-4])); err == nil || !strings.Contains(err.Error(), "versions 1 to 2, and this is version 3") {
		t.Errorf("error %v", err)
	}
}

// TestVersion1 decodes images written by the last build of version 1 and encodes them to the same bytes.
func TestVersion1(t *testing.T) {
	for _, name := range []string{"all", "math"} {
		data, err := os.ReadFile("testdata/v1/" + name + ".irb")
		if err != nil {
			t.Fatal(err)
		}
		m, err := ir.DecodeBinary(data)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if m.Version() != 1 || !bytes.Equal(encode(t, m), data) {
			t.Errorf("%s is of version %d, or written otherwise", name, m.Version())
		}
		if parsed, err := ir.ParseText(name, m.String()); err != nil || !ir.Equal(parsed, m) {
			t.Errorf("%s does not come back from its text: %v", name, err)
		}
	}
	text, err := os.ReadFile("testdata/v1/all.ir")
	if err != nil {
		t.Fatal(err)
	}
	if m, err := ir.ParseText("all.ir", string(text)); err != nil || m.String() != string(text) {
		t.Errorf("the text of version 1: %v", err)
	}
}

const version2 = `orepl-ir 2

kernel k(x: f32[*], n: u32[*]) real f32 {
  private p: f32[4]
  site 0 = 0:0:0 ""
  site 1 = 0:1:1 "f"
  %0: i32 = item.global.x
  fence.acquire.group
  fence.release.device !1
  fence.both.system
  %1: u64 = clock !1
  pause
  %2: f32 = const 0.5
  lib.fill [x, p] %2 !1
  %3: f32, %4: i32 = lib.frexp %2 !1
  %5: u64 = lib."f 2" %0, %1
  lib.nothing
  %6: i32 = block.dot4 @1 %0, %4 !1 {
    %7: i32 = mul %0, %4
    yield %7
  }
  block."with nothing" @2 {
    yield
  }
  return
}
`

func version2Module(t testing.TB) *ir.Module {
	t.Helper()
	m, err := ir.ParseText("t", version2)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestVersion2(t *testing.T) {
	m, err := ir.ParseText("t", version2)
	if err != nil {
		t.Fatal(err)
	}
	if got := m.String(); got != version2 {
		t.Errorf("printing what was parsed differs:\n%s", firstDifference(got, version2))
	}
	data := encode(t, m)
	if data[8] != 2 {
		t.Errorf("it is written in version %d", data[8])
	}
	back, err := ir.DecodeBinary(data)
	if err != nil || !ir.Equal(back, m) || !ir.Equal(m.Clone(), m) {
		t.Fatalf("the module does not come back: %v", err)
	}
	old := bytes.Clone(data[:len(data)-4])
	old[8] = 1
	if _, err := ir.DecodeBinary(checksummed(old)); err == nil || !strings.Contains(err.Error(), "is not of version 1") {
		t.Errorf("operations of version 2 in version 1: %v", err)
	}
	plain := encode(t, &ir.Module{})
	plain[8] = 2
	if _, err := ir.DecodeBinary(checksummed(plain[:len(plain)-4])); err == nil {
		t.Error("a module is read that is written in a newer version than it needs")
	}
	k := m.Kernels[0]
	if access := k.Access(); access[0] != ir.Reads|ir.Writes || !k.ReadsDirty() {
		t.Errorf("arrays by reference: access %v, dirty %v", access, k.ReadsDirty())
	}
}

func TestVersion2Verify(t *testing.T) {
	for _, r := range []struct{ body, want string }{
		{"%1: i32 = clock", "not u64"},
		{"%1: u64 = pause", "no result"},
		{"block.f @1 {\nreturn\n}", "return leaves the extension operation f"},
		{"block @1 {\nblock.f @2 {\nbreak @1\n}\nyield\n}", "break leaves the extension operation f"},
		{"loop @1 () {\nblock.f @2 {\ncontinue @1\n}\nbreak @1\n}", "continue leaves the extension operation f"},
		{"lib.f [t]", "tables are constant"},
		{"block.f @1 {\nblock @2 {\nbreak @2\n}\nbreak @1\n}", ""},
	} {
		m, err := ir.ParseText("t", "orepl-ir 2\nkernel k() real f32 {\ntable t: i32[1] = [1]\n"+r.body+"\nreturn\n}\n")
		if err != nil {
			t.Fatal(err)
		}
		err = m.Verify()
		if (err == nil) != (r.want == "") || err != nil && !strings.Contains(err.Error(), r.want) {
			t.Errorf("%s: %v, want %q", r.body, err, r.want)
		}
	}
}

// FuzzDecodeBinary generates the bytes between the magic and the checksum. Run it with -fuzzminimizetime 10x: most bytes of an
// input matter, so minimizing takes nearly all of the time by default.
func FuzzDecodeBinary(f *testing.F) {
	magic := encode(f, &ir.Module{})[:8]
	for _, m := range []*ir.Module{readModule(f, "testdata/all.ir"), version2Module(f), random(1), random(3), random(6), {}} {
		data := encode(f, m)
		f.Add(data[8 : len(data)-4])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		acceptsOnlyCanonical(t, checksummed(append(bytes.Clone(magic), data...)))
	})
}

// TestKindsOfAssertions checks the text and binary forms of an overflow assertion.
func TestKindsOfAssertions(t *testing.T) {
	const text = "orepl-ir 1\nfile 0 \"a.js\"\n\nkernel k(y: i32[*]) real f32 {\n  site 0 = 0:1:1 \"k\"\n  %0: bool = const true\n  %1: i32 = const 7\n  assert.overflow %0, \"\" %1 \" is too much\"\n  assert %0, \"\" %1 \" is wrong\"\n  return\n}\n"
	m, err := ir.ParseText("k.ir", text)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Verify(); err != nil {
		t.Fatal(err)
	}
	again, err := ir.DecodeBinary(encode(t, m))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []*ir.Module{m, again, m.Clone()} {
		if got := m.String(); !strings.Contains(got, "assert.overflow %0, \"\" %1 \" is too much\"") || !strings.Contains(got, "assert %0, \"\" %1 \" is wrong\"") {
			t.Errorf("got %s", got)
		}
	}
	m.Kernels[0].Body.Instrs[1].Assert = ir.AssertOverflow
	if m.Verify() == nil {
		t.Error("a constant is an assertion")
	}
}
