// Package inside lets the commands and tests of this module use what package orepl hides from programs. That is the interpreter's
// engines, and the state that the modules of scripts share.
package inside

import (
	"github.com/orepl/orepl/bindings"
	"github.com/orepl/orepl/bindings/offloadjs/launch"
	"github.com/orepl/orepl/lang"
)

// Runtime holds the parts of an orepl.Runtime beside its session.
type Runtime struct {
	Environment *launch.Environment       // the state of the module 'offload', which engines share
	Registry    func() *bindings.Registry // returns the documentation of all names in scripts, which is made at the first call
	Wrong       error                     // the error of the program's modules, with which no engine is made
}

// NewEngine returns an engine whose scripts can import orepl's modules and those in the options. All such engines share the devices'
// default queues.
func (r *Runtime) NewEngine(opts lang.Options) (*lang.Engine, error) {
	if r.Wrong != nil {
		return nil, r.Wrong
	}
	opts.Modules = append(r.Registry().Engine(), opts.Modules...)
	return lang.New(opts)
}

// Of returns the parts of an *orepl.Runtime. Package orepl sets it.
var Of func(runtime any) *Runtime

// Lang returns the interpreter's engine of an *orepl.Engine; for an isolated one it holds only the results. Package orepl sets it.
var Lang func(engine any) *lang.Engine
