package spmd

import "testing"

func BenchmarkCompile(b *testing.B) {
	k := saxpy()
	for _, target := range allTargets {
		b.Run(target.Name, func(b *testing.B) {
			for b.Loop() {
				if _, err := Compile(k, Options{Features: target.Features, Gang: 1}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
