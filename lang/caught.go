package lang

import (
	"slices"
	"strings"

	"github.com/dop251/goja"
)

// caughtErrors are the latest errors that a script caught and explainCaught explained, with their messages before and after.
// known maps positions and messages of the interpreter to the explained messages.
type caughtErrors struct {
	latest []caughtError
	known  map[knownError]string
}

type caughtError struct {
	object              *goja.Object
	original, explained string
}

// knownError is the key of a message that was explained before.
type knownError struct {
	frame    goja.StackFrame
	original string
}

// Maximum numbers of errors in latest and of messages in known.
const (
	mostCaught = 32
	mostKnown  = 256
)

// original returns the interpreter's message of an error if message is the one that explainCaught set, else message.
func (c *caughtErrors) original(o *goja.Object, message string) string {
	for i := range c.latest {
		if c.latest[i].object == o && c.latest[i].explained == message {
			return c.latest[i].original
		}
	}
	return message
}

// terse are the beginnings of messages of the interpreter that name no expression.
var terse = []string{
	"Object has no member '", "Value is not an object: ", "Not a function: ", "Cannot read property '", "Cannot convert undefined or null to object",
	"object is not iterable", "Value is not object coercible", "Value is not a constructor", "Cannot access a variable before", "No initial value", "Receiver is not an object",
}

// explainCaught replaces the message of an error that a script caught by that of its diagnosis. It does so if the message is
// empty or begins with one of terse. It ignores other values, and errors without a stack.
func (e *Engine) explainCaught(v goja.Value) {
	o, ok := errorObject(v)
	if !ok {
		return
	}
	text, ok := e.property(o, "message").(goja.String)
	if !ok {
		return
	}
	original := text.String()
	if original != "" && !slices.ContainsFunc(terse, func(prefix string) bool { return strings.HasPrefix(original, prefix) }) {
		return
	}
	ex, ok := e.exceptionOf(o).(*goja.Exception)
	if !ok || len(ex.Stack()) == 0 {
		return
	}
	c := &e.report.caught
	key := knownError{ex.Stack()[0], original}
	explained, known := c.known[key]
	if !known {
		explained = e.diagnoseException(ex, nil).Message
		if c.known == nil || len(c.known) == mostKnown {
			c.known = map[knownError]string{}
		}
		c.known[key] = explained
	}
	if explained == original || o.DefineDataProperty("message", e.vm.ToValue(explained), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE) != nil {
		return
	}
	if c.latest = append(c.latest, caughtError{o, original, explained}); len(c.latest) > mostCaught {
		c.latest = slices.Delete(c.latest, 0, 1)
	}
}

// builtinOf returns the name of the builtin function at the top of an exception's stack. It returns "" if a script threw the
// exception or the function has no name.
func builtinOf(frames []goja.StackFrame) string {
	if len(frames) == 0 || frames[0].SrcName() != "<native>" || frames[0].FuncName() == "<native>" {
		return ""
	}
	return frames[0].FuncName()
}
