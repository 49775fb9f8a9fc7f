//go:build !nonative

package native

import (
	"strings"
	"sync/atomic"
	"testing"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/tests/clang"
)

// TestExceptions catches a C++ exception within a kernel, and checks that an uncaught one becomes an error.
func TestExceptions(t *testing.T) {
	img := load(t, `
#include <cstdint>
#include <stdexcept>
#include <vector>
struct Noted {
  std::vector<int32_t> values;
  Noted() : values{1, 2, 3} {}
};
static Noted noted;
int32_t seen;
extern "C" void caught(int64_t first, int64_t) {
  try {
    if (first == 0) throw std::runtime_error("expected");
  } catch (const std::exception &) {
    *reinterpret_cast<volatile int32_t *>(&seen) += noted.values[2];
  }
}
extern "C" void uncaught(int64_t, int64_t) { throw 1; }
`, "-x", "c++", "-lstdc++")
	c := newCaller(t, img)
	var stop atomic.Bool
	var w Words
	w.Set(layout(t), nil)
	for i := range 3 {
		_, caught, _ := img.Lookup("caught")
		if err := c.Range(caught, &w, 0, 1, &stop); err != nil {
			t.Fatal(err)
		}
		if s, _, _ := img.Lookup("seen"); img.Memory(s)[0] != byte(3*(i+1)) {
			t.Errorf("seen is %d", img.Memory(s)[0])
		}
		_, uncaught, _ := img.Lookup("uncaught")
		if err := c.Range(uncaught, &w, 0, 1, &stop); err == nil || !strings.Contains(err.Error(), "SIGABRT") {
			t.Errorf("an exception that nobody catches: %v", err)
		}
	}
}

// TestDestructorOrder checks that destructors run in reverse order of constructors.
func TestDestructorOrder(t *testing.T) {
	img, err := Load(t.Context(), "order", clang.SharedObject(t, `
#include <stdint.h>
char *trace;
__attribute__((destructor(201))) static void last(void) { if (trace) *trace++ = 'c'; }
__attribute__((destructor(202))) static void middle(void) { if (trace) *trace++ = 'b'; }
__attribute__((destructor)) static void first(void) { if (trace) *trace++ = 'a'; }
void set(int64_t a, int64_t b, char *at) { trace = at; }`))
	if err != nil {
		t.Fatal(err)
	}
	data, err := anonymousMemory(16)
	if err != nil {
		t.Fatal(err)
	}
	c, err := img.NewCaller()
	if err != nil {
		t.Fatal(err)
	}
	var stop atomic.Bool
	var w Words
	w.Set(layout(t, offload.Param{Buffer: true}), []Value{{Bits: address(data)}})
	_, set, _ := img.Lookup("set")
	if err := c.Range(set, &w, 0, 1, &stop); err != nil {
		t.Fatal(err)
	}
	c.Free()
	if err := img.Close(); err != nil {
		t.Fatal(err)
	}
	if got := strings.TrimRight(string(data), "\x00"); got != "abc" {
		t.Errorf("destructors ran in order %q", got)
	}
}
