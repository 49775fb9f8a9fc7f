package convert

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
)

type stage struct {
	Name    string
	Size    int
	Scale   float32
	Weights []float64
	Next    *stage
}

type config struct {
	Title   string
	Limit   time.Duration
	Address netip.Addr
	Stages  []stage
	Levels  map[string]uint8
	Grid    [2][]int32
	Big     *big.Int
	Any     any
	MaxURLs int  `json:"max-urls"`
	Secret  int  `orepl:"-"`
	Must    bool `orepl:",required"`
	hidden  int
}

func engine(t *testing.T) *lang.Engine {
	t.Helper()
	e, err := lang.New(lang.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

// decode runs an expression and decodes its value.
func decode(t *testing.T, script string, dst any) error {
	t.Helper()
	e := engine(t)
	v, err := e.Eval(context.Background(), "value.js", "("+script+")")
	if err != nil {
		t.Fatal(err)
	}
	var decoded error
	if err := e.Do(context.Background(), func(vm *goja.Runtime) error { decoded = Decode(vm, v, dst); return nil }); err != nil {
		t.Fatal(err)
	}
	return decoded
}

func TestDecode(t *testing.T) {
	got := config{Secret: 7, MaxURLs: 9, hidden: 1}
	err := decode(t, `{
		title: 'x', limit: '1.5s', address: '10.0.0.1', must: true, big: 10n ** 30n, any: { a: [1, 'b'] },
		stages: [{ name: 'a', size: 3, scale: 0.5, weights: new Float64Array([1, 2]) }, { next: { size: 2 ** 40 }, weights: [1, 2.5] }],
		levels: { low: 1, high: 255 }, grid: [[1], new Int32Array([2, 3])],
	}`, &got)
	if err != nil {
		t.Fatal(err)
	}
	thirty, _ := new(big.Int).SetString("1000000000000000000000000000000", 10)
	want := config{
		Title: "x", Limit: 1500 * time.Millisecond, Address: netip.MustParseAddr("10.0.0.1"), Must: true, Big: thirty,
		Any:    map[string]any{"a": []any{int64(1), "b"}},
		Stages: []stage{{Name: "a", Size: 3, Scale: 0.5, Weights: []float64{1, 2}}, {Next: &stage{Size: 1 << 40}, Weights: []float64{1, 2.5}}},
		Levels: map[string]uint8{"low": 1, "high": 255}, Grid: [2][]int32{{1}, {2, 3}}, Secret: 7, MaxURLs: 9, hidden: 1,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// TestDurations checks that a duration with whole nanoseconds stays the same as a number of milliseconds.
func TestDurations(t *testing.T) {
	e := engine(t)
	for n := time.Duration(-3000); n < 3000; n++ {
		for _, want := range []time.Duration{n * time.Microsecond, n, n*time.Second + 1} {
			got := time.Duration(0)
			if err := e.Do(context.Background(), func(vm *goja.Runtime) error {
				v, err := Encode(e, want)
				if err != nil {
					return err
				}
				return Decode(vm, v, &got)
			}); err != nil || got != want {
				t.Fatalf("%v became %v: %v", want, got, err)
			}
		}
	}
}

func TestDecodeErrors(t *testing.T) {
	for _, c := range []struct{ script, path, message, hint string }{
		{`{ must: true, stages: [{}, { size: 'big' }] }`, ".stages[1].size", `expected an integer, not the string "big"`, ""},
		{`{ must: true, stages: [{ size: 1.5 }] }`, ".stages[0].size", "expected an integer, not 1.5", ""},
		{`{ must: true, stages: [{ sise: 1 }] }`, ".stages[0].sise", "there is no field for it", "did you mean size?"},
		{`{ must: true, stages: 5 }`, ".stages", "expected an array, not 5", ""},
		{`{ must: true, stages: [null] }`, ".stages[0]", "expected an object, not null", ""},
		{`{ must: true, levels: { 'a b': 256 } }`, `.levels["a b"]`, "256 is outside the range of uint8", ""},
		{`{ must: true, levels: { x: -1 } }`, ".levels.x", "-1 is outside the range of uint8", ""},
		{`{ must: true, limit: 'soon' }`, ".limit", `"soon" is no duration`, "200ms"},
		{`{ must: true, address: 'x' }`, ".address", "unable to parse", ""},
		{`{ must: true, grid: [[]] }`, ".grid", "expected 2 elements, not 1", ""},
		{`{ must: true, secret: 1 }`, ".secret", "there is no field for it", ""},
		{`{ must: true, title: Symbol('a') }`, ".title", "expected a string, not a symbol", ""},
		{`{ must: true, title: () => 1 }`, ".title", "expected a string, not a function", ""},
		{`{}`, ".must", "is missing", ""},
		{`{ must: true, stages: [{ scale: 1e300 }] }`, ".stages[0].scale", "1e+300 is outside the range of float32", ""},
		{`{ must: true, stages: [{ size: 2 ** 53 }] }`, ".stages[0].size", "beyond the integers that a Number holds exactly", "a BigInt"},
		{`{ must: true, stages: [{ size: 2n ** 63n }] }`, ".stages[0].size", "9223372036854775808 is outside the range of int", ""},
		{`{ must: true, stages: [new Date()] }`, ".stages[0]", "expected an object, not a Date", ""},
		{`{ must: true, stages: [new Map()] }`, ".stages[0]", "expected an object, not a Map", "Object.fromEntries"},
		{`{ must: true, levels: new Date() }`, ".levels", "expected an object, not a Date", ""},
		{`{ must: true, levels: new Set(['a']) }`, ".levels", "expected an object, not a Set", ""},
		{`{ must: true, levels: /x/ }`, ".levels", "expected an object, not a RegExp", ""},
		{`{ must: true, levels: new Map([[1, 2]]) }`, ".levels", "a key of the Map: expected a string, not 1", ""},
		{`{ must: true, levels: new Map([['a', 256]]) }`, `.levels.a`, "256 is outside", ""},
		{`{ must: true, any: new Map([[{}, 2]]) }`, ".any", "a key of the Map is an object, which no Go map has", ""},
		{`{ must: true, any: [new DataView(new ArrayBuffer(1))] }`, ".any[0]", "has no value in Go", ""},
		{`{ must: true, any: [Promise.resolve(1)] }`, ".any[0]", "a promise (is an await missing?) has no value in Go", ""},
		{`{ must: true, any: { f: () => 1 } }`, ".any.f", "a function cannot be stored", "Value.Call"},
		{`{ must: true, any: [class {}] }`, ".any[0]", "a function cannot be stored", "Value.Call"},
		{`{ must: true, any: [new Proxy({}, {})] }`, ".any[0]", "a proxy has no value in Go", ""},
		{`{ must: true, any: [Symbol('s')] }`, ".any[0]", "a symbol has no value in Go", ""},
		{`{ must: true, any: new Map([['a', Symbol.iterator]]) }`, ".any.a", "a symbol has no value in Go", ""},
		{`7`, "", "expected an object, not 7", ""},
		{`(() => { const s = { size: 1 }; s.next = s; return { must: true, stages: [s] } })()`, "", "contain itself", ""},
	} {
		err := decode(t, c.script, new(config))
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%s: %v", c.script, err)
			continue
		}
		if c.path != "" && e.Path != c.path || !strings.Contains(e.Message, c.message) || !strings.Contains(diag.Hint(err), c.hint) {
			t.Errorf("%s:\n%v, path %q, hint %q", c.script, err, e.Path, diag.Hint(err))
		}
	}
	for _, script := range []string{
		`(() => { let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return { must: true, any: a } })()`,
		`(() => { let a = {}; for (let i = 0; i < 1e5; i++) a = { a }; return { must: true, any: a } })()`,
		`(() => { let a = {}; for (let i = 0; i < 1e5; i++) a = { a }; return { must: a } })()`,
		`({ must: true, any: new Array(2 ** 32 - 1) })`,
		`({ must: true, stages: { length: 2 ** 53 } })`,
	} {
		var e *Error
		if err := decode(t, script, new(config)); !errors.As(err, &e) {
			t.Errorf("%s: %v", script, err)
		}
	}
	var thrown *goja.Exception
	if err := decode(t, `{ must: true, get title() { throw new Error('no') } }`, new(config)); !errors.As(err, &thrown) {
		t.Errorf("a getter that throws gave %v", err)
	}
	if err := decode(t, `1`, config{}); err == nil {
		t.Error("a destination that is no pointer was accepted")
	}
	if err := decode(t, `1`, new(chan int)); err == nil || !strings.Contains(err.Error(), "chan int") {
		t.Errorf("a channel gave %v", err)
	}
}

// TestDecodeCopies checks that decoded values share no memory with the script.
func TestDecodeCopies(t *testing.T) {
	e := engine(t)
	v, err := e.Eval(t.Context(), "value.js", `const floats = new Float32Array([1, 2]), big = 10n ** 20n
		const value = [floats, floats.buffer, new Uint8Array(floats.buffer), big, { floats }]; value`)
	if err != nil {
		t.Fatal(err)
	}
	var list []any
	var bytes struct{ Buffer []byte }
	err = e.Do(t.Context(), func(vm *goja.Runtime) error {
		buffer, err := vm.RunString("({ buffer: floats.buffer })")
		if err != nil {
			return err
		}
		if err := Decode(vm, buffer, &bytes); err != nil {
			return err
		}
		return Decode(vm, v, &list)
	})
	if err != nil {
		t.Fatal(err)
	}
	list[0].([]float32)[0] = 7
	list[1].([]byte)[0] = 7
	list[2].([]uint8)[1] = 7
	list[3].(*big.Int).SetInt64(7)
	list[4].(map[string]any)["floats"].([]float32)[1] = 7
	bytes.Buffer[4] = 7
	if v, err := e.Eval(t.Context(), "value.js", "floats.join() + big"); err != nil || v.String() != "1,2100000000000000000000" {
		t.Errorf("the script has %v, %v", v, err)
	}
}

func TestDecodeMapsAndDates(t *testing.T) {
	var got struct {
		Levels map[string]uint8
		Names  map[int]string
		Tags   []string
		When   time.Time
		Any    []any
		Large  int64
	}
	err := decode(t, `{ levels: new Map([['a', 1]]), names: new Map([[7, 'x'], [8n, 'y']]), tags: new Set(['p', 'q']), when: new Date(5000),
		any: [new Map([['k', new Set([1])], [true, 2]]), new Date(5000)], large: 2n ** 60n }`, &got)
	if err != nil {
		t.Fatal(err)
	}
	if got.Levels["a"] != 1 || got.Names[7] != "x" || got.Names[8] != "y" || !slices.Equal(got.Tags, []string{"p", "q"}) || got.When.Unix() != 5 || got.Large != 1<<60 {
		t.Errorf("got %+v", got)
	}
	if m, _ := got.Any[0].(map[any]any); !reflect.DeepEqual(m, map[any]any{"k": []any{int64(1)}, true: int64(2)}) {
		t.Errorf("the Map is %#v", got.Any[0])
	}
	if when, _ := got.Any[1].(time.Time); when.Unix() != 5 {
		t.Errorf("the Date is %#v", got.Any[1])
	}
}

func TestDecodeExactly(t *testing.T) {
	e := engine(t)
	v, err := e.VM().RunString(`[undefined, null, { a: undefined }]`)
	if err != nil {
		t.Fatal(err)
	}
	for exact, want := range map[bool]any{
		true:  []any{Undefined{}, nil, map[string]any{"a": Undefined{}}},
		false: []any{nil, nil, map[string]any{"a": nil}},
	} {
		decode := Decode
		if exact {
			decode = DecodeExactly
		}
		var got any
		if err := decode(e.VM(), v, &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("exactly %v: %#v, want %#v: %v", exact, got, want, err)
		}
	}
}

// hidden has a method of the pointer, and no field that scripts see.
type hidden struct{ text string }

func (h *hidden) MarshalText() ([]byte, error) { return []byte(h.text), nil }

func TestEncode(t *testing.T) {
	e := engine(t)
	type samples []float32
	type level uint8
	many, all := map[string]int{}, ""
	for i := range 20 {
		name := string(rune('a' + i))
		many[name], all = i, all+fmt.Sprintf(",%q:%d", name, i)
	}
	for _, c := range []struct {
		value any
		want  string
	}{
		{nil, "null"}, {true, "true"}, {"x", `"x"`}, {int8(-3), "-3"}, {uint64(1) << 60, "1152921504606846976n"}, {int64(-1) << 60, "-1152921504606846976n"}, {int64(1<<53 - 1), "9007199254740991"}, {1.5, "1.5"},
		{[]float32{1, 2}, "Float32Array:1,2"}, {[]string{"a"}, `["a"]`}, {[2]int{1, 2}, "[1,2]"}, {map[string]int{"k": 1}, `{"k":1}`},
		{stage{Name: "n", Size: 2}, `{"name":"n","size":2,"scale":0,"weights":Float64Array:,"next":null}`},
		{time.Second, "1000"}, {errors.New("bad"), "Error: bad"}, {netip.MustParseAddr("10.0.0.1"), `"10.0.0.1"`}, {big.NewInt(5), "5n"},
		{samples{1, 2}, "Float32Array:1,2"}, {[]level{1}, "[1]"}, {[]samples{{1}, nil}, "[Float32Array:1,Float32Array:]"}, {many, "{" + all[1:] + "}"},
		{*big.NewInt(5), "5n"}, {[]big.Int{*big.NewInt(-6)}, "[-6n]"}, {struct{ N big.Int }{*big.NewInt(7)}, `{"n":7n}`},
		{hidden{"x"}, `"x"`}, {[]hidden{{"x"}}, `["x"]`}, {map[string]hidden{"k": {"x"}}, `{"k":"x"}`}, {*big.NewFloat(1.5), `"1.5"`},
	} {
		err := e.Do(context.Background(), func(vm *goja.Runtime) error {
			v, err := Encode(e, c.value)
			if err != nil {
				return err
			}
			show, err := vm.RunString(`(function show(v) {
				if (typeof v === 'bigint') return v + 'n'
				if (v instanceof Error) return String(v)
				if (ArrayBuffer.isView(v)) return v.constructor.name + ':' + v
				if (Array.isArray(v)) return '[' + v.map(show) + ']'
				if (v && typeof v === 'object') return '{' + Object.keys(v).map(k => JSON.stringify(k) + ':' + show(v[k])) + '}'
				return JSON.stringify(v) })`)
			if err != nil {
				return err
			}
			fn, _ := goja.AssertFunction(show)
			got, err := fn(nil, v)
			if err == nil && got.String() != c.want {
				t.Errorf("%v: %s, expected %s", c.value, got, c.want)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// TestEncodeTimes encodes times at and beyond the ends of what a Date holds.
func TestEncodeTimes(t *testing.T) {
	e := engine(t)
	const most = 8_640_000_000_000
	for _, c := range []struct {
		time time.Time
		ok   bool
	}{
		{time.Unix(most, 0), true}, {time.Unix(-most, 0), true}, {time.Time{}, true},
		{time.Unix(most, 1), false}, {time.Unix(-most-1, 0), false}, {time.Unix(1<<60, 0), false},
		{time.Unix(18446744073709552, 0), false}, // whose milliseconds overflow to 384
	} {
		err := e.Do(context.Background(), func(vm *goja.Runtime) error {
			v, err := Encode(e, c.time)
			if err == nil && v.Export().(time.Time).UnixMilli() != c.time.UnixMilli() {
				t.Errorf("%v became %v", c.time, v)
			}
			return err
		})
		if (err == nil) != c.ok {
			t.Errorf("%v: %v", c.time.Unix(), err)
		}
	}
}

type ring struct {
	Next *ring
	Any  any
}

func TestEncodeEndsAtCircles(t *testing.T) {
	e := engine(t)
	r := &ring{}
	r.Next = r
	list := []any{nil}
	list[0] = list
	table := map[string]any{}
	table["self"] = table
	var self any
	self = &self
	for _, value := range []any{r, list, table, self} {
		err := e.Do(context.Background(), func(*goja.Runtime) error { _, err := Encode(e, value); return err })
		if err == nil || !strings.Contains(err.Error(), "contain itself") {
			t.Errorf("%T: %v", value, err)
		}
	}
	long := &ring{}
	for range 400 {
		long = &ring{Next: long}
	}
	if err := e.Do(context.Background(), func(*goja.Runtime) error { _, err := Encode(e, long); return err }); err != nil {
		t.Error(err)
	}
}

type pointerError struct{ text string }

func (p *pointerError) Error() string { return p.text }

func TestEncodeOfNil(t *testing.T) {
	e := engine(t)
	for _, value := range []any{
		(*big.Int)(nil), (*netip.Addr)(nil), (*pointerError)(nil), (*goja.Object)(nil), (*time.Time)(nil), (func())(nil),
		map[string]int(nil), struct{ Err error }{(*pointerError)(nil)}, []*big.Int{nil},
	} {
		err := e.Do(context.Background(), func(vm *goja.Runtime) error {
			v, err := Encode(e, value)
			if err != nil {
				return err
			}
			_ = vm.Set("v", v)
			ok, err := vm.RunString("v === null || v.err === null || v[0] === null")
			if err == nil && !ok.ToBoolean() {
				t.Errorf("%T gave %v", value, v)
			}
			return err
		})
		if err != nil {
			t.Errorf("%T: %v", value, err)
		}
	}
}

func TestFunc(t *testing.T) {
	e := engine(t)
	ctx := context.Background()
	set := func(name string, fn any, wrap func(*lang.Engine, string, any) (lang.NativeFunc, error)) {
		err := e.Do(ctx, func(vm *goja.Runtime) error {
			native, err := wrap(e, name, fn)
			if err != nil {
				return err
			}
			return vm.Set(name, e.Func(name, native))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	set("add", func(a, b int) int { return a + b }, Func)
	set("join", func(sep string, parts ...string) string { return strings.Join(parts, sep) }, Func)
	set("fail", func(ctx context.Context) error { return errors.New("refused: " + fmt.Sprint(ctx.Err())) }, Func)
	set("sum", func(of map[side]int) map[side]int { return of }, Func)
	set("day", func(at time.Time) int { return at.Day() }, Func)
	set("optional", func(o *stage) bool { return o == nil }, Func)
	set("later", func(ctx context.Context, s stage) (stage, error) { s.Size++; return s, ctx.Err() }, AsyncFunc)
	for script, want := range map[string]string{
		"add(1, 2)":                       "3",
		"join('-', 'a', 'b')":             "a-b",
		"optional()":                      "true",
		"(await later({ size: 4 })).size": "5",
		"(() => { try { fail() } catch (e) { return e.message } })()":                         "refused: <nil>",
		"(() => { try { add(1, 'x') } catch (e) { return e.message } })()":                    `add: argument 2 expected an integer, not the string "x"`,
		"(() => { try { join('-', Symbol('a')) } catch (e) { return e.message } })()":         "join: argument 2 expected a string, not a symbol",
		"(() => { try { sum({ nowhere: 1 }) } catch (e) { return e.message } })()":            `sum: argument 1 .nowhere: the name does not fit: ParseSide("nowhere")`,
		"(() => { try { day('zz') } catch (e) { return e.message } })()":                      "day: argument 1 expected a Date or a time such as '2020-01-02T15:04:05Z', not the string \"zz\"",
		"day('2020-01-02T15:04:05Z')":                                                         "2",
		"JSON.stringify(sum({ left: 1, right: 2 }))":                                          `{"left":1,"right":2}`,
		"JSON.stringify(sum(new Map([['left', 3]])))":                                         `{"left":3}`,
		"(() => { try { add(1) } catch (e) { return e.message } })()":                         "add: argument 2 expected an integer, not undefined",
		"(() => { try { add(1, 2, 3) } catch (e) { return e.message } })()":                   "add: argument 3 is one too many",
		"(() => { try { optional({ sice: 1 }) } catch (e) { return e.message + e.hint } })()": "optional: argument 1 .sice: there is no field for itdid you mean size?",
	} {
		v, err := e.Eval(ctx, "call.js", script)
		if err != nil || v.String() != want {
			t.Errorf("%s: %v %v, expected %s", script, v, err, want)
		}
	}
}

// side is "L" or "R", and left or right in texts.
type side string

func (s *side) UnmarshalText(text []byte) error {
	switch string(text) {
	case "left", "right":
		*s = side(strings.ToUpper(string(text[:1])))
		return nil
	}
	return fmt.Errorf("ParseSide(%q)", text)
}

func (s side) MarshalText() ([]byte, error) {
	return []byte(map[side]string{"L": "left", "R": "right"}[s]), nil
}

func TestFuncRefuses(t *testing.T) {
	e := engine(t)
	for _, fn := range []any{7, func(chan int) {}, func() (int, int) { return 1, 2 }, func() complex64 { return 1 }, (func())(nil), func(func(int) int) {}, func(int, ...error) {}, func(fmt.Stringer) {}} {
		if _, err := Func(e, "f", fn); err == nil {
			t.Errorf("%T was accepted", fn)
		}
	}
	if _, err := AsyncFunc(e, "f", func(goja.Value) {}); err == nil {
		t.Error("an asynchronous function took a value of the script")
	}
}

func TestLowerCamel(t *testing.T) {
	for name, want := range map[string]string{"MaxSize": "maxSize", "URLPath": "urlPath", "ID": "id", "X": "x", "already": "already"} {
		if got := lowerCamel(name); got != want {
			t.Errorf("%s: %s, expected %s", name, got, want)
		}
	}
}
