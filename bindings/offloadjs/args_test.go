package offloadjs_test

import (
	"context"
	"testing"

	"github.com/orepl/orepl/lang"
)

// TestArgumentsAreACopy checks that a script's changes of the array of arguments do not affect the program.
func TestArgumentsAreACopy(t *testing.T) {
	args := []string{"a", "b"}
	e := newEngineWith(t, lang.Options{Args: args, Prompt: true})
	v, err := e.Eval(context.Background(), "t.js", "args[0] = 'z'; args.push(1); args.join() + Array.isArray(args) + JSON.stringify(args)")
	if err != nil || v.String() != `z,b,1true["z","b",1]` {
		t.Errorf("%v, %v", v, err)
	}
	if args[0] != "a" {
		t.Errorf("the program's arguments are %q", args)
	}
}
