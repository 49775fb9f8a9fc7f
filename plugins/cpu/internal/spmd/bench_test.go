package spmd

import (
	"testing"

	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
)

func BenchmarkCompile(b *testing.B) {
	k := saxpy()
	for _, target := range allTargets {
		b.Run(target.Name, func(b *testing.B) {
			for b.Loop() {
				p, err := Compile(k, plan.Options{Features: target.Features, Gang: 1})
				if err == nil {
					_, err = p.code(p.spec(), nil)
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
