package orepl

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings"
	"github.com/orepl/orepl/bindings/convert"
	"github.com/orepl/orepl/lang"
	contract "github.com/orepl/orepl/runtime/offload"
)

// Module is a set of Go functions and values that scripts import by name.
type Module struct {
	Name      string
	Help      string // text of help('name')
	Functions []Function
	Values    map[string]any // constants, converted by [convert.Encode]
	Types     string         // TypeScript interfaces used in signatures
}

// Function is a Go function that scripts call.
type Function struct {
	Name string
	// Func is any function. Its parameters are decoded from the script's arguments (see [convert]), its result, if any, is
	// encoded, and its error is thrown. The context of a first parameter of type context.Context ends with the running call.
	// A [lang.NativeFunc] takes the interpreter's values without reflection, for very frequent calls.
	Func any
	// Async runs Func on its own goroutine; the script receives a promise. It has no effect on a [lang.NativeFunc].
	Async bool
	// Signature is the TypeScript signature for help and declarations, such as "(path: string): number"; default: derived
	// from Func.
	Signature string
	Help      string
	Example   string
}

// bound converts modules of the program to modules of package bindings.
func bound(modules []Module) ([]bindings.Module, error) {
	list := make([]bindings.Module, len(modules))
	for i, m := range modules {
		var err error
		if list[i], err = m.binding(); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// binding converts the module to one of package bindings. A function without a name, or with a Func that is nil or no function, is
// an error. So is one with parameters or results that scripts cannot have, and so are two exports of one name.
func (m Module) binding() (bindings.Module, error) {
	known := map[string]bool{}
	for name := range m.Values {
		known[name] = true
	}
	for _, f := range m.Functions {
		if known[f.Name] {
			return bindings.Module{}, contract.Errorf(contract.InvalidArgument, "module", "the module %q has two exports named %q", m.Name, f.Name)
		}
		known[f.Name] = true
		if f.Name == "" || f.Func == nil {
			return bindings.Module{}, fmt.Errorf("a function of module %q lacks its name or its Go function", m.Name)
		}
		if v := reflect.ValueOf(f.Func); v.Kind() != reflect.Func {
			return bindings.Module{}, contract.Errorf(contract.InvalidArgument, "module", "Func of %s.%s is %T, which is no function", m.Name, f.Name, f.Func)
		} else if v.IsNil() {
			return bindings.Module{}, contract.Errorf(contract.InvalidArgument, "module", "Func of %s.%s is nil", m.Name, f.Name)
		}
		if !f.isNative() {
			if err := convert.CheckFunc(m.Name+"."+f.Name, f.Func); err != nil {
				return bindings.Module{}, contract.Errorf(contract.InvalidArgument, "module", "%v", err)
			}
		}
	}
	return bindings.Module{Module: lang.Module{Name: m.Name, Instantiate: m.instantiate}, Help: m.Help, Types: m.Types, Entries: m.entries}, nil
}

func (m Module) entries() []bindings.Entry {
	list := make([]bindings.Entry, 0, len(m.Functions)+len(m.Values))
	for _, f := range m.Functions {
		signature := f.Signature
		if signature == "" {
			signature = convert.Signature(f.Func, f.Async)
		}
		list = append(list, bindings.NewFunction(f.Name, f.Help, f.Example, signature))
	}
	for _, name := range sortedKeys(m.Values) {
		list = append(list, bindings.NewConstant(name, convert.TypeScript(m.Values[name]), ""))
	}
	return list
}

func (m Module) instantiate(e *lang.Engine) (*goja.Object, error) {
	x := bindings.NewExports(e)
	for _, f := range m.Functions {
		fn, err := f.native(e, m.Name+"."+f.Name)
		if err != nil {
			return nil, err
		}
		x.Add(f.Name, fn)
	}
	for name, value := range m.Values {
		v, err := convert.EncodeNamed(e, m.Name+"."+name, value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		x.Set(name, v)
	}
	return x.Done()
}

// isNative reports whether the function takes values of the interpreter as they are.
func (f *Function) isNative() bool {
	switch f.Func.(type) {
	case lang.NativeFunc, func(goja.FunctionCall) (goja.Value, error):
		return true
	}
	return false
}

func (f *Function) native(e *lang.Engine, name string) (lang.NativeFunc, error) {
	switch fn := f.Func.(type) {
	case lang.NativeFunc:
		return fn, nil
	case func(goja.FunctionCall) (goja.Value, error):
		return fn, nil
	}
	if f.Async {
		return convert.AsyncFunc(e, name, f.Func)
	}
	return convert.Func(e, name, f.Func)
}

func sortedKeys[T any](m map[string]T) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
