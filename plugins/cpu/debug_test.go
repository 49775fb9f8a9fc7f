package cpu

import (
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/uarch"
	"github.com/orepl/orepl/runtime/debug"
	"github.com/orepl/orepl/runtime/offload"
)

func TestDebugChoices(t *testing.T) {
	for env, want := range map[string]choices{
		"":                              {features: amd64.Host()},
		"gang=4":                        {features: amd64.Host(), gang: 4},
		"cpu-engine=interp, gang=1":     {features: amd64.Host(), interpret: true, gang: 1},
		"cpu-features=avx512":           {features: amd64.Host() & amd64.ForAVX512, masked: true},
		"cpu-features=avx2":             {features: amd64.Host() & amd64.ForAVX2, masked: true},
		"cpu-features=none":             {masked: true},
		"cpu-features=none,cpu-engine=": {},
		"cpu-model=zen3":                {features: amd64.Host(), model: uarch.Named("zen3")},
	} {
		t.Setenv(debug.Variable, env)
		got, err := (Options{}).choices()
		if want.model == nil {
			want.model = uarch.Host.Get()
		}
		if strings.HasSuffix(env, "=") {
			wantCode(t, err, offload.InvalidArgument)
		} else if err != nil || got != want {
			t.Errorf("%q: %+v, %v; want %+v", env, got, err, want)
		}
	}
	t.Setenv(debug.Variable, "cpu-features=none")
	_, err := New(Options{Debug: "cpu-engine=avx2"}).Open(background)
	wantCode(t, err, offload.Unsupported)
	t.Setenv(debug.Variable, "cpu-feature=none")
	_, err = New(Options{}).Open(background)
	wantCode(t, err, offload.InvalidArgument)
}

// TestListingOfAnotherProcessor lists the code of a kernel for an engine that this machine need not have.
func TestListingOfAnotherProcessor(t *testing.T) {
	t.Setenv(debug.Variable, "cpu-features=none")
	m, err := ir.ParseText("test.ir", fixtureKernels)
	must(t, err)
	for options, want := range map[string]string{
		"": "run by the interpreter", "cpu-engine=avx2": "ymm", "cpu-engine=avx512": "zmm", "cpu-engine=interp": "run by the interpreter",
	} {
		got, err := List(m, Options{Debug: options})
		if must(t, err); !strings.Contains(got, want) {
			t.Errorf("%q: no %q in\n%s", options, want, got)
		}
	}
}

// TestEngineIsTold checks the listing "engine": which engine runs a kernel, and why others do not.
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
