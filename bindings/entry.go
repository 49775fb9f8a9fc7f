package bindings

import "strings"

// NewFunction returns the entry of an exported function. Each signature is "(parameters): Result"; several are overloads.
func NewFunction(name, help, example string, signatures ...string) Entry {
	return Entry{Name: name, Kind: Function, Signature: overloads(name, signatures), Help: help, Example: example}
}

// NewMethod returns the entry of a method. Each signature is "(parameters): Result"; several are overloads.
func NewMethod(name, help string, signatures ...string) Entry {
	return Entry{Name: name, Kind: Method, Signature: overloads(name, signatures), Help: help}
}

// NewProperty returns the entry of a read-only property.
func NewProperty(name, typ, help string) Entry {
	return Entry{Name: name, Kind: Property, Signature: "readonly " + name + ": " + typ, Help: help}
}

// NewConstant returns the entry of an exported value; typ is its TypeScript type.
func NewConstant(name, typ, help string) Entry {
	return Entry{Name: name, Kind: Constant, Signature: name + ": " + typ, Help: help}
}

func overloads(name string, signatures []string) string {
	return name + strings.Join(signatures, "\n"+name)
}
