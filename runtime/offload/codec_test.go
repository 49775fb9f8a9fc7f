package offload

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"
)

func TestErrorsCrossAWire(t *testing.T) {
	fault := &Fault{Code: OutOfBounds, Kernel: "k", Pos: Position{"a.js", 3, 4}, Text: "x[i]", Array: "x", Label: "signal", Index: 1 << 40,
		Extent: 10, Bound: "x.length", Subscript: "i", Item: [3]int{1, 2, 3}, Other: &Access{Pos: Position{"a.js", 5, 6}, Text: "x[0]", SameGroup: true}}
	full := &Error{Code: OutOfBounds, Op: "launch", Device: "mpi:2/cpu", Label: "k", Detail: "d\x00\u2028", Hint: "h", Pos: Position{"b.js", 1, 2}, Fault: fault,
		Err: &Error{Code: HostIO, Err: errors.New("disk full")}}
	for _, err := range []error{full, &Error{}, &Error{Code: Timeout, Err: errors.New("")}, errors.New("plain")} {
		got := DecodeError(EncodeError(err))
		if !reflect.DeepEqual(flatten(got), flatten(err)) {
			t.Errorf("%#v became %#v", err, got)
		}
	}
	if DecodeError(EncodeError(nil)) != nil {
		t.Error("no error became one")
	}
	wrapped := fmt.Errorf("while copying: %w", &Error{Code: DeviceLost, Detail: "gone"})
	if got := DecodeError(EncodeError(wrapped)); got.Error() != wrapped.Error() || CodeOf(got) != DeviceLost {
		t.Errorf("%v, code %s", got, CodeOf(got))
	}
	var chain error = context.Canceled
	for range 100 {
		chain = &Error{Code: Cancelled, Op: "op", Err: chain}
	}
	if got := DecodeError(EncodeError(chain)); CodeOf(got) != Cancelled || got.Error() != chain.Error() {
		t.Errorf("a long chain became %v", got)
	}
}

// flatten makes errors of the standard library comparable by their text.
func flatten(err error) any {
	e, ok := err.(*Error)
	if !ok {
		return fmt.Sprint(err)
	}
	c := *e
	c.Err = nil
	return []any{c, flatten(e.Err)}
}

func TestEveryFieldOfErrorsIsEncoded(t *testing.T) {
	var e Error
	fill(reflect.ValueOf(&e).Elem(), 1)
	e.Err = errors.New("cause")
	if got := DecodeError(EncodeError(&e)); !reflect.DeepEqual(flatten(got), flatten(&e)) {
		t.Errorf("%#v became %#v", &e, got)
	}
}

// fill sets every field to a value that is not zero.
func fill(v reflect.Value, n int) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), n+i)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), n+i)
		}
	case reflect.String:
		v.SetString(fmt.Sprint("text ", n))
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(n))
	case reflect.Bool:
		v.SetBool(true)
	}
}

func FuzzDecodeError(f *testing.F) {
	f.Add(EncodeError(&Error{Code: Timeout, Err: errors.New("x")}))
	f.Add([]byte("{\"err\":{\"err\":{}}}"))
	f.Add([]byte("null"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := DecodeError(data); len(data) > 0 && err == nil {
			t.Errorf("%q is no error", data)
		} else if err != nil {
			_ = err.Error()
		}
	})
}
