package convert

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/internals"
)

var (
	typeContext = reflect.TypeFor[context.Context]()
	typeError   = reflect.TypeFor[error]()
	typeFloat   = reflect.TypeFor[float64]()
	typeInt     = reflect.TypeFor[int]()
	typeString  = reflect.TypeFor[string]()
	typeBool    = reflect.TypeFor[bool]()
	typeBytes   = reflect.TypeFor[[]byte]()
	typeFloats  = reflect.TypeFor[[]float32]()
	typeDoubles = reflect.TypeFor[[]float64]()
)

// signature describes a Go function that scripts can call.
type signature struct {
	fn      reflect.Value
	context bool // the first parameter is a context.Context
	async   bool // the function runs on a goroutine of its own
	params  []reflect.Type
	last    reflect.Type // element type of the variadic parameter; nil without one
	result  bool
	fails   bool   // the last result is an error
	usage   string // the hint for wrong arguments; if empty, a reference to help()
}

func signatureOf(name string, fn any) (*signature, error) {
	v := reflect.ValueOf(fn)
	if v.Kind() != reflect.Func || v.IsNil() {
		return nil, fmt.Errorf("%s must be a function, not %T", name, fn)
	}
	t, s := v.Type(), &signature{fn: v}
	for i := range t.NumIn() {
		in := t.In(i)
		switch {
		case i == 0 && in == typeContext:
			s.context = true
			continue
		case t.IsVariadic() && i == t.NumIn()-1:
			in = in.Elem()
			s.last = in
		default:
			s.params = append(s.params, in)
		}
		err := fits(in)
		if in != typeValue && (in.Kind() == reflect.Func || in.Kind() == reflect.Interface && in.NumMethod() > 0) {
			err = fmt.Errorf("a script cannot pass a value of the Go type %s", in)
		}
		if err != nil {
			return nil, fmt.Errorf("parameter %d of %s: %w", i+1, name, err)
		}
	}
	n := t.NumOut()
	if n > 0 && t.Out(n-1) == typeError {
		s.fails = true
		n--
	}
	if n > 1 {
		return nil, fmt.Errorf("%s returns %d results; a function for scripts returns one and an error", name, n)
	}
	if s.result = n == 1; s.result {
		if err := fits(t.Out(0)); err != nil {
			return nil, fmt.Errorf("the result of %s: %w", name, err)
		}
	}
	return s, nil
}

// CheckFunc returns an error if fn is no function that [Func] wraps.
func CheckFunc(name string, fn any) error {
	_, err := signatureOf(name, fn)
	return err
}

// Func wraps a Go function as a script function. fn has at most one result, and may have an error after it. Other functions,
// and types without a form in scripts, are errors. Parameters are decoded, the result is encoded, and an error is thrown. A
// context as first parameter is cancelled with the call. Trailing parameters of pointer types are optional.
func Func(e *lang.Engine, name string, fn any) (lang.NativeFunc, error) {
	s, err := signatureOf(name, fn)
	if err != nil {
		return nil, err
	}
	return s.native(e, name), nil
}

func (s *signature) native(e *lang.Engine, name string) lang.NativeFunc {
	return func(call goja.FunctionCall) (goja.Value, error) {
		args, err := s.arguments(e, name, call)
		if err != nil {
			return nil, err
		}
		result, err := s.call(e.Running(), args)
		if err != nil {
			return nil, err
		}
		return s.encode(e, result)
	}
}

// AsyncFunc is Func for a function that runs on a goroutine of its own; the script receives a promise. A parameter of type
// [goja.Value] is an error.
func AsyncFunc(e *lang.Engine, name string, fn any) (lang.NativeFunc, error) {
	s, err := signatureOf(name, fn)
	if err != nil {
		return nil, err
	}
	s.async = true
	for _, t := range append(s.params, s.last) {
		if t == typeValue {
			return nil, fmt.Errorf("%s runs beside the script and cannot take its values as they are", name)
		}
	}
	return e.Promised(func(call goja.FunctionCall) (goja.Value, error) {
		args, err := s.arguments(e, name, call)
		if err != nil {
			return nil, err
		}
		return e.Async(name, func(ctx context.Context) (func() (goja.Value, error), error) {
			result, err := s.call(ctx, args)
			if err != nil {
				return nil, err
			}
			return func() (goja.Value, error) { return s.encode(e, result) }, nil
		}), nil
	}), nil
}

func (s *signature) arguments(e *lang.Engine, name string, call goja.FunctionCall) ([]reflect.Value, error) {
	given := len(call.Arguments)
	if given > len(s.params) && s.last == nil {
		return nil, &lang.ArgumentError{Func: name, Name: fmt.Sprintf("argument %d", len(s.params)+1), Detail: "is one too many",
			Advice: fmt.Sprintf("%s takes %d", name, len(s.params))}
	}
	n := max(given, len(s.params))
	args := make([]reflect.Value, 0, n+1)
	if s.context {
		args = append(args, reflect.Value{}) // placeholder for the context, which call sets
	}
	for i := range n {
		t := s.last
		if i < len(s.params) {
			t = s.params[i]
		}
		if v, ok := simple(call.Argument(i), t); ok {
			args = append(args, v)
			continue
		}
		v := reflect.New(t).Elem()
		if err := (&decoder{vm: e.VM(), during: !s.async}).run(call.Argument(i), v); err != nil {
			var bad *Error
			if !errors.As(err, &bad) {
				return nil, err
			}
			return nil, &lang.ArgumentError{Func: name, Name: fmt.Sprintf("argument %d", i+1), Detail: bad.Error(), Advice: cmp.Or(bad.Advice, s.usage)}
		}
		args = append(args, v)
	}
	return args, nil
}

// simple converts the common argument types without a decoder: number, string, boolean and typed array. It returns false
// unless the value has exactly the type t.
func simple(v goja.Value, t reflect.Type) (reflect.Value, bool) {
	if goja.IsNumber(v) {
		if t == typeFloat {
			return reflect.ValueOf(v.ToFloat()), true
		}
		if n := v.ToInteger(); t == typeInt && float64(n) == v.ToFloat() && int64(int(n)) == n && n >= -maxExact && n <= maxExact {
			return reflect.ValueOf(int(n)), true
		}
		return reflect.Value{}, false
	}
	switch t {
	case typeString, typeBool, typeBytes, typeFloats, typeDoubles:
		if v.ExportType() != t {
			return reflect.Value{}, false
		}
	default:
		return reflect.Value{}, false
	}
	if _, isSymbol := v.(*goja.Symbol); isSymbol { // whose ExportType is string
		return reflect.Value{}, false
	}
	switch x := internals.Export(v).(type) {
	case string:
		return reflect.ValueOf(x), true
	case bool:
		return reflect.ValueOf(x), true
	case []uint8:
		return reflect.ValueOf(slices.Clone(x)), true
	case []float32:
		return reflect.ValueOf(slices.Clone(x)), true
	case []float64:
		return reflect.ValueOf(slices.Clone(x)), true
	}
	return reflect.Value{}, false
}

func (s *signature) call(ctx context.Context, args []reflect.Value) (result reflect.Value, err error) {
	if s.context {
		args[0] = reflect.ValueOf(ctx)
	}
	out := s.fn.Call(args)
	if s.fails {
		if err, _ := out[len(out)-1].Interface().(error); err != nil {
			return result, err
		}
	}
	if s.result {
		result = out[0]
	}
	return result, nil
}

func (s *signature) encode(e *lang.Engine, result reflect.Value) (goja.Value, error) {
	if !s.result {
		return nil, nil
	}
	return (&encoder{engine: e}).value(result, nil)
}
