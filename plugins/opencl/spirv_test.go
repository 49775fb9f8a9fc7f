package opencl

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"
)

// module returns SPIR-V with a header and these words.
func module(words ...uint32) (code []byte) {
	for _, w := range append([]uint32{spirvMagic, 0x00010200, 0, 100, 0}, words...) {
		code = binary.LittleEndian.AppendUint32(code, w)
	}
	return code
}

const (
	kernelCapability = 2<<16 | opCapability
	entryOfFive      = 5<<16 | opEntryPoint
	function         = 5<<16 | opFunction
	functionEnd      = 1<<16 | opFunctionEnd
	saxp, y          = 0x70786173, 0x79 // "saxpy"
)

// TestEntryPoints reads valid and damaged modules.
func TestEntryPoints(t *testing.T) {
	whole := module(kernelCapability, capKernel, entryOfFive, modelKernel, 7, saxp, y, function, 1, 7, 0, 2, functionEnd)
	names, err := entryPoints(whole)
	if err != nil || !slices.Equal(names, []string{"saxpy"}) {
		t.Errorf("%q, %v", names, err)
	}
	swapped := slices.Clone(whole)
	for i := 0; i < len(swapped); i += 4 {
		slices.Reverse(swapped[i : i+4])
	}
	if names, err := entryPoints(swapped); err != nil || !slices.Equal(names, []string{"saxpy"}) {
		t.Errorf("of the other byte order: %q, %v", names, err)
	}
	version, bound, schema := slices.Clone(whole), slices.Clone(whole), slices.Clone(whole)
	version[6], bound[12], schema[16] = 2, 0, 1
	for _, c := range []struct {
		code []byte
		part string
	}{
		{whole[:8], "truncated"},
		{whole[:len(whole)-1], "truncated"},
		{make([]byte, 20), "not SPIR-V"},
		{version, "version"},
		{bound, "bound"},
		{schema, "schema"},
		{module(0), "0 words"},
		{module(3<<16 | 1), "has 3 words, and 1 are left"},
		{module(entryOfFive, modelKernel, 7, saxp, saxp), "no end"},
		{module(entryOfFive, modelKernel, 7, 0, 0), "empty"},
		{module(entryOfFive, modelKernel, 100, saxp, y), "function 100"},
		{module(function, 1, 7, 0, 2, function, 1, 7, 0, 2), "word 10 is not complete"},
		{module(functionEnd), "not complete"},
		{module(kernelCapability, capKernel, function, 1, 7, 0, 2), "last function"},
		{module(entryOfFive, modelKernel, 7, saxp, y), "capability"},
		{module(kernelCapability, capKernel, entryOfFive, 0, 7, saxp, y), "no kernel"},
	} {
		if _, err := entryPoints(c.code); err == nil || !strings.Contains(err.Error(), c.part) {
			t.Errorf("%v, without %q", err, c.part)
		}
	}
}

// FuzzSPIRV reads arbitrary modules. Returned names must occur in the bytes.
func FuzzSPIRV(f *testing.F) {
	f.Add(module(kernelCapability, capKernel, entryOfFive, modelKernel, 7, saxp, y, function, 1, 7, 0, 2, functionEnd))
	f.Add(module(kernelCapability, capKernel, entryOfFive, modelKernel, 100, saxp, y))
	f.Add(module(3<<16|1, 0, 0))
	f.Fuzz(func(t *testing.T, code []byte) {
		names, err := entryPoints(code)
		if (err == nil) != (len(names) > 0) {
			t.Fatalf("%q, %v", names, err)
		}
		for _, n := range names {
			if n == "" || strings.ContainsRune(n, 0) || len(n) > len(code) {
				t.Errorf("the name %q", n)
			}
		}
	})
}
