// Package option parses the options objects that scripts pass to functions of the module 'offload'. Unknown names and values
// of other types are errors with a hint.
package option

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/convert"
	"github.com/orepl/orepl/bindings/offloadjs/element"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/inspect"
	"github.com/orepl/orepl/lang/later"
	"github.com/orepl/orepl/lang/spelling"
	contract "github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// Set is an options object. Its methods return options by name and record the first error, so that callers check Err once
// after all options.
type Set struct {
	Op     string // the function with the options, for error messages
	engine *lang.Engine
	Obj    *goja.Object
	only   []string // if not nil, all properties of Obj
	Err    error
}

// Reader parses the options objects of an engine's scripts.
type Reader struct {
	engine *lang.Engine
	plain  *goja.Object // the prototype of object literals, Object.prototype
}

// NewReader returns the reader of an engine.
func NewReader(e *lang.Engine) *Reader {
	return &Reader{engine: e, plain: e.VM().NewObject().Prototype()}
}

// Parse returns the options of an operation. An unknown property is an error, and so is a value that is no object. v may be
// nil, undefined or null.
func (r *Reader) Parse(op string, v goja.Value, known ...string) *Set {
	o := &Set{Op: op, engine: r.engine}
	if v == nil || goja.IsUndefined(v) || goja.IsNull(v) {
		return o
	}
	obj, ok := v.(*goja.Object)
	if !ok {
		o.Fail("the options must be an object, not %s", convert.Describe(v))
		o.Hint(r.launchHint(known, v))
		return o
	}
	if obj.ClassName() == "Array" {
		o.Fail("the options must be an object, not an array")
		o.Hint(r.launchHint(known, v))
		return o
	}
	o.Obj = obj
	names := obj.GetOwnPropertyNames()
	for _, key := range names {
		if !slices.Contains(known, key) {
			o.Err = unknown(op, key, known)
			return o
		}
	}
	if obj.Prototype() == r.plain { // nothing to inherit from Object.prototype, where lookups of absent properties are slow
		o.only = names
	}
	return o
}

// ParseAll is Parse for an object, but it reports each unknown property instead of failing at the first. obj must not be nil. As in
// every [Set], an error of one option keeps the others from being read. A caller that reports all errors must clear Err after each.
func (r *Reader) ParseAll(op string, obj *goja.Object, report func(key string, err error), known ...string) *Set {
	for _, key := range obj.GetOwnPropertyNames() {
		if !slices.Contains(known, key) {
			report(key, unknown(op, key, known))
		}
	}
	return &Set{Op: op, engine: r.engine, Obj: obj}
}

func unknown(op, key string, known []string) error {
	return contract.Errorf(contract.InvalidArgument, op, "there is no option %q", key).
		WithHint("%sthe options are %s", meant(key, known), strings.Join(known, ", "))
}

// foreignOptions maps option names of other systems to launch options.
var foreignOptions = later.Value[map[string]string]{Make: func() map[string]string {
	return map[string]string{
		"n": "size", "count": "size", "items": "size", "threads": "size", "range": "size", "length": "size", "global": "size", "globalSize": "size", "workSize": "size",
		"grid": "groups", "gridSize": "groups", "gridDim": "groups", "blocks": "groups", "workgroups": "groups", "numGroups": "groups",
		"block": "groupSize", "blockSize": "groupSize", "blockDim": "groupSize", "local": "groupSize", "localSize": "groupSize", "workgroupSize": "groupSize",
		"stream": "queue", "name": "label", "timeoutMs": "timeout", "milliseconds": "timeout",
	}
}}

// optionOf returns the option for another system's name, or the name itself.
func optionOf(key string, known []string) string {
	if own := foreignOptions.Get()[key]; slices.Contains(known, own) {
		return own
	}
	return key
}

// launchHint returns advice on launch options for a bare count or array. For other operations, known has the names of their
// options, which it lists; it returns "" without any.
func (r *Reader) launchHint(known []string, v goja.Value) string {
	if !slices.Contains(known, "groupSize") {
		if len(known) == 0 {
			return ""
		}
		if slices.Equal(known, BufferKeys) {
			if element.IsArray(v) {
				return "for values write array(f32, [1, 2, 3]), or a typed array in place of the extents: buffer(f32, Float32Array.of(1, 2, 3))"
			}
			return "for a value in every element write buffer(f32, n).fill(value); the options are { " + strings.Join(known, ", ") + " }"
		}
		return "the options are { " + strings.Join(known, ", ") + " }"
	}
	if text := strings.TrimSpace(r.engine.Inspect(v, inspect.Options{Depth: inspect.TopOnly, Items: 3, MaxString: 20})); len(text) < 40 {
		return "write launch({ size: " + text + " }, …)"
	}
	return "write launch({ size: n }, …)"
}

// Hint adds advice to the error, unless there is none or it has a hint.
func (o *Set) Hint(text string) {
	if e, ok := o.Err.(*contract.Error); ok && e.Hint == "" && text != "" {
		o.Err = e.WithHint("%s", text)
	}
}

// BufferKeys lists the options of buffers.
var BufferKeys = []string{"label", "kind", "shape", "queue"}

// LaunchKeys and KernelKeys list the options of launches and kernels, which are often confused.
var (
	LaunchKeys = []string{"size", "groups", "groupSize", "queue", "device", "checks", "label", "timeout", "sharedBytes", "cooperative",
		"teams", "threadLimit"}
	KernelKeys = []string{"real", "contract", "name", "exact", "warnings"}
)

// meant suggests the intended option, or the call to which the option belongs.
func meant(key string, known []string) string {
	isLaunch := slices.Contains(known, "groupSize")
	switch {
	case slices.Equal(known, KernelKeys) && slices.Contains(LaunchKeys, optionOf(key, LaunchKeys)):
		return fmt.Sprintf("give it to the launch, as in k.launch({ size: n, %s: … }, …); ", optionOf(key, LaunchKeys))
	case isLaunch && slices.Contains(KernelKeys, key) && optionOf(key, known) == key:
		return fmt.Sprintf("give it to the kernel, as in kernel(fn, { %s: … }); ", key)
	}
	return DidYouMean(optionOf(key, known), known)
}

// DidYouMean suggests an option with a similar name, or returns "".
func DidYouMean(key string, known []string) string {
	if near := spelling.Nearest(key, known); near != "" {
		return "did you mean " + near + "? "
	}
	return ""
}

// Fail records an error, unless there is one.
func (o *Set) Fail(format string, args ...any) {
	if o.Err == nil {
		o.Err = contract.Errorf(contract.InvalidArgument, o.Op, format, args...)
	}
}

// Get returns a defined property, or nil. After an error it returns nil.
func (o *Set) Get(name string) goja.Value {
	if o.Obj == nil || o.Err != nil || o.only != nil && !slices.Contains(o.only, name) {
		return nil
	}
	v := o.Obj.Get(name)
	if v == nil || goja.IsUndefined(v) {
		return nil
	}
	return v
}

// Signal returns the option signal, or nil. It may run code of the script, so call it after the other options.
func (o *Set) Signal() *lang.Signal {
	v := o.Get("signal")
	if v == nil {
		return nil
	}
	s, err := o.engine.Signal(v)
	if err != nil && o.Err == nil {
		o.Err = err
	}
	return s
}

// Text returns an option that is a string, or "".
func (o *Set) Text(name string) string {
	v := o.Get(name)
	if v == nil {
		return ""
	}
	s, ok := element.Exported(v).(string)
	if !ok {
		o.Fail("%s must be a string, not %s", name, convert.Describe(v))
	}
	return s
}

// Bool returns an option that is true or false. missing is its default.
func (o *Set) Bool(name string, missing bool) bool {
	v := o.Get(name)
	if v == nil {
		return missing
	}
	b, ok := element.Exported(v).(bool)
	if !ok {
		o.Fail("%s must be true or false, not %s", name, convert.Describe(v))
	}
	return b
}

// OneOf returns an option that is one of values. The first value is the default.
func (o *Set) OneOf(name string, values ...string) string {
	v := o.Get(name)
	if v == nil {
		return values[0]
	}
	s, ok := element.Exported(v).(string)
	if !ok || !slices.Contains(values, s) {
		o.Fail("%s must be '%s', not %s", name, strings.Join(values, "' or '"), convert.Describe(v))
		return values[0]
	}
	return s
}

// Integer returns a non-negative integer option, or 0.
func (o *Set) Integer(name string) int {
	v := o.Get(name)
	if v == nil {
		return 0
	}
	n, err := element.Integer(v)
	if err != nil {
		o.Fail("%s: %v", name, err)
	}
	return n
}

// Native parses the launch options that only kernels of images support, and stores them in cfg. any reports whether one of them
// differs from its default.
func (o *Set) Native(cfg *session.Config) (any bool) {
	cfg.SharedBytes, cfg.Cooperative = o.Integer("sharedBytes"), o.Bool("cooperative", false)
	cfg.Teams, cfg.ThreadLimit = o.positive("teams"), o.positive("threadLimit")
	return cfg.SharedBytes != 0 || cfg.Cooperative || cfg.Teams != 0 || cfg.ThreadLimit != 0
}

// positive returns an option that is a positive integer, 0 if it is missing.
func (o *Set) positive(name string) int {
	n := o.Integer(name)
	if o.Err == nil && n < 1 && o.Get(name) != nil {
		o.Fail("%s is %d; it must be at least 1", name, n)
		o.Hint("leave it out for the default")
	}
	return n
}

// Milliseconds returns a duration option, a positive Number of milliseconds, or 0.
func (o *Set) Milliseconds(name string) time.Duration {
	v := o.Get(name)
	if v == nil {
		return 0
	}
	const most = float64(math.MaxInt64 / int64(time.Millisecond))
	x, err := element.Number(v)
	if err != nil || !(x > 0 && x < most) { // also rejects NaN
		o.Fail("%s must be a positive number of milliseconds below %.0f, not %s", name, most, convert.Describe(v))
		return 0
	}
	return time.Duration(x * float64(time.Millisecond))
}

// Extents returns an option with one count or an array of one to three counts.
func (o *Set) Extents(name string) []int { return o.ToExtents(name, o.Get(name)) }

// ToExtents converts an option's value to extents. It returns nil for an absent option.
func (o *Set) ToExtents(name string, v goja.Value) []int {
	if v == nil {
		return nil
	}
	dims, err := element.Extents(v)
	if err != nil {
		o.Err = contract.Errorf(contract.InvalidArgument, o.Op, "%s: %v", name, err).
			WithHint("write %s: n, %s: [n, m] or %s: [n, m, k]", name, name, name)
	}
	return dims
}
