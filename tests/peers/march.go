package main

import (
	"os"
	"strings"
)

// marchFlags returns the flags of gcc and clang for this machine. They exclude AVX-512 if OREPL_DEBUG masks it, so that both
// sides have the same instructions.
func marchFlags() []string {
	if strings.Contains(os.Getenv("OREPL_DEBUG"), "avx2") {
		return []string{"-march=native", "-mno-avx512f"}
	}
	return []string{"-march=native"}
}
