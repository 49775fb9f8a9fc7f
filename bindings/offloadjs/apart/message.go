package apart

import (
	"fmt"
	"math"
	"math/big"
	"strconv"

	"github.com/orepl/orepl/bindings/offloadjs/params"
	"github.com/orepl/orepl/bindings/offloadjs/pipelines"
	"github.com/orepl/orepl/bindings/offloadjs/placement"
	"github.com/orepl/orepl/lang/esm"
	"github.com/orepl/orepl/lang/isolate"
	contract "github.com/orepl/orepl/runtime/offload"
)

// Calls of a child.
const (
	callLoad  = "load"
	callRun   = "run"
	callCheck = "check"
)

// program is passed to a child when it starts.
type program struct {
	Name  string // of the engine
	Wish  placement.Wish
	Taken placement.Taken // instances in other processes
}

// load is the message that loads a script.
type load struct {
	Path     string
	Snapshot *esm.Snapshot // files as an earlier instance read them; nil for the first instance, which returns them
}

// loaded is the reply to load.
type loaded struct {
	Failed          *isolate.Failure // the script failed, or exports no pipeline
	None            bool             // it exports no pipeline
	Files           []string         // those that a script which failed has read
	Inputs, Outputs []pipelines.Port
	Params          []param
	Choice          placement.Choice
	Width           int
	OnlyLaunches    bool
	Snapshot        *esm.Snapshot
}

// param is a parameter, whose values are scalars.
type param struct {
	params.Param
	Default, Min, Max *scalar
	Values            []*scalar
}

func newParam(p params.Param) param {
	q := param{Param: p, Default: newScalar(p.Default), Min: newScalar(p.Min), Max: newScalar(p.Max)}
	for _, v := range p.Values {
		q.Values = append(q.Values, newScalar(v))
	}
	return q
}

func (q *param) param() (params.Param, error) {
	p := q.Param
	p.Values = nil
	for _, field := range []struct {
		to   *any
		from *scalar
	}{{&p.Default, q.Default}, {&p.Min, q.Min}, {&p.Max, q.Max}} {
		var err error
		if *field.to, err = field.from.value(); err != nil {
			return p, err
		}
	}
	for _, v := range q.Values {
		value, err := v.value()
		if err != nil {
			return p, err
		}
		p.Values = append(p.Values, value)
	}
	return p, nil
}

// run is the message of a run or a check.
type run struct {
	Inputs  []input
	Outputs []output // of a run
	Used    int      // size of the inputs in shared memory
}

// input is [pipelines.Input] with its data in shared memory.
type input struct {
	Name   string
	Type   contract.Type
	Dims   []int
	Array  bool // Dims may be empty
	At     int  // offset in shared memory
	Size   int
	Number *scalar
}

// output is a requested output.
type output struct {
	Name string
	Type contract.Type
}

// ran is the reply to run and to a check.
type ran struct {
	Refused bool // the error is a refusal
	Error   *isolate.Failure
	Found   []*isolate.Failure // problems of a check
	Results []result           // in order of the requested outputs
	Lost    bool               // the device is lost
}

// result is an output in shared memory.
type result struct {
	Dims     []int
	At, Size int // offset in shared memory, and bytes
}

// scalar is a value of a parameter or number, with all of its digits.
type scalar struct {
	Kind string
	Text string
}

func newScalar(x any) *scalar {
	switch v := x.(type) {
	case nil:
		return nil
	case bool:
		return &scalar{"bool", strconv.FormatBool(v)}
	case int64:
		return &scalar{"int", strconv.FormatInt(v, 10)}
	case *big.Int:
		return &scalar{"big", v.String()}
	case float64:
		return &scalar{"float", strconv.FormatUint(math.Float64bits(v), 16)}
	}
	return &scalar{"string", fmt.Sprint(x)}
}

// value returns the value from which newScalar made s; it is nil for a nil s. The error says that the message does not
// follow the protocol.
func (s *scalar) value() (any, error) {
	if s == nil {
		return nil, nil
	}
	var value any
	var err error
	switch s.Kind {
	case "bool":
		value, err = strconv.ParseBool(s.Text)
	case "int":
		value, err = strconv.ParseInt(s.Text, 10, 64)
	case "float":
		var bits uint64
		bits, err = strconv.ParseUint(s.Text, 16, 64)
		value = math.Float64frombits(bits)
	case "big":
		n, ok := new(big.Int).SetString(s.Text, 10)
		if !ok {
			return nil, fmt.Errorf("%q is no integer", s.Text)
		}
		return n, nil
	default:
		return s.Text, nil
	}
	return value, err
}
