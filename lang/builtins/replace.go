package builtins

import (
	"strconv"
	"strings"

	"github.com/dop251/goja"
)

func itoa(n int) string { return strconv.Itoa(n) }

// replace implements RegExp.prototype[Symbol.replace].
func (r *regExps) replace(c goja.FunctionCall) goja.Value {
	o := r.object(c.This, "[Symbol.replace]")
	s := r.text(c.Argument(0))
	with := c.Argument(1)
	fn := callable(with)
	if fn == nil {
		with = r.text(with)
	}
	if p := r.plain(o); p != nil {
		return r.replacePlain(o, p, s, with, fn)
	}
	flags := r.text(get(o, "flags")).String()
	var results []*goja.Object
	if strings.Contains(flags, "g") {
		r.eachResult(o, s, strings.ContainsAny(flags, "uv"), func(result *goja.Object) { results = append(results, result) })
	} else if result := r.executeAny(o, s); result != nil {
		results = append(results, result)
	}
	var b goja.StringBuilder
	done := 0
	for _, result := range results {
		groups := max(toLength(get(result, "length"))-1, 0)
		matched := r.text(get(result, "0"))
		at := min(toInteger(get(result, "index")), s.Length())
		captures := []goja.Value{matched}
		for i := 1; i <= groups; i++ {
			v := get(result, itoa(i))
			if !isUndefined(v) {
				v = r.text(v)
			}
			captures = append(captures, v)
		}
		named := get(result, "groups")
		var replacement goja.String
		if fn != nil {
			args := append(captures, r.vm.ToValue(at), s)
			if !isUndefined(named) {
				args = append(args, named)
			}
			replacement = r.text(r.call(fn, goja.Undefined(), args...))
		} else {
			var names *goja.Object
			if !isUndefined(named) {
				names = named.ToObject(r.vm)
			}
			replacement = r.substitute(with.(goja.String), s, at, captures, names)
		}
		if at >= done {
			b.WriteSubstring(s, done, at)
			b.WriteString(replacement)
			done = at + matched.Length()
		}
	}
	if done < s.Length() {
		b.WriteSubstring(s, done, s.Length())
	}
	return b.String()
}

// toInteger converts a value like ToIntegerOrInfinity, limited to 0 to 2^53−1.
func toInteger(v goja.Value) int { return toLength(v) }

// replacePlain implements replace for a regular expression that [regExps.plain] accepts. It finds all matches first, since a script
// cannot observe the order. fn is the function of with, or nil for a text.
func (r *regExps) replacePlain(o *goja.Object, p *compiled, s goja.String, with goja.Value, fn goja.Callable) goja.Value {
	var list [][]int32
	switch {
	case p.flags.Global:
		r.put(o, "lastIndex", 0)
		list = r.all(p, s)
	default:
		at := toLength(get(o, "lastIndex"))
		if !p.flags.Sticky {
			at = 0
		}
		var registers []int32
		if at <= s.Length() {
			registers = r.find(p, s, at, p.flags.Sticky)
		}
		end := 0
		if registers != nil {
			list = append(list, append([]int32(nil), registers...))
			end = int(registers[1])
		}
		if p.flags.Sticky {
			r.put(o, "lastIndex", end)
		}
	}
	if len(list) == 0 {
		return s
	}
	template, isText := with.(goja.String)
	literal := isText && !strings.Contains(template.String(), "$")
	var b goja.StringBuilder
	done := 0
	for n, registers := range list {
		at, end := int(registers[0]), int(registers[1])
		b.WriteSubstring(s, done, at)
		done = end
		if literal {
			b.WriteString(template)
			continue
		}
		if n&1023 == 1023 {
			r.Poll()
		}
		captures := make([]goja.Value, p.program.Groups(), p.program.Groups()+3)
		for i := range captures {
			captures[i] = groupOf(s, registers, i)
		}
		named, _ := r.groups(p, registers, func(i int) goja.Value { return captures[i] }).(*goja.Object)
		if fn == nil {
			b.WriteString(r.substitute(template, s, at, captures, named))
			continue
		}
		args := append(captures, r.vm.ToValue(at), s)
		if named != nil {
			args = append(args, named)
		}
		b.WriteString(r.text(r.call(fn, goja.Undefined(), args...)))
	}
	b.WriteSubstring(s, done, s.Length())
	return b.String()
}

// substitute implements GetSubstitution. The first capture is the match.
func (r *regExps) substitute(template, s goja.String, at int, captures []goja.Value, named *goja.Object) goja.String {
	var b goja.StringBuilder
	n := template.Length()
	write := func(v goja.Value) {
		if !isUndefined(v) {
			b.WriteString(v.(goja.String))
		}
	}
	done := 0
	for i := 0; i+1 < n; i++ {
		if template.CharAt(i) != '$' {
			continue
		}
		flush := func() { b.WriteSubstring(template, done, i) }
		switch c := template.CharAt(i + 1); {
		case c == '$':
			flush()
			b.WriteRune('$')
			i++
		case c == '&':
			flush()
			write(captures[0])
			i++
		case c == '`':
			flush()
			b.WriteSubstring(s, 0, at)
			i++
		case c == '\'':
			flush()
			if end := at + captures[0].(goja.String).Length(); end < s.Length() {
				b.WriteSubstring(s, end, s.Length())
			}
			i++
		case isDigit(c):
			index, size := int(c-'0'), 1
			if i+2 < n && isDigit(template.CharAt(i+2)) {
				if two := index*10 + int(template.CharAt(i+2)-'0'); two < len(captures) {
					index, size = two, 2
				}
			}
			if index == 0 || index >= len(captures) {
				continue
			}
			flush()
			write(captures[index])
			i += size
		case c == '<' && named != nil:
			end := i + 2
			for end < n && template.CharAt(end) != '>' {
				end++
			}
			if end == n {
				continue
			}
			name := template.Substring(i+2, end)
			flush()
			if v := get(named, name.String()); !isUndefined(v) {
				b.WriteString(r.text(v))
			}
			i = end
		default:
			continue
		}
		done = i + 1
	}
	if done == 0 {
		return template
	}
	b.WriteSubstring(template, done, n)
	return b.String()
}

// installText replaces the methods of strings that make regular expressions: match, matchAll and search.
func (r *regExps) installText() {
	proto := r.set.object("String", "prototype")
	coercible := func(c goja.FunctionCall, name string) goja.Value {
		if isNullish(c.This) {
			r.typeError("String.prototype.%s: this is null or undefined", name)
		}
		return c.This
	}
	by := func(name string, symbol *goja.Symbol, flags string) {
		r.method(proto, name, 1, func(c goja.FunctionCall) goja.Value {
			this := coercible(c, name)
			if o, ok := c.Argument(0).(*goja.Object); ok {
				if name == "matchAll" && isRegExp(o) {
					f := get(o, "flags")
					if isNullish(f) || !strings.Contains(r.text(f).String(), "g") {
						r.typeError("String.prototype.matchAll: the regular expression lacks the flag g")
					}
				}
				if fn := r.symbolFunction(o, symbol); fn != nil {
					return r.call(fn, o, this)
				}
			}
			s := r.text(this)
			f := goja.Undefined()
			if flags != "" {
				f = r.vm.ToValue(flags)
			}
			o := r.alloc(nil, r.class)
			r.initialize(o, c.Argument(0), f)
			return r.callMethod(o, symbol, s)
		})
	}
	by("match", goja.SymMatch, "")
	by("matchAll", goja.SymMatchAll, "g")
	by("search", goja.SymSearch, "")
}
