package spmd

import (
	"testing"

	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
)

func BenchmarkCompile(b *testing.B) {
	needMachine(b)
	k := saxpy()
	for b.Loop() {
		p, err := Compile(k, Options{Features: amd64.Host(), Gang: 1})
		if err != nil {
			b.Fatal(err)
		}
		_ = p
	}
}
