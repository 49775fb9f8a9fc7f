package service

import (
	"context"
	"math"
	"reflect"
	"slices"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/later"
	contract "github.com/orepl/orepl/runtime/offload"
)

// Host is a Go function that kernels call with g.call.
type Host struct {
	Name string
	// Func has parameters of the types bool, int32, uint32, int64, uint64, float32 and float64. Before them it may take a
	// context, which is cancelled with the launch. It returns at most one such value, and optionally an error. Work-items call
	// it concurrently.
	Func any
	// AtOnce declares that Func never blocks. Kernels then call it directly, which is faster, but cancelling a launch waits
	// for it.
	AtOnce bool
}

var (
	typeContext = reflect.TypeFor[context.Context]()
	typeError   = reflect.TypeFor[error]()
)

// goTypes maps kinds of Go types to the types of a service's values.
var goTypes = later.Value[map[reflect.Kind]ir.Type]{Make: func() map[reflect.Kind]ir.Type {
	return map[reflect.Kind]ir.Type{
		reflect.Bool: ir.Bool, reflect.Int32: ir.I32, reflect.Uint32: ir.U32, reflect.Int64: ir.I64, reflect.Uint64: ir.U64,
		reflect.Float32: ir.F32, reflect.Float64: ir.F64,
	}
}}

// service returns a service that calls the Go function. It returns an error for a wrong name, and for a Func whose type differs from
// what [Host] requires.
func (h Host) service() (*service, error) {
	const op = "service"
	if !serviceName.Get().MatchString(h.Name) {
		return nil, contract.Errorf(contract.InvalidArgument, op, "%q is no name of a service: it begins with a letter", h.Name)
	}
	f := reflect.ValueOf(h.Func)
	if f.Kind() != reflect.Func || f.IsNil() || f.Type().IsVariadic() {
		return nil, contract.Errorf(contract.InvalidArgument, op, "Func of the service %s is %T, and must be a function with a fixed number of parameters", h.Name, h.Func)
	}
	t := f.Type()
	s := &service{name: h.Name, atOnce: h.AtOnce, withContext: t.NumIn() > 0 && t.In(0) == typeContext}
	first := 0
	if s.withContext {
		first = 1
	}
	for i := first; i < t.NumIn(); i++ {
		arg, ok := goTypes.Get()[t.In(i).Kind()]
		if !ok {
			return nil, contract.Errorf(contract.InvalidArgument, op, "parameter %d of the service %s is a %v", i+1, h.Name, t.In(i)).
				WithHint("kernels pass bool, int32, uint32, int64, uint64, float32 and float64")
		}
		s.args = append(s.args, arg)
	}
	results := t.NumOut()
	fails := results > 0 && t.Out(results-1) == typeError
	if fails {
		results--
	}
	known := true
	if results == 1 {
		s.result, known = goTypes.Get()[t.Out(0).Kind()]
	}
	if results > 1 || !known {
		return nil, contract.Errorf(contract.InvalidArgument, op, "the service %s has results that kernels cannot take", h.Name).
			WithHint("return nothing, a number or bool, an error, or one of these and an error")
	}
	s.host = func(ctx context.Context, values []uint64) (uint64, error) {
		in := make([]reflect.Value, 0, t.NumIn())
		if s.withContext {
			in = append(in, reflect.ValueOf(ctx))
		}
		for i, bits := range values {
			in = append(in, goValue(t.In(first+i), s.args[i], bits))
		}
		out := f.Call(in)
		if fails {
			if err, _ := out[len(out)-1].Interface().(error); err != nil {
				return 0, &contract.Error{Code: codeOf(err), Op: "call", Detail: "the service " + s.name + " failed: " + err.Error(), Err: err}
			}
		}
		if s.result == ir.Void {
			return 0, nil
		}
		return goBits(out[0], s.result), nil
	}
	return s, nil
}

// codeOf returns the code of an error, or BackendFailure if the error has none.
func codeOf(err error) contract.Code {
	if code := contract.CodeOf(err); code != "" {
		return code
	}
	return contract.BackendFailure
}

// goValue converts bits to a value of a Go type.
func goValue(of reflect.Type, t ir.Type, bits uint64) reflect.Value {
	v := reflect.New(of).Elem()
	switch t {
	case ir.Bool:
		v.SetBool(bits != 0)
	case ir.I32:
		v.SetInt(int64(int32(bits)))
	case ir.I64:
		v.SetInt(int64(bits))
	case ir.U32, ir.U64:
		v.SetUint(bits)
	case ir.F32:
		v.SetFloat(float64(math.Float32frombits(uint32(bits))))
	case ir.F64:
		v.SetFloat(math.Float64frombits(bits))
	}
	return v
}

func goBits(v reflect.Value, t ir.Type) uint64 {
	switch t {
	case ir.Bool:
		if v.Bool() {
			return 1
		}
		return 0
	case ir.I32:
		return uint64(uint32(v.Int()))
	case ir.I64:
		return uint64(v.Int())
	case ir.U32, ir.U64:
		return v.Uint()
	case ir.F32:
		return uint64(math.Float32bits(float32(v.Float())))
	}
	return math.Float64bits(v.Float())
}

// serveHost calls a Go function on the calling kernel's goroutine.
func (s *service) serveHost(ctx context.Context, r *contract.Request) (uint64, error) {
	var few [8]uint64
	values := few[:0]
	for i, a := range r.Args {
		bits, err := converted(a.Bits, fromContract(a.Type), s.args[i])
		if err != nil {
			return 0, contract.Errorf(contract.InvalidArgument, "call", "argument %d of the service %s: %v", i+1, s.name, err)
		}
		values = append(values, bits)
	}
	bits, err := s.host(ctx, values)
	if used := fromContract(r.Result); err == nil && used != ir.Void {
		if bits, err = converted(bits, s.result, used); err != nil {
			err = contract.Errorf(contract.InvalidArgument, "call", "the service %s returned a wrong value: %v", s.name, err)
		}
	}
	if err != nil {
		s.failures.Add(1)
	}
	return bits, err
}

// hostServices returns the services of the embedding program by name.
func hostServices(list []Host) (map[string]*service, error) {
	m := map[string]*service{}
	for _, h := range list {
		s, err := h.service()
		if err != nil {
			return nil, err
		}
		if m[h.Name] != nil {
			return nil, contract.Errorf(contract.InvalidArgument, "service", "two services are named %q", h.Name)
		}
		m[h.Name] = s
	}
	return m, nil
}

// Check returns the error of the first invalid service.
func Check(list []Host) error {
	_, err := hostServices(slices.Clone(list))
	return err
}
