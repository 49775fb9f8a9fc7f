package regions_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orepl/orepl/plugins/internal/regions"
	"github.com/orepl/orepl/runtime/image"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/tests/clang"
)

// source has regions whose variables are of many types.
const source = `#include <stdint.h>
typedef struct { float a; int k; } pair;
enum colour { red, green };
typedef int32_t number;
void scalars(double *out, int8_t a, uint16_t b, number c, float d, double e, long long f, _Bool g, _Float16 h, enum colour i, const unsigned j, char *text) {
#pragma omp target map(tofrom: out[0:10])
  { out[0] = a; out[1] = b; out[2] = c; out[3] = d; out[4] = e; out[5] = f; out[6] = g; out[7] = h; out[8] = i; out[9] = j + (text != 0); }
}
double mapped(int n, float m[3][4]) {
  pair p = {1, n};
  double total = 0;
#pragma omp target map(tofrom: total) map(to: m[0:3])
  total += p.a + m[1][2];
  return total;
}
void wide(float _Complex x, double *out) {
#pragma omp target map(from: out[0:1])
  out[0] = __real__ x;
}
int main(void) { return 0; }
`

// described returns the parameters of a region as text.
func described(params []offload.Param) string {
	var list []string
	for _, p := range params {
		word := p.Type.String()
		if p.Buffer {
			word = "buffer"
		}
		list = append(list, p.Name+" "+word)
	}
	return strings.Join(list, ", ")
}

func TestRead(t *testing.T) {
	want := map[string]string{
		"scalars": "out buffer, a i8, b u16, c i32, d f32, e f64, f i64, g bool, h f16, i i32, j u32, text buffer",
		"mapped":  "total buffer, p buffer, m buffer",
	}
	for _, flags := range [][]string{{"-O0", "-g"}, {"-O2", "-g", "-gdwarf-4", "-gz"}} {
		program := clang.Build(t, "regions.c", source, append([]string{"-fopenmp", "-fopenmp-targets=x86_64-pc-linux-gnu"}, flags...)...)
		images := imagesOf(t, program)
		table := regions.Read(images[0])
		found := 0
		f, err := os.ReadFile(program)
		if err != nil {
			t.Fatal(err)
		}
		lib, err := image.Read("f", f)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range lib.Entries {
			name := strings.SplitN(strings.TrimPrefix(e.Name, regions.Prefix), "_", 3)[2]
			name = name[:strings.LastIndex(name, "_l")]
			if !table.Environment(e.Name) {
				t.Errorf("%v: %s has no environment", flags, name)
			}
			sig, unclear, ok := table.Signature(e.Name)
			if name == "wide" {
				if ok || unclear != "x" || strings.Join(table.Names(e.Name), " ") != "out x" {
					t.Errorf("%v: wide: %v, unclear %q of %q", flags, sig, unclear, table.Names(e.Name))
				}
				continue
			}
			if !ok || described(sig.Params) != want[name] || sig.Convention != offload.OutlinedOpenMP {
				t.Errorf("%v: %s: %v %v, want %s", flags, name, sig, unclear, want[name])
			}
			found++
		}
		if found != len(want) {
			t.Errorf("%v: %d regions", flags, found)
		}
	}
	program := clang.Build(t, "regions.c", source, "-fopenmp", "-fopenmp-targets=x86_64-pc-linux-gnu")
	if _, _, ok := regions.Read(imagesOf(t, program)[0]).Signature("__omp_offloading_1_2_mapped_l1"); ok {
		t.Error("a region is described without debug information")
	}
}

// imagesOf returns the images of a file.
func imagesOf(t *testing.T, path string) (list [][]byte) {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lib, err := image.Read("f", data)
	if err != nil || len(lib.Images) == 0 {
		t.Fatal(len(lib.Images), err)
	}
	for _, img := range lib.Images {
		list = append(list, img.Data)
	}
	return list
}

func FuzzRead(f *testing.F) {
	data, err := os.ReadFile(filepath.Join("testdata", "debug.elf"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		table := regions.Read(data)
		if sig, _, ok := table.Signature("__omp_offloading_fe00_984416_main_l7"); ok != (sig != nil) {
			t.Errorf("%v, %v", sig, ok)
		}
		table.Environment("")
	})
}
