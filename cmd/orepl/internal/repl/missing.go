package repl

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/habits"
	"github.com/orepl/orepl/lang/later"
	"github.com/orepl/orepl/lang/spelling"
)

// access matches a block that only reads a property.
var access = later.Value[*regexp.Regexp]{Make: func() *regexp.Regexp {
	return regexp.MustCompile(`^[\p{L}_$][\p{L}\w$]*(?:\.[\p{L}_$][\p{L}\w$]*|\[[^\[\]]*\])+$`)
}}

// explainMissing prints what may be meant by a block that reads a property which its object lacks.
func (p *prompt) explainMissing(block string) {
	text := strings.TrimSpace(block)
	chain, ok := parseChain(text)
	if !ok || len(chain) < 2 || !access.Get().MatchString(text) {
		return
	}
	last := chain[len(chain)-1]
	object := strings.TrimRight(text[:strings.LastIndex(text, last.text)], ".[\"'` ")
	note := ""
	err := p.do(func(vm *goja.Runtime) error {
		r := resolver{p, vm}
		s, found := r.chain(chain[:len(chain)-1])
		if !found || s.value == nil {
			return nil
		}
		if _, host := p.engine.HostValue(s.value); host { // the engine warns of these
			return nil
		}
		_, function := goja.AssertFunction(s.value)
		switch {
		case function && last.kind == indexStep:
			note = fmt.Sprintf("%s is a function: write %[1]s()%s", object, text[len(object):])
		case last.kind == indexStep:
		case r.has(s, last.text):
		default:
			if near := spelling.Nearest(last.text, r.names(s, last.text)); near != "" {
				note = fmt.Sprintf("%s has no %s: did you mean %[1]s.%[3]s?", object, last.text, near)
			} else if hint := habits.Member("", object, last.text); hint != "" {
				note = fmt.Sprintf("%s has no %s: %s", object, last.text, hint)
			}
		}
		return nil
	})
	if err == nil && note != "" {
		p.printf("%s\n", p.paint(gray, note))
	}
}

// has reports whether a value has a property, which may be undefined. It assumes so where it meets a proxy.
func (r resolver) has(s subject, name string) bool {
	o, ok := s.value.(*goja.Object)
	if !ok {
		o = r.vm.ToValue(s.value).ToObject(r.vm)
	}
	for depth := 0; o != nil && depth < maxDepth; depth++ {
		if isProxy(o) {
			return true
		}
		if r.p.engine.OwnProperty(o, name) != nil {
			return true
		}
		o = o.Prototype()
	}
	return false
}
