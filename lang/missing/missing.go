// Package missing warns of reads of members that objects of Go code do not have.
package missing

import (
	"fmt"
	"strings"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/habits"
	"github.com/orepl/orepl/lang/spelling"
	"github.com/orepl/orepl/lang/wording"
)

// Host is the engine of the objects.
type Host interface {
	// Missed records the read of a member that a class does not have.
	Missed(class, key string)
	// Caller returns the position of the running code of a script, or the zero position if that is unknown.
	Caller() diag.Position
	// SourceText returns the text of a file that was compiled.
	SourceText(file string) (text string, ok bool)
	Warn(message, hint string)
}

// Members is the prototype of a class's prototype, so that only lookups of missing members reach it. It warns of names that are
// misspelled or belong to another library, which would be undefined without a word. It implements [goja.DynamicObject].
type Members struct {
	Host   Host
	Class  string
	Proto  *goja.Object // of the class
	ToJSON *goja.Object // hidden method; may be nil
}

// Get implements [goja.DynamicObject]. It returns the hidden method for toJSON, and nil for other keys. It warns of a key that
// resembles a member or is one of another language, unless the script calls it.
func (m *Members) Get(key string) goja.Value {
	switch {
	case key == "toJSON" && m.ToJSON != nil:
		return m.ToJSON
	case key == "then", key == "toJSON":
		return nil
	}
	m.Host.Missed(m.Class, key)
	near := spelling.Nearest(key, m.Proto.GetOwnPropertyNames())
	if near == "" && habits.Member(m.Class, "", key) == "" {
		return nil
	}
	at := m.Host.Caller()
	text, _ := m.Host.SourceText(at.File)
	excerpt := diag.Excerpted(text, at, 1)
	if excerpt == nil {
		return nil
	}
	line := []rune(excerpt.Lines[len(excerpt.Lines)-1])
	before, after := string(line[:min(at.Column-1, len(line))]), string(line[min(at.Column-1, len(line)):])
	rest, written := strings.CutPrefix(after, key)
	if !written || strings.HasPrefix(strings.TrimSpace(rest), "(") { // the error of a call has the hint
		return nil
	}
	object := strings.TrimRight(wording.TrailingExpression(before), ".?")
	if object == "" {
		object = "x"
	}
	hint := habits.Member(m.Class, object, key)
	if hint == "" {
		hint = fmt.Sprintf("did you mean %s.%s?", object, near)
	}
	m.Host.Warn(fmt.Sprintf("%s.%s is undefined: %s has no %[2]s", object, key, wording.WithArticle(m.Class)), hint)
	return nil
}

// Has implements [goja.DynamicObject].
func (*Members) Has(string) bool { return false }

// Set implements [goja.DynamicObject].
func (*Members) Set(string, goja.Value) bool { return false }

// Delete implements [goja.DynamicObject].
func (*Members) Delete(string) bool { return true }

// Keys implements [goja.DynamicObject].
func (*Members) Keys() []string { return nil }
