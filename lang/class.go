package lang

import (
	"fmt"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/habits"
	"github.com/orepl/orepl/lang/inspect"
	"github.com/orepl/orepl/lang/internals"
	"github.com/orepl/orepl/lang/missing"
	"github.com/orepl/orepl/lang/wording"
)

// ClassSpec describes the script class of a Go type.
type ClassSpec[T any] struct {
	Name    string
	Methods []Method[T]
	Fields  []Field[T]
	// Construct creates the value for "new Name(…)". If nil, scripts cannot construct objects of the class.
	Construct func(call goja.ConstructorCall) (T, error)
	// Inspect formats an object for display. If nil, the class's name and fields are printed.
	Inspect func(self T, o inspect.Options) string
	// Row returns the columns of an object in console.table, as pairs of name and text. If nil, an object has no columns.
	Row func(self T) [][2]string
	// JSON returns the value that JSON.stringify writes for an object. If nil, only the properties that scripts added are
	// written. It has no effect if Construct is set.
	JSON func(self T) (goja.Value, error)
	// Dispose implements "using" at the end of a block, AsyncDispose implements "await using". Each may be nil.
	Dispose      func(self T) error
	AsyncDispose func(self T) (goja.Value, error)
	// Iterate implements "for … of" and returns an iterator of the script. If nil, objects are not iterable.
	Iterate func(self T) (goja.Value, error)
	// Call runs when an object is called. If set, the objects that [Class.New] returns are functions, unless Light is set.
	Call func(self T, call goja.FunctionCall) (goja.Value, error)
	// Light objects take a third of the time to create. They cannot be frozen and have no symbol keys.
	Light bool
}

// Method describes a method of a class.
type Method[T any] struct {
	Name string
	Call func(self T, call goja.FunctionCall) (goja.Value, error)
}

// Field is a property whose value is computed on each read.
type Field[T any] struct {
	Name string
	Get  func(self T) (goja.Value, error)
	Set  func(self T, v goja.Value) error // nil: read-only
	// Hidden fields are neither enumerable nor printed.
	Hidden bool
}

// Class creates objects that share a prototype and hold a hidden Go value.
type Class[T any] struct {
	engine *Engine
	name   string
	proto  *goja.Object
	ctor   *goja.Object // nil until the first use
	spec   ClassSpec[T]
}

// instance is the Go value hidden in an object of a class.
type instance[T any] struct {
	class *Class[T]
	self  T
	added expando // properties that scripts added to a light object
}

// printable is implemented by the hidden values of classes. print returns false if the class has no function Inspect.
type printable interface {
	print(o inspect.Options) (string, bool)
}

func (i *instance[T]) print(o inspect.Options) (string, bool) {
	if i.class.spec.Inspect == nil {
		return "", false
	}
	return i.class.spec.Inspect(i.self, o), true
}

func (i *instance[T]) row() [][2]string {
	if i.class.spec.Row == nil {
		return nil
	}
	return i.class.spec.Row(i.self)
}

// NewClass returns a new class of an engine. It defines no global: scripts know the class only by its objects and by what is
// made of [Class.Constructor].
func NewClass[T any](e *Engine, spec ClassSpec[T]) *Class[T] {
	c := &Class[T]{engine: e, name: spec.Name, spec: spec}
	names := make([]string, 0, len(spec.Methods)+len(spec.Fields)+1)
	for i := range spec.Methods {
		names = append(names, spec.Methods[i].Name)
	}
	for i := range spec.Fields {
		names = append(names, spec.Fields[i].Name)
	}
	c.proto = internals.NewObject(e.vm, append(names, "constructor"), c.define)
	if spec.Dispose != nil {
		c.symbolMethod("dispose", func(self T, _ goja.FunctionCall) (goja.Value, error) { return nil, spec.Dispose(self) })
	}
	if spec.AsyncDispose != nil {
		c.symbolMethod("asyncDispose", func(self T, _ goja.FunctionCall) (v goja.Value, err error) {
			return e.Promised(func(goja.FunctionCall) (goja.Value, error) { return spec.AsyncDispose(self) })(goja.FunctionCall{})
		})
	}
	if spec.Iterate != nil {
		c.symbolMethod("iterator", func(self T, _ goja.FunctionCall) (goja.Value, error) { return spec.Iterate(self) })
	}
	if spec.Construct == nil {
		_ = c.proto.SetPrototype(e.vm.NewDynamicObject(&missing.Members{Host: missingHost{e}, Class: spec.Name, Proto: c.proto, ToJSON: c.toJSON()})) // cannot fail on a new object
	}
	_ = c.proto.DefineDataPropertySymbol(goja.SymToStringTag, e.vm.ToValue(spec.Name), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	return c
}

// define defines the member of the class with the index at as a property of o. The members are the methods, then the fields,
// then the constructor.
func (c *Class[T]) define(o *goja.Object, at int) {
	if methods := c.spec.Methods; at < len(methods) {
		_ = o.DefineDataProperty(methods[at].Name, c.native(methods[at].Name, methods[at].Call), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	} else if at -= len(methods); at < len(c.spec.Fields) {
		c.field(o, c.spec.Fields[at])
	} else {
		_ = o.DefineDataProperty("constructor", c.Constructor(), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
}

func (c *Class[T]) symbolMethod(symbol string, fn func(T, goja.FunctionCall) (goja.Value, error)) {
	s := c.engine.intrinsics.symbol.Get(symbol).(*goja.Symbol)
	_ = c.proto.DefineDataPropertySymbol(s, c.native("[Symbol."+symbol+"]", fn), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

func (c *Class[T]) native(name string, fn func(T, goja.FunctionCall) (goja.Value, error)) *goja.Object {
	return c.engine.Func(name, func(call goja.FunctionCall) (goja.Value, error) {
		self, ok := c.Of(call.This)
		if !ok {
			return nil, c.foreign(name)
		}
		return fn(self, call)
	})
}

func (c *Class[T]) foreign(member string) error {
	return &diag.Diagnostic{
		ID: "invalid-argument", Name: "TypeError",
		Message: fmt.Sprintf("%s.%s was called on something that is no %s", c.name, member, c.name),
		Hint:    "call it as a method; a method taken off its object needs bind",
	}
}

func (c *Class[T]) field(o *goja.Object, f Field[T]) {
	get := c.engine.Func(f.Name, func(call goja.FunctionCall) (goja.Value, error) {
		self, ok := c.Of(call.This)
		switch {
		case ok:
			return f.Get(self)
		case f.Hidden && call.This == c.proto: // help and other readers inspect a prototype's members
			return nil, nil
		}
		return nil, c.foreign(f.Name)
	})
	set := goja.Value(goja.Undefined())
	switch {
	case f.Set == nil && c.spec.Construct == nil && !f.Hidden:
		set = c.native(f.Name, func(T, goja.FunctionCall) (goja.Value, error) { return nil, readOnly(c.name, f.Name) })
	case f.Set != nil:
		set = c.native(f.Name, func(self T, call goja.FunctionCall) (goja.Value, error) {
			return nil, f.Set(self, call.Argument(0))
		})
	}
	enumerable := goja.FLAG_TRUE
	if f.Hidden {
		enumerable = goja.FLAG_FALSE
	}
	_ = o.DefineAccessorProperty(f.Name, get, set, goja.FLAG_TRUE, enumerable)
}

// toJSON returns the method that JSON.stringify calls, or nil if the class has no function JSON.
func (c *Class[T]) toJSON() *goja.Object {
	if c.spec.JSON == nil {
		return nil
	}
	return c.native("toJSON", func(self T, _ goja.FunctionCall) (goja.Value, error) { return c.spec.JSON(self) })
}

func (c *Class[T]) constructor() *goja.Object {
	e := c.engine
	ctor := e.vm.ToValue(func(call goja.ConstructorCall) *goja.Object {
		return e.guarded(func() (goja.Value, error) {
			if c.spec.Construct == nil {
				return nil, &diag.Diagnostic{ID: "invalid-argument", Name: "TypeError", Message: "scripts cannot construct a " + c.name}
			}
			self, err := c.spec.Construct(call)
			if err != nil {
				return nil, err
			}
			o := call.This // created with the prototype of the class in the new expression, so that scripts can extend this class
			return o, c.tie(o, &instance[T]{class: c, self: self})
		}).(*goja.Object)
	}).(*goja.Object)
	_ = ctor.DefineDataProperty("name", e.vm.ToValue(c.name), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	_ = ctor.DefineDataProperty("prototype", c.proto, goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE)
	return ctor
}

// New returns a new object of the class for a Go value. Scripts may add properties to the object.
func (c *Class[T]) New(self T) *goja.Object {
	hidden := &instance[T]{class: c, self: self}
	if c.spec.Light {
		o := c.engine.vm.NewDynamicObject(hidden)
		_ = o.SetPrototype(c.proto) // cannot fail on a new object
		return o
	}
	o := c.engine.vm.CreateObject(c.proto)
	if c.spec.Call != nil {
		o = c.engine.Func("", func(call goja.FunctionCall) (goja.Value, error) { return c.spec.Call(self, call) })
		_, _ = o.Delete("name"), o.Delete("length") // the class may define fields with these names
		_ = o.SetPrototype(c.proto)
	}
	_ = c.tie(o, hidden) // cannot fail on a new object
	return o
}

// tie stores the Go value in an object under the hidden symbol. Copies of the properties, such as { ...object }, exclude it.
func (c *Class[T]) tie(o *goja.Object, hidden *instance[T]) error {
	return o.DefineDataPropertySymbol(c.engine.objects.hiddenSymbol, c.engine.hide(hidden), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// Of returns the Go value of an object of the class, or false for other values.
func (c *Class[T]) Of(v goja.Value) (self T, ok bool) {
	o, isObject := v.(*goja.Object)
	if !isObject {
		return self, false
	}
	i, ok := c.engine.host(o).(*instance[T])
	if !ok || i.class != c {
		return self, false
	}
	return i.self, true
}

// Constructor returns the class's constructor function.
func (c *Class[T]) Constructor() *goja.Object {
	if c.ctor == nil {
		c.ctor = c.constructor()
	}
	return c.ctor
}

// Prototype returns the object that holds the class's members.
func (c *Class[T]) Prototype() *goja.Object { return c.proto }

func (i *instance[T]) value() any { return i.self }

// HostValue returns the Go value of an object of any class, or false for other values.
func (e *Engine) HostValue(v goja.Value) (any, bool) {
	o, ok := v.(*goja.Object)
	if !ok {
		return nil, false
	}
	i, ok := e.host(o).(interface{ value() any })
	if !ok {
		return nil, false
	}
	return i.value(), true
}

// HostRow returns the columns of a host object in a table. It returns nil if the object's class has no function Row, or o is no
// host object.
func (e *Engine) HostRow(o *goja.Object) [][2]string {
	if i, ok := e.host(o).(interface{ row() [][2]string }); ok {
		return i.row()
	}
	return nil
}

// inspectHost formats objects of classes that have Inspect. It returns false for other objects.
func (e *Engine) inspectHost(o *goja.Object, opts inspect.Options) (string, bool) {
	if p, ok := e.host(o).(printable); ok {
		return p.print(opts)
	}
	return "", false
}

// missingHost implements [missing.Host].
type missingHost struct{ *Engine }

func (h missingHost) Missed(class, key string) { h.explainer.Missed(class, key) }

// readOnly returns the error of an assignment to a computed property without a setter.
func readOnly(class, field string) error {
	return &diag.Diagnostic{
		ID: "invalid-argument", Name: "TypeError", Message: fmt.Sprintf("the property %s of %s cannot be set", field, wording.WithArticle(class)),
		Hint: habits.Fixed(class, field),
	}
}
