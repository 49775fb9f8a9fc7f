package cpu

import (
	"strings"
	"testing"

	"github.com/orepl/orepl/runtime/offload"
)

func TestDebugChoices(t *testing.T) {
	for text, want := range map[string]choices{
		"":                          {},
		"gang=4":                    {gang: 4},
		"cpu-engine=interp, gang=1": {engine: "interp", gang: 1},
		", cpu-engine=interp,":      {engine: "interp"},
	} {
		t.Setenv("OREPL_DEBUG", text)
		if got, err := (Options{}).choices(); err != nil || got != want {
			t.Errorf("%q: %+v, %v; want %+v", text, got, err, want)
		}
	}
	for text, part := range map[string]string{
		"cpu-engine=avx3":    "\"avx3\"",
		"cpu-engine":         "no engine",
		"gang=3":             "\"3\" registers",
		"gang=two":           "\"two\" registers",
		"cpu-engine=,gang=1": "no engine",
		"cpu-engin=interp":   "no switch \"cpu-engin\"",
		"gang=1,avx2":        "no switch \"avx2\"",
		"=interp":            "no switch \"\"",
	} {
		_, err := New(Options{Debug: text}).Open(background)
		wantCode(t, err, offload.InvalidArgument)
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%q: error %v, want %s in it", text, err, part)
		}
	}
}

// TestEngineIsTold asks which engine runs a kernel, and why another does not.
func TestEngineIsTold(t *testing.T) {
	const partly = `kernel partly(x: i32[*]) real f32 {
  site 0 = 0:1:1 "partly"
  site 1 = 0:9:4 "big[i]"
  private big: i32[262144]
  %0: i32 = item.global.x
  %1: i32 = load x[%0]
  %2: i32 = const 0
  %3: bool = lt %1, %2
  if %3 {
    zero big !1
    %4: i32 = load big[%1] !1
    store x[%0], %4
    yield
  } else {
    yield
  }
  return
}
`
	for engine, want := range map[string][2]string{
		"cpu-engine=interp": {"the interpreter", "the interpreter"},
		"cpu-engine=avx2,gang=2": {"AVX2 code, gangs of 16 work-items",
			"the interpreter; no vector code: 1048576 bytes of private arrays, for `partly` at 1:1"},
		"cpu-engine=avx512,gang=1": {"AVX512 code, gangs of 16 work-items",
			"the interpreter; no vector code: 1048576 bytes of private arrays, for `partly` at 1:1"},
	} {
		t.Run(engine, func(t *testing.T) {
			if _, err := (Options{Debug: engine}).choices(); err != nil {
				t.Skip(err)
			}
			f := open(t, Options{Debug: engine})
			p, err := f.dev.Load(background, image(t, fixtureKernels+"\n"+partly))
			must(t, err)
			for i, name := range []string{"saxpy", "partly"} {
				if got, err := p.(offload.Lister).Listing(name, "engine"); err != nil || got != want[i] {
					t.Errorf("%s is run by %q, %v; want %q", name, got, err, want[i])
				}
			}
		})
	}
}

// TestRefusedKernelRuns launches a kernel that has no vector code.
func TestRefusedKernelRuns(t *testing.T) {
	const large = `kernel large(x: i32[*]) real f32 {
  site 0 = 0:1:1 "large"
  private big: i32[132000]
  %0: i32 = item.global.x
  zero big
  %1: i32 = load x[%0]
  store big[%1], %0
  %2: i32 = load big[%1]
  store x[%0], %2
  return
}
`
	f := open(t, Options{Debug: "gang=4"})
	p, err := f.dev.Load(background, image(t, fixtureKernels+"\n"+large))
	must(t, err)
	k, err := p.Kernel("large")
	must(t, err)
	x := f.buffer(offload.I32, 100, "x")
	for range 2 {
		clear(x.Memory.Bytes())
		must(t, f.queue.Launch(&offload.Launch{Kernel: k, Size: [3]int{100, 1, 1}, Args: []offload.Arg{x}}))
		f.sync()
		if got := x.Memory.Bytes()[4*99]; got != 99 {
			t.Fatalf("the last element is %d, not 99", got)
		}
	}
	got, err := p.(offload.Lister).Listing("large", "engine")
	if must(t, err); !strings.HasPrefix(got, "the interpreter") {
		t.Errorf("it is run by %q", got)
	}
}
