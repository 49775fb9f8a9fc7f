package repl

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings"
)

// resolver finds values and their members without running code of the script: it calls no getters of scripts and uses no
// proxies. Without a value, as after a call, it uses types of the registry. It runs on the engine's goroutine.
type resolver struct {
	p  *prompt
	vm *goja.Runtime
}

// subject describes the value of a part of a chain, as far as it is known.
type subject struct {
	value goja.Value      // nil if no value is known
	entry *bindings.Entry // entry of the name, nil if undocumented
	// module is set for the global of a whole module, such as fs.
	module *bindings.Module
	typ    string // TypeScript type, if there is no value
}

// maxDepth is the maximum number of prototypes that are searched for a property.
const maxDepth = 100

// chain returns the subject of a chain, or false if a step of it is not known.
func (r resolver) chain(chain []step) (s subject, ok bool) {
	for i, st := range chain {
		switch {
		case i == 0:
			s, ok = r.global(st.text)
		case st.kind == memberStep:
			s, ok = r.member(s, st.text)
		case st.kind == indexStep:
			s, ok = r.index(s, st.text)
		default:
			s, ok = r.result(s)
		}
		if !ok {
			return subject{}, false
		}
	}
	return s, ok
}

func (r resolver) global(name string) (subject, bool) {
	s := subject{}
	s.entry, _, _ = r.p.Registry.Global(name, true)
	if m, ok := r.p.Registry.Module(name); ok && slices.Contains(m.PromptGlobals, name) {
		s.module = m
	}
	s.value = r.data(r.vm.GlobalObject(), name)
	return s, s.value != nil || s.entry != nil
}

func (r resolver) member(s subject, name string) (subject, bool) {
	next := subject{}
	if class := r.class(s); class != nil {
		next.entry, _ = class.Member(name)
	} else if s.entry != nil {
		next.entry, _ = s.entry.Member(name)
	} else if s.module != nil {
		next.entry, _ = s.module.Entry(name)
	}
	if o, ok := s.value.(*goja.Object); ok {
		if next.value = r.data(o, name); next.value != nil || next.entry == nil { // Math.fast is available only in kernels
			return next, next.value != nil
		}
	}
	if next.entry == nil {
		return subject{}, false
	}
	if _, typ, ok := strings.Cut(next.entry.Signature, ": "); ok && next.entry.Kind == bindings.Property {
		next.typ = typ
	}
	return next, true
}

func (r resolver) index(s subject, key string) (subject, bool) {
	key = strings.Trim(strings.TrimSpace(key), `'"`)
	if o, ok := s.value.(*goja.Object); ok {
		if _, err := strconv.Atoi(key); err != nil {
			return r.member(s, key)
		}
		v := r.data(o, key)
		return subject{value: v}, v != nil
	}
	typ, ok := strings.CutSuffix(s.typ, "[]")
	return subject{typ: typ}, ok
}

// result returns the subject of a call's documented result type, or false if the called function is not documented.
func (r resolver) result(s subject) (subject, bool) {
	if s.entry == nil {
		return subject{}, false
	}
	first, _, _ := strings.Cut(s.entry.Signature, "\n")
	at := strings.LastIndex(first, "): ")
	if at < 0 {
		return subject{}, false
	}
	return subject{typ: first[at+len("): "):]}, true
}

// class returns the entry of a subject's class, or nil if the class is not documented.
func (r resolver) class(s subject) *bindings.Entry {
	name, _, _ := strings.Cut(s.typ, "<")
	if _, host := r.p.engine.HostValue(s.value); host {
		if c, ok := r.data(s.value.(*goja.Object), "constructor").(*goja.Object); ok {
			if text := r.data(c, "name"); text != nil {
				name = text.String()
			}
		}
	}
	if !isName(name) {
		return nil
	}
	if e, _, ok := r.p.Registry.Lookup(name); ok && e != nil && e.Kind == bindings.Class {
		return e
	}
	return nil
}

// names returns the names of a subject's members; the caller selects those with the prefix. For an empty prefix it omits
// members that all objects have.
func (r resolver) names(s subject, prefix string) []string {
	var names []string
	if o, ok := s.value.(*goja.Object); ok {
		root := r.vm.NewObject().Prototype()
		for depth := 0; o != nil && depth < maxDepth && !isProxy(o); depth++ {
			if !(o.SameAs(root) && depth > 0 && prefix == "") && !isIndexed(o) {
				names = append(names, o.GetOwnPropertyNames()...)
			}
			o = o.Prototype()
		}
	} else if s.value != nil {
		class := r.vm.ToValue(s.value).ToObject(r.vm) // the members of the class of a string or number
		return r.names(subject{value: class.Prototype()}, prefix)
	}
	if class := r.class(s); class != nil {
		for _, m := range class.Members {
			names = append(names, m.Name)
		}
	} else if s.entry != nil {
		o, isObject := s.value.(*goja.Object)
		for _, m := range s.entry.Members {
			if !isObject || r.data(o, m.Name) != nil { // Math.erf may be available only in kernels
				names = append(names, m.Name)
			}
		}
		names = append(names, r.p.Registry.Keys(s.entry.Type())...)
	}
	return names
}

// isProxy reports whether an object is a proxy, on which any operation runs code of the script.
func isProxy(o *goja.Object) bool { return o.ExportType() == reflect.TypeFor[goja.Proxy]() }

// isIndexed reports whether an object's own names are mostly indices: those of typed arrays, and of arrays that are not empty.
func isIndexed(o *goja.Object) bool {
	if o.ClassName() == "Array" {
		return o.Get("length").ToInteger() > 0 // length is an own property without a getter
	}
	t := o.ExportType()
	return t != nil && t.Kind() == reflect.Slice
}

// data returns a property of an object or its prototypes without running code of the script. It returns nil if there is
// none, for getters of the script, and behind a proxy.
func (r resolver) data(o *goja.Object, name string) goja.Value {
	self := o
	for depth := 0; o != nil && depth < maxDepth && !isProxy(o); depth++ {
		if v, found := r.own(self, o, name); found {
			return v
		}
		o = o.Prototype()
	}
	return nil
}

// own returns an own property of an object, or false if there is none. v is nil for an accessor without a
// getter, with one of the script, or with one that throws.
func (r resolver) own(self, o *goja.Object, name string) (v goja.Value, found bool) {
	desc := r.p.engine.OwnProperty(o, name)
	if desc == nil {
		return nil, false
	}
	if v := desc.Get("value"); v != nil {
		return v, true
	}
	get, ok := goja.AssertFunction(desc.Get("get"))
	if !ok || !r.isHosts(self, desc.Get("get")) {
		return nil, true
	}
	v, err := get(self)
	if err != nil {
		return nil, true
	}
	return v, true
}

// isHosts reports whether a getter belongs to the host and may be called: of globals that are created at their first use,
// and of host classes.
func (r resolver) isHosts(self *goja.Object, getter goja.Value) bool {
	info, err := r.p.engine.FunctionInfo(getter)
	if err != nil || !info.Native || strings.HasPrefix(info.Name, "bound ") {
		return false
	}
	_, host := r.p.engine.HostValue(self)
	return host || self.SameAs(r.vm.GlobalObject())
}
