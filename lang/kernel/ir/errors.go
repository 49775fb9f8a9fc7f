package ir

import (
	"fmt"
	"strings"
)

// codeInvalid is the error code of a module that can't be used, whatever its form.
const codeInvalid = "invalid-binary"

// ParseError is a mistake in the text form.
type ParseError struct {
	File      string
	Line, Col int // from 1; columns count characters
	Msg       string
}

func (e *ParseError) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Col, e.Msg)
}

// Code returns the error code, as runtime/offload uses them.
func (e *ParseError) Code() string { return codeInvalid }

// DecodeError says why bytes are no module in binary form.
type DecodeError struct {
	Offset int // bytes from the start
	Msg    string
}

func (e *DecodeError) Error() string {
	return fmt.Sprintf("kernel IR image, byte %d: %s", e.Offset, e.Msg)
}

// Code returns the error code, as runtime/offload uses them.
func (e *DecodeError) Code() string { return codeInvalid }

// VerifyError is a rule of the IR that a module breaks.
type VerifyError struct {
	Kernel string // name of the kernel; empty for what concerns the whole module
	Instr  *Instr // the instruction at fault, or nil
	Cause  *Instr // the divergent branch, where that is the fault
	Index  int    // position of Instr in the kernel, counted as [Block.Walk] visits
	Where  string // its place in the source, "file:line:col", or empty
	Msg    string
}

// maxInstrShown bounds the characters of an instruction in a message.
const maxInstrShown = 400

// Error returns the kernel, the position, the instruction, cut if it is long, and the rule.
func (e *VerifyError) Error() string {
	var b strings.Builder
	b.WriteString("kernel IR")
	if e.Kernel != "" {
		fmt.Fprintf(&b, ", kernel %s", quoteName(e.Kernel))
	}
	if e.Where != "" {
		fmt.Fprintf(&b, ", %s", e.Where)
	}
	if e.Instr != nil {
		text := []rune(e.Instr.String())
		if len(text) > maxInstrShown { // as one with thousands of operands, or with blocks
			text = append(text[:maxInstrShown:maxInstrShown], '…')
		}
		fmt.Fprintf(&b, ", instruction %d '%s'", e.Index, string(text))
	}
	fmt.Fprintf(&b, ": %s", e.Msg)
	return b.String()
}

// Code returns the error code, as runtime/offload uses them.
func (e *VerifyError) Code() string { return codeInvalid }
