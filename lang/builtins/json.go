package builtins

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf16"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/internals"
)

// A JSONError says why a text is not JSON, and at which UTF-16 unit.
type JSONError struct {
	Message, Hint string
	Offset        int
}

func (e *JSONError) Error() string { return e.Message }

// mostJSONDepth is the maximum number of arrays and objects that contain one another.
const mostJSONDepth = 1 << 18

// installJSON replaces JSON.parse, and the indentation of JSON.stringify.
func (b *set) installJSON() error {
	var walk goja.Callable
	paths := [...][2]string{{"Array", "isArray"}, {"Object", "keys"}, {"Reflect", "apply"}, {"Reflect", "defineProperty"}, {"Reflect", "deleteProperty"}}
	var used [len(paths)]goja.Value // by the script, which runs after others may have replaced them
	for i, path := range paths {
		used[i] = b.object(path[0]).Get(path[1])
	}
	b.method(b.object("JSON"), "parse", 2, func(c goja.FunctionCall) goja.Value {
		p := &jsonParser{set: b, text: b.text(c.Argument(0))}
		p.ascii, p.units = internals.Text(p.text)
		p.n = p.text.Length()
		v := p.whole()
		if reviver := c.Argument(1); callable(reviver) != nil {
			if walk == nil {
				revive, err := b.Run("orepl:revive.js", reviveText)
				if err != nil {
					b.Throw(err)
				}
				walk = callable(b.call(callable(revive), nil, used[:]...))
			}
			return b.call(walk, nil, reviver, v)
		}
		return v
	})
	native, ok := internals.NativeOf(b.object("JSON").Get("stringify").(*goja.Object))
	if !ok {
		return fmt.Errorf("JSON.stringify is no function of the interpreter")
	}
	compact := *native.Call
	*native.Call = func(c goja.FunctionCall) goja.Value {
		gap := gapOf(c.Argument(2))
		out := compact(goja.FunctionCall{This: c.This, Arguments: []goja.Value{c.Argument(0), c.Argument(1)}})
		if text, ok := out.(goja.String); ok && gap.Length() > 0 {
			return b.indented(text, gap)
		}
		return out
	}
	return nil
}

// gapOf returns the text by which the third argument of JSON.stringify indents each level: at most 10 characters of a string,
// or at most 10 spaces for a number.
func gapOf(space goja.Value) goja.String {
	const most = 10
	if o, ok := space.(*goja.Object); ok {
		switch o.ClassName() {
		case "Number":
			space = o.ToNumber()
		case "String":
			space = o.ToString()
		}
	}
	if s, ok := space.(goja.String); ok {
		return s.Substring(0, min(s.Length(), most))
	}
	n := 0.0
	if goja.IsNumber(space) {
		n = min(space.ToFloat(), most)
	}
	return goja.StringFromUTF16(slices.Repeat([]uint16{' '}, max(int(n), 0)))
}

// indented returns a JSON text without white space as one with a line for each element and property.
func (b *set) indented(text, gap goja.String) goja.Value {
	ascii, units := internals.Text(text)
	ascii2, units2 := internals.Text(gap)
	if units == nil && units2 == nil {
		return b.vm.ToValue(string(indent(ascii, ascii2)))
	}
	return goja.StringFromUTF16(indent(widened(ascii, units), widened(ascii2, units2)))
}

// widened returns a text as UTF-16 units.
func widened(ascii []byte, units []uint16) []uint16 {
	if units != nil {
		return units
	}
	units = make([]uint16, len(ascii))
	for i, c := range ascii {
		units[i] = uint16(c)
	}
	return units
}

// indent inserts the line breaks, the gaps and the spaces behind colons into a valid JSON text without white space.
func indent[T byte | uint16](text, gap []T) []T {
	out := make([]T, 0, 2*len(text))
	depth := 0
	line := func() {
		out = append(out, '\n')
		for range depth {
			out = append(out, gap...)
		}
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch c {
		case '"':
			from := i
			for i++; text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			out = append(out, text[from:i+1]...)
			continue
		case '[', '{':
			out = append(out, c)
			if text[i+1] == ']' || text[i+1] == '}' {
				i++
				out = append(out, text[i])
				continue
			}
			depth++
			line()
			continue
		case ']', '}':
			depth--
			line()
		}
		out = append(out, c)
		switch c {
		case ',':
			line()
		case ':':
			out = append(out, ' ')
		}
	}
	return out
}

// reviveText is the script that calls the second argument of JSON.parse.
const reviveText = `"use strict"; (isArray, keys, apply, defineProperty, deleteProperty) => {
	const walk = (reviver, holder, name) => {
		const value = holder[name]
		if (typeof value === 'object' && value !== null) {
			const list = isArray(value)
			let names, count
			if (list) {
				const n = +value.length
				count = n > 0 ? n - n % 1 : 0
			} else {
				names = keys(value)
				count = names.length
			}
			for (let i = 0; i < count; i++) {
				const key = list ? '' + i : names[i]
				const v = walk(reviver, value, key)
				if (v === undefined) deleteProperty(value, key)
				else defineProperty(value, key, { __proto__: null, value: v, writable: true, enumerable: true, configurable: true })
			}
		}
		return apply(reviver, holder, [name, value])
	}
	return (reviver, value) => walk(reviver, { '': value }, '')
}`

// A jsonParser parses one text.
type jsonParser struct {
	*set
	text  goja.String
	ascii []byte
	units []uint16
	at, n int
	depth int
	polls int
}

func (p *jsonParser) peek() uint16 {
	if p.units != nil {
		return p.units[p.at]
	}
	return uint16(p.ascii[p.at])
}

// failAt throws a SyntaxError about the UTF-16 unit at an offset.
func (p *jsonParser) failAt(at int, hint, format string, args ...any) {
	e := &JSONError{Message: fmt.Sprintf(format, args...), Hint: hint, Offset: at}
	p.Throw(&diag.Diagnostic{ID: "syntax", Name: "SyntaxError", Message: e.Message, Hint: hint, Cause: e})
}

// unexpected throws the error about the next character, with a hint, or about the end of the text. Some characters have a hint
// of their own instead of the parameter.
func (p *jsonParser) unexpected(hint string) {
	if p.at >= p.n {
		p.failAt(p.at, "the text ends too early: is it whole, and is every bracket and quote closed?", "Unexpected end of JSON input")
	}
	c := p.peek()
	switch {
	case c == '\'' || c == '`':
		hint = "JSON has double quotes only"
	case c == '/':
		hint = "JSON has no comments"
	case c == '<' && p.depth == 0:
		hint = "the text begins like HTML or XML: is it the file that was meant?"
	case c == 'N' || c == 'I' || c == 'u':
		hint = "JSON has no NaN, Infinity or undefined; null stands for them"
	}
	char := string(utf16.Decode([]uint16{c}))
	if c < ' ' || c == 0x7F {
		char = fmt.Sprintf("\\u%04x", c)
	}
	p.failAt(p.at, hint, "Unexpected character '%s' in JSON at position %d", char, p.at)
}

func (p *jsonParser) space() {
	for p.at < p.n {
		switch p.peek() {
		case ' ', '\t', '\n', '\r':
			p.at++
		default:
			return
		}
	}
}

func (p *jsonParser) whole() goja.Value {
	p.space()
	v := p.value("a value is missing before it: an object, an array, a string, a number, true, false or null")
	p.space()
	if p.at < p.n {
		p.unexpected("JSON is one value: put several into [ ], or parse line by line")
	}
	return v
}

// value parses a value. hint is for the error about a character that begins no value.
func (p *jsonParser) value(hint string) goja.Value {
	if p.polls++; p.polls&4095 == 0 {
		p.Poll()
	}
	if p.at >= p.n {
		p.unexpected("")
	}
	switch c := p.peek(); {
	case c == '"':
		return p.string()
	case c == '{':
		return p.object()
	case c == '[':
		return p.array()
	case c == '-' || isDigit(c):
		return p.number()
	case c == 't':
		p.word("true", hint)
		return p.vm.ToValue(true)
	case c == 'f':
		p.word("false", hint)
		return p.vm.ToValue(false)
	case c == 'n':
		p.word("null", hint)
		return goja.Null()
	}
	p.unexpected(hint)
	return nil
}

func (p *jsonParser) word(word, hint string) {
	for i := range len(word) {
		if p.at >= p.n || p.peek() != uint16(word[i]) {
			p.unexpected("did you mean " + word + "?")
		}
		p.at++
	}
}

func (p *jsonParser) enter() {
	p.at++
	if p.depth++; p.depth > mostJSONDepth {
		p.fail("RangeError", "out-of-resources", fmt.Sprintf("JSON.parse: the text is nested more than %d deep", mostJSONDepth), "")
	}
	p.space()
}

const noCommaBehind = "remove the comma before it: JSON has none behind the last element"

func (p *jsonParser) array() goja.Value {
	p.enter()
	defer func() { p.depth-- }()
	var values []any
	if p.at < p.n && p.peek() == ']' {
		p.at++
		return p.vm.NewArray()
	}
	for {
		hint := "a value is missing before it"
		if p.at < p.n && p.peek() == ']' {
			hint = noCommaBehind
		}
		values = append(values, p.value(hint))
		p.space()
		if p.at < p.n {
			switch p.peek() {
			case ',':
				p.at++
				p.space()
				continue
			case ']':
				p.at++
				return p.vm.NewArray(values...)
			}
		}
		p.unexpected("a comma or a bracket is missing before it")
	}
}

func (p *jsonParser) object() goja.Value {
	p.enter()
	defer func() { p.depth-- }()
	o := p.vm.NewObject()
	if p.at < p.n && p.peek() == '}' {
		p.at++
		return o
	}
	for {
		if p.at >= p.n || p.peek() != '"' {
			hint := "names stand in double quotes"
			if p.at < p.n && p.peek() == '}' {
				hint = noCommaBehind
			} else if p.at < p.n && p.peek() == ',' {
				hint = "a name and its value are missing before it"
			}
			p.unexpected(hint)
		}
		key := p.string()
		p.space()
		if p.at >= p.n || p.peek() != ':' {
			p.unexpected("a colon is missing before it")
		}
		p.at++
		p.space()
		p.put(o, key, p.value("a value is missing after the colon"))
		p.space()
		if p.at < p.n {
			switch p.peek() {
			case ',':
				p.at++
				p.space()
				continue
			case '}':
				p.at++
				return o
			}
		}
		p.unexpected("a comma or a brace is missing before it")
	}
}

// put creates a property. Its name may be __proto__, or contain unpaired surrogates.
func (p *jsonParser) put(o *goja.Object, key goja.String, v goja.Value) {
	if _, units := internals.Text(key); units != nil && hasLone(units) {
		p.defineKey(o, key, v)
		return
	}
	define(o, key.String(), v)
}

// hasLone reports whether a text has a surrogate that is no part of a pair.
func hasLone(units []uint16) bool {
	for i := 0; i < len(units); i++ {
		switch units[i] >> 10 {
		case 0xD800 >> 10:
			if i+1 == len(units) || units[i+1]>>10 != 0xDC00>>10 {
				return true
			}
			i++
		case 0xDC00 >> 10:
			return true
		}
	}
	return false
}

func (p *jsonParser) string() goja.String {
	start := p.at + 1
	for p.at = start; p.at < p.n; p.at++ {
		c := p.peek()
		if c == '"' {
			p.at++
			return p.text.Substring(start, p.at-1)
		}
		if c == '\\' || c < ' ' {
			break
		}
	}
	var b goja.StringBuilder
	b.WriteSubstring(p.text, start, p.at)
	for p.at < p.n {
		from := p.at
		for p.at < p.n {
			if c := p.peek(); c == '"' || c == '\\' || c < ' ' {
				break
			}
			p.at++
		}
		b.WriteSubstring(p.text, from, p.at)
		if p.at >= p.n {
			break
		}
		c := p.peek()
		if c == '"' {
			p.at++
			return b.String()
		}
		if c < ' ' {
			p.failAt(p.at, `write it as an escape, such as \n or \t`, "A string of the JSON contains a control character at position %d", p.at)
		}
		p.escape(&b)
	}
	p.unexpected("")
	return nil
}

// escape parses an escape sequence of a string.
func (p *jsonParser) escape(b *goja.StringBuilder) {
	at := p.at
	bad := func() {
		p.failAt(at, `escapes are \" \\ \/ \b \f \n \r \t and \u with four hexadecimal digits`, "A string of the JSON contains an unknown escape at position %d", at)
	}
	if p.at++; p.at >= p.n {
		p.unexpected("")
	}
	c := p.peek()
	p.at++
	switch c {
	case '"', '\\', '/':
	case 'b':
		c = '\b'
	case 'f':
		c = '\f'
	case 'n':
		c = '\n'
	case 'r':
		c = '\r'
	case 't':
		c = '\t'
	case 'u':
		c = 0
		for range 4 {
			if p.at >= p.n {
				p.unexpected("")
			}
			d, err := strconv.ParseUint(string(rune(p.peek())), 16, 8)
			if err != nil {
				bad()
			}
			c = c<<4 | uint16(d)
			p.at++
		}
	default:
		bad()
	}
	b.WriteRune(rune(c))
}

func (p *jsonParser) number() goja.Value {
	start := p.at
	digits := func() {
		if p.at >= p.n || !isDigit(p.peek()) {
			p.unexpected("a digit is missing before it")
		}
		for p.at < p.n && isDigit(p.peek()) {
			p.at++
		}
	}
	negative := p.peek() == '-'
	if negative {
		p.at++
	}
	if p.at < p.n && p.peek() == '0' {
		if p.at++; p.at < p.n && isDigit(p.peek()) {
			p.unexpected("a number does not begin with 0")
		}
	} else {
		digits()
	}
	whole := true
	if p.at < p.n && p.peek() == '.' {
		whole = false
		p.at++
		digits()
	}
	if p.at < p.n && p.peek()|32 == 'e' {
		whole = false
		if p.at++; p.at < p.n && (p.peek() == '+' || p.peek() == '-') {
			p.at++
		}
		digits()
	}
	const exact = 15 // digits of an integer that a number holds
	if whole && p.at-start <= exact {
		n := 0
		for i := start; i < p.at; i++ {
			if c := p.text.CharAt(i); c != '-' {
				n = n*10 + int(c-'0')
			}
		}
		if negative && n == 0 {
			return p.vm.ToValue(math.Copysign(0, -1))
		}
		if negative {
			n = -n
		}
		return p.vm.ToValue(n)
	}
	f, _ := strconv.ParseFloat(p.text.Substring(start, p.at).String(), 64) // an infinity out of range
	return p.vm.ToValue(f)
}
