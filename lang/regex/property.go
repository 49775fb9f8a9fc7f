package regex

import (
	_ "embed"
	"strings"
	"sync"

	"github.com/orepl/orepl/lang/later"
)

//go:embed tables/unicode.bin
var propertyTable []byte

// A property is a set of code points, with strings of several code points for properties of strings.
type property struct {
	set     charSet
	strings [][]rune
}

type propertyRecord struct {
	alias string
	data  []byte // of ranges, and of strings if there are some
	more  bool
}

// properties indexes the table by name: "gc=Lu", "sc=Greek", "scx=Greek" or "Alphabetic".
var properties = later.Value[map[string]propertyRecord]{Make: func() map[string]propertyRecord {
	r := &reader{inflate(propertyTable)}
	list := map[string]propertyRecord{}
	for len(r.data) > 0 {
		name := r.text()
		switch kind := r.number(); kind {
		case 1:
			list[name] = propertyRecord{alias: r.text()}
		default:
			rest := r.data
			for range r.number() {
				r.number()
			}
			if kind == 2 {
				for range r.number() {
					for range r.number() {
						r.number()
					}
				}
			}
			list[name] = propertyRecord{data: rest[:len(rest)-len(r.data)], more: kind == 2}
		}
	}
	return list
}}

var propertySets sync.Map // maps names to *property

// propertyOf returns the property that a text between the braces of \p{…} names, or nil.
func propertyOf(name string) *property {
	if key, value, ok := strings.Cut(name, "="); ok {
		switch key {
		case "General_Category", "gc":
			name = "gc=" + value
		case "Script", "sc":
			name = "sc=" + value
		case "Script_Extensions", "scx":
			name = "scx=" + value
		default:
			return nil
		}
	} else if _, ok := properties.Get()["gc="+name]; ok {
		name = "gc=" + name
	}
	record, ok := properties.Get()[name]
	if ok && record.alias != "" {
		name = record.alias
		record, ok = properties.Get()[name]
	}
	if !ok {
		return nil
	}
	if p, ok := propertySets.Load(name); ok {
		return p.(*property)
	}
	p := &property{}
	r := &reader{record.data}
	last := 0
	for range r.number() / 2 {
		lo := last + r.number()
		last = lo + r.number()
		p.set = append(p.set, charRange{rune(lo), rune(last - 1)})
	}
	if record.more {
		for range r.number() {
			var s []rune
			for range r.number() {
				s = append(s, rune(r.number()))
			}
			p.strings = append(p.strings, s)
		}
	}
	propertySets.Store(name, p)
	return p
}

// isStringProperty reports whether a property contains strings of several code points by definition.
func isStringProperty(name string) bool {
	switch name {
	case "Basic_Emoji", "Emoji_Keycap_Sequence", "RGI_Modifier_Sequence", "RGI_Emoji_Modifier_Sequence", "RGI_Flag_Sequence",
		"RGI_Emoji_Flag_Sequence", "RGI_Emoji_Tag_Sequence", "RGI_ZWJ_Sequence", "RGI_Emoji_ZWJ_Sequence", "RGI_Emoji":
		return true
	}
	return false
}

// IsIDStart and IsIDPart report whether a code point may begin an identifier, or continue one.
func IsIDStart(c rune) bool { return isIDStart(c) }
func IsIDPart(c rune) bool  { return isIDPart(c) }

// isIDStart and isIDPart report whether a code point may begin the name of a group, or continue one.
func isIDStart(c rune) bool {
	if c < 128 {
		return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '$' || c == '_'
	}
	return propertyOf("ID_Start").set.contains(c)
}

func isIDPart(c rune) bool {
	if c < 128 {
		return isIDStart(c) || '0' <= c && c <= '9'
	}
	return c == 0x200C || c == 0x200D || propertyOf("ID_Continue").set.contains(c)
}
