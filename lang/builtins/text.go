package builtins

import (
	"slices"
	"unicode/utf16"

	"github.com/dop251/goja"
)

// installText replaces methods of texts that lose unpaired surrogates.
func (b *set) installText() error {
	proto := b.object("String", "prototype")
	for _, name := range []string{"toLowerCase", "toUpperCase", "toLocaleLowerCase", "toLocaleUpperCase", "normalize", "trim", "trimStart", "trimEnd"} {
		b.wrap(proto, name, func(c goja.FunctionCall, fn function) goja.Value {
			if isNullish(c.This) {
				return fn(c)
			}
			s := b.text(c.This)
			c.This = s
			parts := splitSurrogates(s)
			if len(parts) == 0 {
				return fn(c)
			}
			return b.partwise(name, parts, c, fn)
		})
	}
	return nil
}

// partwise applies the method called name to the parts of a text between unpaired surrogates. Methods that trim apply only to
// the ends of the text.
func (b *set) partwise(name string, parts []goja.String, c goja.FunctionCall, fn function) goja.Value {
	var units []uint16
	for i, part := range parts {
		c.This = part
		trims := name == "trim" || name == "trimStart" || name == "trimEnd"
		first, last := i == 0, i == len(parts)-1
		switch {
		case i%2 == 1, // a surrogate
			trims && !first && !last, name == "trimStart" && !first, name == "trimEnd" && !last:
		case name == "trim" && first:
			part = b.call(callable(b.object("String", "prototype").Get("trimStart")), part).(goja.String)
		case name == "trim" && last:
			part = b.call(callable(b.object("String", "prototype").Get("trimEnd")), part).(goja.String)
		default:
			part = fn(c).(goja.String)
		}
		units = appendUnits(units, part)
	}
	return goja.StringFromUTF16(units)
}

func appendUnits(units []uint16, s goja.String) []uint16 {
	for i := range s.Length() {
		units = append(units, s.CharAt(i))
	}
	return units
}

// splitSurrogates returns the parts of a text between unpaired surrogates and the surrogates themselves, by turns. It returns
// nil if the text has no unpaired surrogate.
func splitSurrogates(s goja.String) []goja.String {
	if !slices.Contains([]rune(s.String()), '\ufffd') {
		return nil
	}
	units := appendUnits(nil, s)
	var parts []goja.String
	from := 0
	for i := 0; i < len(units); i++ {
		if !utf16.IsSurrogate(rune(units[i])) {
			continue
		}
		if i+1 < len(units) && utf16.DecodeRune(rune(units[i]), rune(units[i+1])) != '\ufffd' {
			i++
			continue
		}
		parts = append(parts, goja.StringFromUTF16(units[from:i]), goja.StringFromUTF16(units[i:i+1]))
		from = i + 1
	}
	if parts == nil {
		return nil
	}
	return append(parts, goja.StringFromUTF16(units[from:]))
}
