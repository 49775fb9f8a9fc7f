package ir

import (
	"fmt"
	"strings"
)

// codeInvalid is the error code of an invalid module in any form.
const codeInvalid = "invalid-binary"

// ParseError reports an error in the text form of a module.
type ParseError struct {
	File      string
	Line, Col int // 1-based; columns count characters
	Msg       string
}

func (e *ParseError) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Col, e.Msg)
}

// Code returns "invalid-binary", the error code of runtime/offload for damaged or invalid modules.
func (e *ParseError) Code() string { return codeInvalid }

// DecodeError reports why data is not a module in binary form.
type DecodeError struct {
	Offset int // byte offset
	Msg    string
}

func (e *DecodeError) Error() string {
	return fmt.Sprintf("kernel IR image, byte %d: %s", e.Offset, e.Msg)
}

// Code returns "invalid-binary", the error code of runtime/offload for damaged or invalid modules.
func (e *DecodeError) Code() string { return codeInvalid }

// VerifyError reports the violation of an IR rule.
type VerifyError struct {
	Kernel string // name of the kernel; empty for errors of the whole module
	Instr  *Instr // the invalid instruction, or nil
	Cause  *Instr // the divergent branch that makes Instr invalid, or nil
	Index  int    // index of Instr in the kernel, in the order of [Block.Walk]
	Where  string // source position "file:line:col", or empty
	Msg    string
}

// maxInstrShown is the maximum length of an instruction in a message, in characters.
const maxInstrShown = 400

// Error returns the kernel, the position, the possibly shortened instruction, and the rule.
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
		if len(text) > maxInstrShown { // an instruction may have thousands of operands
			text = append(text[:maxInstrShown:maxInstrShown], '…')
		}
		fmt.Fprintf(&b, ", instruction %d '%s'", e.Index, string(text))
	}
	fmt.Fprintf(&b, ": %s", e.Msg)
	return b.String()
}

// Code returns "invalid-binary", the error code of runtime/offload for damaged or invalid modules.
func (e *VerifyError) Code() string { return codeInvalid }
