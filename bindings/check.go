package bindings

import (
	"fmt"
	"strings"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang"
)

// Check compares the exports of a module with its entries and returns a message for each difference. It must run on the
// engine's goroutine, on an engine that has the module.
func Check(e *lang.Engine, m *Module) []string {
	exports, err := e.Require(m.Name)
	if err != nil {
		return []string{err.Error()}
	}
	c := &checker{}
	if m.Help == "" {
		c.note("module %s has no help", m.Name)
	}
	c.members(m.Name, exports, m.Entries())
	for _, g := range append(append([]string{}, m.Globals...), m.PromptGlobals...) {
		if _, ok := m.Entry(g); !ok && g != m.Name {
			c.note("the global %s of module %s has no entry", g, m.Name)
		}
	}
	return c.problems
}

type checker struct{ problems []string }

func (c *checker) note(format string, args ...any) {
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}

// members compares an object's own property names with entries.
func (c *checker) members(path string, o *goja.Object, entries []Entry) {
	seen := map[string]bool{}
	for i := range entries {
		en := &entries[i]
		seen[en.Name] = true
		c.entry(path, en)
		if en.Name == "constructor" {
			continue
		}
		v := o.Get(en.Name)
		if v == nil {
			c.note("%s.%s is documented but does not exist", path, en.Name)
			continue
		}
		c.value(path+"."+en.Name, v, en)
	}
	for _, name := range o.GetOwnPropertyNames() {
		if !seen[name] && name != "constructor" && name != "default" {
			c.note("%s.%s is exported without an entry", path, name)
		}
	}
}

func (c *checker) entry(path string, en *Entry) {
	if en.Help == "" || en.Signature == "" || en.Kind == "" {
		c.note("%s.%s lacks help, signature or kind", path, en.Name)
	}
	if en.Name != "constructor" && !strings.Contains(en.Signature, en.Name) {
		c.note("the signature of %s.%s does not name it: %s", path, en.Name, en.Signature)
	}
}

func (c *checker) value(path string, v goja.Value, en *Entry) {
	o, isObject := v.(*goja.Object)
	_, callable := goja.AssertFunction(v)
	switch en.Kind {
	case Function, Method, Class:
		if !callable {
			c.note("%s is documented as a %s but cannot be called", path, en.Kind)
			return
		}
	}
	switch en.Kind {
	case Class:
		if proto, ok := o.Get("prototype").(*goja.Object); ok {
			c.prototype(path, proto, en.Members)
		}
	case Object:
		if isObject {
			c.members(path, o, en.Members)
		}
	}
}

// prototype compares the members of a class by name. It reads no property, because getters need an instance.
func (c *checker) prototype(path string, proto *goja.Object, entries []Entry) {
	names := map[string]bool{}
	for _, name := range proto.GetOwnPropertyNames() {
		names[name] = true
	}
	seen := map[string]bool{"constructor": true}
	for i := range entries {
		en := &entries[i]
		seen[en.Name] = true
		c.entry(path, en)
		if !names[en.Name] && en.Name != "constructor" && !strings.HasPrefix(en.Name, "[") {
			c.note("%s.%s is documented but does not exist", path, en.Name)
		}
	}
	for name := range names {
		if !seen[name] {
			c.note("%s.%s is a member without an entry", path, name)
		}
	}
}
