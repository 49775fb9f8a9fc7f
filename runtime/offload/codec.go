package offload

import (
	"encoding/json"
	"errors"
	"fmt"
)

// wireError is the encoded form of an [Error]. Causes of other types keep only their text.
type wireError struct {
	Code   Code       `json:"code,omitempty"`
	Op     string     `json:"op,omitempty"`
	Device string     `json:"device,omitempty"`
	Label  string     `json:"label,omitempty"`
	Detail string     `json:"detail,omitempty"`
	Hint   string     `json:"hint,omitempty"`
	Pos    *Position  `json:"pos,omitempty"`
	Fault  *Fault     `json:"fault,omitempty"`
	More   int        `json:"more,omitempty"`
	Err    *wireError `json:"err,omitempty"`
	Text   *string    `json:"text,omitempty"` // text of other error types, whose other fields are empty
}

// maxWireDepth is the maximum length of an encoded chain of causes.
const maxWireDepth = 32

// EncodeError encodes err for another process: all fields of each [Error] in the chain, and the text of other errors. Of errors
// after the first maxWireDepth it keeps the text. Bytes that are not UTF-8 become U+FFFD. A nil error is encoded as no bytes.
func EncodeError(err error) []byte {
	if err == nil {
		return nil
	}
	data, fail := json.Marshal(toWire(err, maxWireDepth))
	if fail != nil { // marshalling strings, numbers and structs of them cannot fail
		panic(fail)
	}
	return data
}

func toWire(err error, depth int) *wireError {
	if err == nil {
		return nil
	}
	e, ok := err.(*Error)
	if !ok || depth == 0 {
		var inner *Error
		if depth > 0 && errors.As(err, &inner) && inner.Error() == err.Error() {
			return toWire(inner, depth)
		}
		text := err.Error()
		return &wireError{Text: &text, Code: CodeOf(err)}
	}
	w := &wireError{Code: e.Code, Op: e.Op, Device: e.Device, Label: e.Label, Detail: e.Detail, Hint: e.Hint, Fault: e.Fault, More: e.More, Err: toWire(e.Err, depth-1)}
	if e.Pos != (Position{}) {
		w.Pos = &e.Pos
	}
	return w
}

// DecodeError returns the error that EncodeError encoded: equal in every field, with causes of other types as plain errors of
// the same text. No bytes yield nil, and damaged bytes a BackendFailure error.
func DecodeError(data []byte) error {
	if len(data) == 0 {
		return nil
	}
	var w *wireError
	if err := json.Unmarshal(data, &w); err != nil || w == nil {
		return &Error{Code: BackendFailure, Op: "decode error", Detail: fmt.Sprintf("the error of another process is damaged: %.100q", data), Err: err}
	}
	return w.error(maxWireDepth)
}

func (w *wireError) error(depth int) error {
	if w == nil {
		return nil
	}
	if w.Text != nil {
		if w.Code != "" {
			return &codedError{*w.Text, w.Code}
		}
		return errors.New(*w.Text)
	}
	if depth == 0 {
		return nil
	}
	e := &Error{Code: w.Code, Op: w.Op, Device: w.Device, Label: w.Label, Detail: w.Detail, Hint: w.Hint, Fault: w.Fault, More: w.More, Err: w.Err.error(depth - 1)}
	if w.Pos != nil {
		e.Pos = *w.Pos
	}
	return e
}

// codedError is a decoded error of another type that wrapped an [Error]. It keeps the code for [CodeOf].
type codedError struct {
	text string
	code Code
}

func (e *codedError) Error() string { return e.text }

// As sets target to an [Error] with the code, for errors.As.
func (e *codedError) As(target any) bool {
	p, ok := target.(**Error)
	if ok {
		*p = &Error{Code: e.code, Detail: e.text}
	}
	return ok
}
