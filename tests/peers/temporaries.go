package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// temporariesScript and temporariesPython make two arrays of 1 MiB in each of 2000 turns, and free none.
const (
	temporariesScript = `import { device, f32 } from 'offload'
const x = device('cpu').buffer(f32, 1 << 18).fill(1)
let sum = 0
for (let i = 0; i < 2000; i++) {
  const y = x.map(v => v * 2)
  const z = y.zip(x, (a, b) => a + b)
  if (i % 100 === 0) sum += await z.sum()
}
console.log(sum)
`
	temporariesPython = `import numpy as np
x = np.ones(1 << 18, np.float32)
total = 0
for i in range(2000):
    y = x * np.float32(2)
    z = y + x
    if i % 100 == 0: total += int(z.sum())
print(total)
`
)

// temporaries compares the processor time of a script whose arrays become unreachable with that of NumPy, which frees each array when
// its last reference ends. It prints the peak memory of both.
func temporaries(r *report) error {
	dir, err := os.MkdirTemp("", "orepl-peers")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	ours, err := built(dir, "github.com/orepl/orepl/cmd/orepl")
	if err != nil {
		return err
	}
	script, program := filepath.Join(dir, "temporaries.js"), filepath.Join(dir, "temporaries.py")
	for name, text := range map[string]string{script: temporariesScript, program: temporariesPython} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			return err
		}
	}
	for _, command := range [][]string{{ours, "run", script}, {"/usr/bin/python3", program}} {
		text, err := exec.Command(command[0], command[1:]...).CombinedOutput()
		if got, want := strings.TrimSpace(string(text)), fmt.Sprint(20*3<<18); err != nil || got != want {
			return fmt.Errorf("%v: %v, prints %q instead of %s", command, err, got, want)
		}
	}
	var peaks [2]float64
	_, err = r.pair("4000 arrays of 1 MiB", "ms", 11, process(&peaks[0], ours, "run", script), process(&peaks[1], "/usr/bin/python3", program))
	fmt.Printf("  peak memory: orepl %.0f MiB, NumPy %.0f MiB\n", peaks[0], peaks[1])
	return err
}
