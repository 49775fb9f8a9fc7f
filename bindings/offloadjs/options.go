package offloadjs

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/convert"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/inspect"
	"github.com/orepl/orepl/lang/spelling"
	contract "github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// options parses an options object. It rejects unknown properties and records the first error, so that callers check err once
// after all options.
type options struct {
	op     string // the function with the options, for error messages
	engine *lang.Engine
	obj    *goja.Object
	only   []string // if not nil, all properties of obj
	err    error
}

// newOptions returns a parser of an operation's options. v may be nil or undefined.
func (m *instance) newOptions(op string, v goja.Value, known ...string) *options {
	o := &options{op: op, engine: m.engine}
	if v == nil || goja.IsUndefined(v) || goja.IsNull(v) {
		return o
	}
	obj, ok := v.(*goja.Object)
	if !ok {
		o.fail("the options must be an object, not %s", convert.Describe(v))
		o.hint(m.launchHint(known, v))
		return o
	}
	if obj.ClassName() == "Array" {
		o.fail("the options must be an object, not an array")
		o.hint(m.launchHint(known, v))
		return o
	}
	o.obj = obj
	names := obj.GetOwnPropertyNames()
	for _, key := range names {
		if !slices.Contains(known, key) {
			o.err = contract.Errorf(contract.InvalidArgument, op, "there is no option %q", key).
				WithHint("%sthe options are %s", meant(key, known), strings.Join(known, ", "))
			return o
		}
	}
	if obj.Prototype() == m.plain { // nothing to inherit from Object.prototype, where lookups of absent properties are slow
		o.only = names
	}
	return o
}

// foreignOptions maps option names of other systems to launch options.
var foreignOptions = map[string]string{
	"n": "size", "count": "size", "items": "size", "threads": "size", "range": "size", "length": "size", "global": "size", "globalSize": "size", "workSize": "size",
	"grid": "groups", "gridSize": "groups", "gridDim": "groups", "blocks": "groups", "workgroups": "groups", "numGroups": "groups",
	"block": "groupSize", "blockSize": "groupSize", "blockDim": "groupSize", "local": "groupSize", "localSize": "groupSize", "workgroupSize": "groupSize",
	"stream": "queue", "name": "label", "timeoutMs": "timeout", "milliseconds": "timeout",
}

// optionOf returns the option for another system's name, or the name itself.
func optionOf(key string, known []string) string {
	if own := foreignOptions[key]; slices.Contains(known, own) {
		return own
	}
	return key
}

// launchHint returns advice on launch options for a bare count or array, and the names of the options of other operations.
func (m *instance) launchHint(known []string, v goja.Value) string {
	if !slices.Contains(known, "groupSize") {
		if len(known) == 0 {
			return ""
		}
		if slices.Equal(known, bufferKeys) {
			if isArray(v) {
				return "values are a typed array in place of the extents: write buffer(f32, Float32Array.of(1, 2, 3))"
			}
			return "for a value in every element write buffer(f32, n).fill(value); the options are { " + strings.Join(known, ", ") + " }"
		}
		return "the options are { " + strings.Join(known, ", ") + " }"
	}
	if text := strings.TrimSpace(m.engine.Inspect(v, inspect.Options{Depth: inspect.TopOnly, Items: 3, MaxString: 20})); len(text) < 40 {
		return "write launch({ size: " + text + " }, …)"
	}
	return "write launch({ size: n }, …)"
}

// hint adds advice to the error.
func (o *options) hint(text string) {
	if e, ok := o.err.(*contract.Error); ok && e.Hint == "" && text != "" {
		o.err = e.WithHint("%s", text)
	}
}

// bufferKeys lists the options of buffers.
var bufferKeys = []string{"label", "kind", "shape", "queue"}

// launchKeys and kernelKeys list the options of launches and kernels, which are often confused.
var (
	launchKeys = []string{"size", "groups", "groupSize", "queue", "device", "checks", "label", "timeout", "sharedBytes", "cooperative",
		"teams", "threadLimit"}
	kernelKeys = []string{"real", "contract", "name", "exact", "warnings"}
)

// meant suggests the intended option, or the call to which the option belongs.
func meant(key string, known []string) string {
	isLaunch := slices.Contains(known, "groupSize")
	switch {
	case slices.Equal(known, kernelKeys) && slices.Contains(launchKeys, optionOf(key, launchKeys)):
		return fmt.Sprintf("give it to the launch, as in k.launch({ size: n, %s: … }, …); ", optionOf(key, launchKeys))
	case isLaunch && slices.Contains(kernelKeys, key) && optionOf(key, known) == key:
		return fmt.Sprintf("give it to the kernel, as in kernel(fn, { %s: … }); ", key)
	}
	return didYouMean(optionOf(key, known), known)
}

// didYouMean suggests an option with a similar name, or returns "".
func didYouMean(key string, known []string) string {
	if near := spelling.Nearest(key, known); near != "" {
		return "did you mean " + near + "? "
	}
	return ""
}

func (o *options) fail(format string, args ...any) {
	if o.err == nil {
		o.err = contract.Errorf(contract.InvalidArgument, o.op, format, args...)
	}
}

// get returns a defined property, or nil.
func (o *options) get(name string) goja.Value {
	if o.obj == nil || o.err != nil || o.only != nil && !slices.Contains(o.only, name) {
		return nil
	}
	v := o.obj.Get(name)
	if v == nil || goja.IsUndefined(v) {
		return nil
	}
	return v
}

// signal returns the option signal, or nil. It may run code of the script, so call it after the other options.
func (o *options) signal() *lang.Signal {
	v := o.get("signal")
	if v == nil {
		return nil
	}
	s, err := o.engine.Signal(v)
	if err != nil && o.err == nil {
		o.err = err
	}
	return s
}

func (o *options) str(name string) string {
	v := o.get(name)
	if v == nil {
		return ""
	}
	s, ok := exported(v).(string)
	if !ok {
		o.fail("%s must be a string, not %s", name, convert.Describe(v))
	}
	return s
}

func (o *options) boolean(name string, missing bool) bool {
	v := o.get(name)
	if v == nil {
		return missing
	}
	b, ok := exported(v).(bool)
	if !ok {
		o.fail("%s must be true or false, not %s", name, convert.Describe(v))
	}
	return b
}

// oneOf returns an option that is one of values. The first value is the default.
func (o *options) oneOf(name string, values ...string) string {
	v := o.get(name)
	if v == nil {
		return values[0]
	}
	s, ok := exported(v).(string)
	if !ok || !slices.Contains(values, s) {
		o.fail("%s must be '%s', not %s", name, strings.Join(values, "' or '"), convert.Describe(v))
		return values[0]
	}
	return s
}

// integer returns a non-negative integer option, or 0.
func (o *options) integer(name string) int {
	v := o.get(name)
	if v == nil {
		return 0
	}
	n, err := integer(v)
	if err != nil {
		o.fail("%s: %v", name, err)
	}
	return n
}

// nativeOptions parses the launch options that only kernels of images support. any is set if the script gave one.
func (o *options) nativeOptions(cfg *session.Config) (any bool) {
	cfg.SharedBytes, cfg.Cooperative = o.integer("sharedBytes"), o.boolean("cooperative", false)
	cfg.Teams, cfg.ThreadLimit = o.positive("teams"), o.positive("threadLimit")
	return cfg.SharedBytes != 0 || cfg.Cooperative || cfg.Teams != 0 || cfg.ThreadLimit != 0
}

// positive returns an option that is a positive integer, 0 if it is missing.
func (o *options) positive(name string) int {
	n := o.integer(name)
	if o.err == nil && n < 1 && o.get(name) != nil {
		o.fail("%s is %d; it must be at least 1", name, n)
		o.hint("leave it out for the default")
	}
	return n
}

// milliseconds returns a duration option, a positive Number of milliseconds, or 0.
func (o *options) milliseconds(name string) time.Duration {
	v := o.get(name)
	if v == nil {
		return 0
	}
	const most = float64(math.MaxInt64 / int64(time.Millisecond))
	x, err := number(v)
	if err != nil || !(x > 0 && x < most) { // also rejects NaN
		o.fail("%s must be a positive number of milliseconds below %.0f, not %s", name, most, convert.Describe(v))
		return 0
	}
	return time.Duration(x * float64(time.Millisecond))
}

// extents returns an option with one count or an array of one to three counts.
func (o *options) extents(name string) []int { return o.toExtents(name, o.get(name)) }

// toExtents converts an option's value to extents. It returns nil for an absent option.
func (o *options) toExtents(name string, v goja.Value) []int {
	if v == nil {
		return nil
	}
	dims, err := extents(v)
	if err != nil {
		o.err = contract.Errorf(contract.InvalidArgument, o.op, "%s: %v", name, err).
			WithHint("write %s: n, %s: [n, m] or %s: [n, m, k]", name, name, name)
	}
	return dims
}

// extents converts one count or an array of one to three counts.
func extents(v goja.Value) ([]int, error) {
	if o, ok := v.(*goja.Object); ok && o.Get("length") != nil {
		n := int(o.Get("length").ToInteger())
		if n < 1 || n > 3 {
			return nil, fmt.Errorf("expected one to three numbers, not %d", n)
		}
		dims := make([]int, n)
		for i := range dims {
			d, err := integer(o.Get(fmt.Sprint(i)))
			if err != nil {
				return nil, err
			}
			dims[i] = d
		}
		return dims, nil
	}
	n, err := integer(v)
	if err != nil {
		return nil, err
	}
	return []int{n}, nil
}

// integer converts a Number that is a non-negative integer.
func integer(v goja.Value) (int, error) {
	if n, ok := exported(v).(int64); ok && n >= 0 {
		return int(n), nil
	}
	x, err := number(v)
	if err == nil && x > 1<<53 {
		return 0, fmt.Errorf("expected an integer of at most 2**53, not %s", convert.Describe(v))
	}
	if err != nil || x != math.Trunc(x) || x < 0 {
		return 0, fmt.Errorf("expected an integer from 0 on, not %s", convert.Describe(v))
	}
	return int(x), nil
}

// number converts a Number to a float64.
func number(v goja.Value) (float64, error) {
	if _, isObject := v.(*goja.Object); v != nil && !isObject {
		switch v.ExportType() {
		case typeInt64, typeFloat64:
			return v.ToFloat(), nil
		}
	}
	return 0, fmt.Errorf("expected a number, not %s", convert.Describe(v))
}

var typeArrayBuffer = reflect.TypeFor[goja.ArrayBuffer]()

// exported returns the Go value of a primitive or an ArrayBuffer, and nil for other values.
func exported(v goja.Value) any {
	if v != nil && v.ExportType() == typeArrayBuffer {
		return v.Export()
	}
	return convert.Primitive(v)
}
