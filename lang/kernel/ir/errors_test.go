package ir

import (
	"strings"
	"testing"
)

// TestVerifyErrorIsShort checks that a message shortens an instruction with thousands of operands.
func TestVerifyErrorIsShort(t *testing.T) {
	v := &Value{ID: 1, Type: I32}
	in := &Instr{Op: Add, Args: make([]*Value, MaxOperands+1)}
	for i := range in.Args {
		in.Args[i] = v
	}
	text := (&VerifyError{Kernel: "k", Instr: in, Msg: "too many operands"}).Error()
	if len(text) > 1000 || !strings.HasSuffix(text, "…': too many operands") {
		t.Errorf("%d bytes: %.500s", len(text), text)
	}
}
