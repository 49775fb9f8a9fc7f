// Package texts keeps the source texts of scripts.
package texts

import "slices"

// Texts holds the compiled texts by name. It keeps the texts of all files, but only the latest texts of calls, whose number is
// unbounded.
type Texts struct {
	byName map[string]text
	calls  []string // names of the texts of calls, the one that was set last at the end
	size   int      // total size of those texts in bytes
}

type text struct {
	string
	isCall bool
}

// Maximum number, and maximum total size in bytes, of the kept texts of calls. The latest text is kept whatever its size.
const (
	Most     = 500
	MostSize = 8 << 20
)

// New returns an empty store.
func New() Texts { return Texts{byName: map[string]text{}} }

// Get returns a text by name and reports whether it is kept.
func (t *Texts) Get(name string) (string, bool) {
	x, ok := t.byName[name]
	return x.string, ok
}

// Set stores the text of a call or of a file. A text that replaces another one is of the same kind as that, whatever isCall says.
// Beyond [Most] or [MostSize], Set drops the texts of the oldest calls.
func (t *Texts) Set(name, content string, isCall bool) {
	old, known := t.byName[name]
	if old.isCall {
		t.size -= len(old.string)
	}
	isCall = old.isCall || isCall && !known // the text of a file remains one
	if old.isCall {
		t.calls = slices.DeleteFunc(t.calls, func(call string) bool { return call == name })
	}
	if isCall {
		t.calls = append(t.calls, name)
		t.size += len(content)
	}
	t.byName[name] = text{content, isCall}
	for len(t.calls) > Most || t.size > MostSize && len(t.calls) > 1 {
		t.size -= len(t.byName[t.calls[0]].string)
		delete(t.byName, t.calls[0])
		t.calls = t.calls[1:]
	}
}
