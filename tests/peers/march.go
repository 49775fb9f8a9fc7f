package main

import (
	"os"
	"strings"
)

// marchFlags returns the flags that select the machine for gcc and clang: all that it has, or without AVX-512 where
// OREPL_DEBUG masks it from orepl too, so that both sides have the same instructions.
func marchFlags() []string {
	if strings.Contains(os.Getenv("OREPL_DEBUG"), "avx2") {
		return []string{"-march=native", "-mno-avx512f"}
	}
	return []string{"-march=native"}
}
