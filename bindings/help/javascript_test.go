package help

import (
	"bytes"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings"
	"github.com/orepl/orepl/bindings/kernellang"
	"github.com/orepl/orepl/bindings/std"
	"github.com/orepl/orepl/lang"
)

// TestErrorsAreTheDocumentedOnes checks that help has the errors of docs/math.md for every function in its tables.
func TestErrorsAreTheDocumentedOnes(t *testing.T) {
	data, err := os.ReadFile("../../docs/math.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile("(?m)^\\| `(\\w+)` \\| ([0-9.]+) \\| ([0-9.]+) \\| .").FindAllStringSubmatch(string(data), -1)
	if len(rows) < 20 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, row := range rows {
		f, ok := mathDocs.Get()[row[1]]
		if !ok {
			f = extraErrors.Get()[row[1]]
		}
		f32, _ := strconv.ParseFloat(row[2], 64)
		f64, _ := strconv.ParseFloat(row[3], 64)
		if f.f32 != f32 && row[1] != "sqrt" || f.f64 != f64 && row[1] != "sqrt" {
			t.Errorf("%s: %v and %v, docs/math.md has %v and %v", row[1], f.f32, f.f64, f32, f64)
		}
	}
}

// TestBuiltinsAreThere checks that help exists for each member of Math and each global of the interpreter, and for no
// other name.
func TestBuiltinsAreThere(t *testing.T) {
	r, err := bindings.NewRegistry(append(std.Modules(), kernellang.Module())...)
	if err != nil {
		t.Fatal(err)
	}
	vm := goja.New()
	for _, name := range vm.GlobalObject().Get("Math").(*goja.Object).GetOwnPropertyNames() {
		if _, ok := mathDocs.Get()[name]; !ok {
			t.Errorf("Math.%s has no help", name)
		}
	}
	e, err := lang.New(lang.Options{Modules: r.Engine()})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	undocumented := map[string]bool{"escape": true, "unescape": true, "AggregateError": true, "EvalError": true, "URIError": true, "GoError": true}
	for _, name := range vm.GlobalObject().GetOwnPropertyNames() {
		_, _, known := r.Global(name, true)
		if _, ok := builtins.Get()[name]; !ok && !known && !undocumented[name] {
			t.Errorf("%s has no help", name)
		}
	}
	for name := range builtins.Get() {
		if v := e.VM().GlobalObject().Get(name); v == nil {
			t.Errorf("there is no %s", name)
		}
	}
}

func TestWriteJavaScript(t *testing.T) {
	r, err := bindings.NewRegistry(append(std.Modules(), kernellang.Module())...)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"Math.sin":            "sin(x: number): number\n  The sine of an angle in radians, of any size.\n  Maximum error in ulp (units in the last place): f64 0.80, f32 0.75.\n",
		"Math.random":         "On the host only",
		"Math.erf":            "f64 1.10, f32 1.10",
		"Math.PI":             "A constant of JavaScript's Math; in kernels too.",
		"Array":               "A global of JavaScript since ECMAScript 1.",
		"JSON.stringify":      "JSON.stringify\n  A function, of 3 parameters, of JavaScript's JSON.",
		"Array.map":           "Array.prototype.map\n  A function, of one parameter, of JavaScript's Array.",
		"Array.prototype.map": "Global_Objects/Array/map",
		"Map.size":            "Map.prototype.size\n  A property of JavaScript's Map.",
		"Object.groupBy":      "Object.groupBy\n",
	} {
		var b bytes.Buffer
		if err := Write(&b, r, name); err != nil || !strings.Contains(b.String(), want) {
			t.Errorf("%s: no %q in\n%s%v", name, want, b.String(), err)
		}
	}
	for _, name := range []string{"Array.nothing", "Math.nothing", "nothing.map", "JSON.a.b"} {
		if err := Write(&bytes.Buffer{}, r, name); err == nil {
			t.Errorf("%s is explained", name)
		}
	}
}
