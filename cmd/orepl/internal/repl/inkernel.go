package repl

import (
	"regexp"
	"slices"
	"strings"

	"github.com/orepl/orepl/bindings"
	"github.com/orepl/orepl/lang/kernel"
	"github.com/orepl/orepl/lang/later"
)

// kernelText is the kernel text around the cursor.
type kernelText struct {
	item   string   // name of the item object; empty without parameters
	params []string // names of the other parameters
	body   string   // text up to the cursor
}

// kernelHead matches the start of a kernel's function after "kernel(" and an optional signature.
var kernelHead = later.Value[*regexp.Regexp]{Make: func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*(?:\{[^{}]*\}\s*,\s*)?(?:(?:function\b[^(]*)?\(([^()]*)\)\s*(?:=>|\{)|([\p{L}\p{N}_$]+)\s*=>)`)
}}

// kernelAround returns the kernel around a place, or nil.
func kernelAround(text string, at *place) *kernelText {
	for i := len(at.open) - 1; i >= 0; i-- {
		b := at.open[i]
		if b.char != '(' || !strings.HasSuffix(text[:b.at], "kernel") || trailingName(text[:b.at]) != "kernel" {
			continue
		}
		m := kernelHead.Get().FindStringSubmatchIndex(text[b.at+1:])
		if m == nil {
			return nil
		}
		inside := text[b.at+1:]
		k := &kernelText{body: inside[m[1]:]}
		list := ""
		if m[2] >= 0 {
			list = inside[m[2]:m[3]]
		} else {
			list = inside[m[4]:m[5]]
		}
		for _, p := range strings.Split(list, ",") {
			name, _, _ := strings.Cut(p, ":") // cuts a TypeScript type
			if name = strings.TrimSpace(name); isName(name) {
				k.params = append(k.params, name)
			}
		}
		if len(k.params) > 0 {
			k.item, k.params = k.params[0], k.params[1:]
		}
		return k
	}
	return nil
}

// bufferMembers are the members of an array in kernels.
var bufferMembers = []string{"length", "shape", "flat"}

// kernelMembers returns completions after a dot in a kernel. ok is false if the chain does not start with a name of the
// kernel.
func (c *completion) kernelMembers(chain []step) (words []string, ok bool) {
	k := c.kernel
	if len(chain) == 0 || chain[0].kind != memberStep {
		return nil, false
	}
	switch first := chain[0].text; {
	case first == k.item:
		return c.entryMembers("g", chain[1:]), true
	case first == "Math" || first == "Atomics":
		words := c.entryMembers(first, chain[1:])
		if len(chain) == 1 && first == "Math" {
			words = append(words, kernel.MathNames()...)
		}
		return words, true
	case slices.Contains(k.params, first) || k.declares(first):
		rest := chain[1:]
		for len(rest) > 0 && rest[0].kind == indexStep {
			rest = rest[1:]
		}
		switch {
		case len(rest) == 0 && (len(chain) == 1 || slices.Contains(k.params, first)):
			return bufferMembers, true
		case len(rest) == 1 && rest[0] == (step{memberStep, "flat"}):
			return []string{"length"}, true
		}
		return nil, true
	}
	return nil, false
}

// entryMembers returns the documented members at the end of a chain from a name, or nil if a part of the chain is not
// documented.
func (c *completion) entryMembers(name string, chain []step) []string {
	e, _, ok := c.p.Registry.Lookup(name)
	for _, st := range chain {
		if !ok || st.kind != memberStep {
			return nil
		}
		if e, ok = e.Member(st.text); !ok {
			return nil
		}
	}
	if !ok {
		return nil
	}
	var words []string
	for _, m := range e.Members {
		words = append(words, m.Name)
	}
	if len(chain) > 0 {
		words = append(words, c.p.Registry.Keys(e.Type())...)
		words = append(words, c.typeMembers(e.Type())...)
	}
	return words
}

// typeMembers returns the members of a documented interface, or nil for other types.
func (c *completion) typeMembers(typ string) []string {
	e, _, ok := c.p.Registry.Type(typ)
	if !ok || e.Kind != bindings.Interface {
		return nil
	}
	var words []string
	for _, m := range e.Members {
		words = append(words, m.Name)
	}
	return words
}

var declared = later.Value[*regexp.Regexp]{Make: func() *regexp.Regexp {
	return regexp.MustCompile(`\b(?:const|let|var)\s+([\p{L}\p{N}_$]+)`)
}}

// declares reports whether the kernel declares a name before the cursor.
func (k *kernelText) declares(name string) bool {
	return slices.ContainsFunc(declared.Get().FindAllStringSubmatch(k.body, -1), func(m []string) bool { return m[1] == name })
}

// names returns the kernel's own names before the cursor.
func (k *kernelText) names() []string {
	words := append([]string{}, k.params...)
	if k.item != "" {
		words = append(words, k.item)
	}
	for _, m := range declared.Get().FindAllStringSubmatch(k.body, -1) {
		words = append(words, m[1])
	}
	return words
}
