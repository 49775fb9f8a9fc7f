package lang

import (
	"fmt"
	"strings"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/habits"
	"github.com/orepl/orepl/lang/spelling"
	"github.com/orepl/orepl/lang/wording"
)

// missingMembers is the prototype of a class's prototype, so that only lookups of missing members reach it. It warns of names
// that are misspelled or belong to another library, which would be undefined without a word.
type missingMembers struct {
	engine *Engine
	class  string
	proto  *goja.Object
	toJSON *goja.Object // hidden method; may be nil
}

// Get implements [goja.DynamicObject].
func (m *missingMembers) Get(key string) goja.Value {
	switch {
	case key == "toJSON" && m.toJSON != nil:
		return m.toJSON
	case key == "then", key == "toJSON":
		return nil
	}
	m.engine.explainer.Missed(m.class, key)
	near := spelling.Nearest(key, m.proto.GetOwnPropertyNames())
	if near == "" && habits.Member(m.class, "", key) == "" {
		return nil
	}
	at := m.engine.Caller()
	text, _ := m.engine.report.sources.Get(at.File)
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
	hint := habits.Member(m.class, object, key)
	if hint == "" {
		hint = fmt.Sprintf("did you mean %s.%s?", object, near)
	}
	m.engine.Warn(fmt.Sprintf("%s.%s is undefined: %s has no %[2]s", object, key, wording.WithArticle(m.class)), hint)
	return nil
}

// Has implements [goja.DynamicObject].
func (*missingMembers) Has(string) bool { return false }

// Set implements [goja.DynamicObject].
func (*missingMembers) Set(string, goja.Value) bool { return false }

// Delete implements [goja.DynamicObject].
func (*missingMembers) Delete(string) bool { return true }

// Keys implements [goja.DynamicObject].
func (*missingMembers) Keys() []string { return nil }

// readOnly returns the error of an assignment to a computed property without a setter.
func readOnly(class, field string) error {
	return &diag.Diagnostic{
		ID: "invalid-argument", Name: "TypeError", Message: fmt.Sprintf("the property %s of %s cannot be set", field, wording.WithArticle(class)),
		Hint: habits.Fixed(class, field),
	}
}
