package bindings

import "strings"

// NewFunction documents an exported function. A signature is "(parameters): Result"; several are overloads.
func NewFunction(name, help, example string, signatures ...string) Entry {
	return Entry{Name: name, Kind: Function, Signature: overloads(name, signatures), Help: help, Example: example}
}

// NewMethod documents a method. A signature is "(parameters): Result"; several are overloads.
func NewMethod(name, help string, signatures ...string) Entry {
	return Entry{Name: name, Kind: Method, Signature: overloads(name, signatures), Help: help}
}

// NewProperty documents a property of a TypeScript type that scripts cannot set.
func NewProperty(name, typ, help string) Entry {
	return Entry{Name: name, Kind: Property, Signature: "readonly " + name + ": " + typ, Help: help}
}

// NewConstant documents an exported value of a TypeScript type.
func NewConstant(name, typ, help string) Entry {
	return Entry{Name: name, Kind: Constant, Signature: name + ": " + typ, Help: help}
}

func overloads(name string, signatures []string) string {
	return name + strings.Join(signatures, "\n"+name)
}
