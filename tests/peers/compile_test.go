package main

import (
	"context"
	"fmt"
	"testing"

	"github.com/orepl/orepl/plugins/cpu"
)

// BenchmarkCompile measures the same as `peers compile`, for profiles: from a workload's text to executable code.
func BenchmarkCompile(b *testing.B) {
	platform, err := cpu.New(cpu.Options{Cores: 1}).Open(context.Background())
	if err != nil {
		b.Fatal(err)
	}
	defer platform.Close()
	number := 0
	for i := range workloads {
		w := &workloads[i]
		b.Run(w.name, func(b *testing.B) {
			p, err := w.prepare(platform.Devices()[0])
			if err != nil {
				b.Fatal(err)
			}
			defer p.close()
			b.ReportAllocs()
			for b.Loop() {
				number++
				if err := w.compile(platform.Devices()[0], p.launch, fmt.Sprint("k", number)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
