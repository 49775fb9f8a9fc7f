package orepl

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/orepl/orepl/bindings/offloadjs/params"
	"github.com/orepl/orepl/bindings/offloadjs/pipelines"
	"github.com/orepl/orepl/bindings/schema"
)

// Port is an input or output of a pipeline: its name, its element type, such as "f32", and its number of dimensions. The number
// of dimensions is 0 for a number, and -1 if it is known only when the pipeline runs.
type Port = pipelines.Port

// Param is a parameter of a pipeline: its name, type, default, bounds, allowed values, meaning and unit.
type Param = params.Param

// Inputs returns the inputs in order of declaration, or nil for a nil or zero Pipeline.
func (p *Pipeline) Inputs() []Port {
	if !p.loaded() {
		return nil
	}
	return p.declared.Inputs()
}

// Outputs returns the outputs in order of declaration, or nil for a nil or zero Pipeline.
func (p *Pipeline) Outputs() []Port {
	if !p.loaded() {
		return nil
	}
	return p.declared.Outputs()
}

// Params returns the parameters in order of declaration, or nil for a nil or zero Pipeline.
func (p *Pipeline) Params() []Param {
	if !p.loaded() {
		return nil
	}
	return p.declared.Params()
}

// Device returns the id of the device that runs the pipeline; if there are several, of the first one. See [Pipeline.Choices]. It
// returns "" for a nil or zero Pipeline.
func (p *Pipeline) Device() string {
	if !p.loaded() {
		return ""
	}
	return p.Choices()[0].Device
}

// Describe returns the declaration in lines: the file and the device, then each parameter, input and output. It returns "" for a
// nil or zero Pipeline, as do TypeScript and Markdown.
func (p *Pipeline) Describe() string {
	if !p.loaded() {
		return ""
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s on %s\n", filepath.Base(p.path), p.Device())
	for _, at := range p.Params() {
		fmt.Fprintf(&text, "  param   %s\n", &at)
	}
	for _, at := range p.Inputs() {
		fmt.Fprintf(&text, "  input   %s\n", describePort(at))
	}
	for _, at := range p.Outputs() {
		fmt.Fprintf(&text, "  output  %s\n", describePort(at))
	}
	return text.String()
}

// Schema returns the parameters as JSON Schema (draft 2020-12). [Pipeline.Run] accepts all settings of a client that the schema
// accepts. Units are in x-unit. Schema returns nil for a nil or zero Pipeline.
func (p *Pipeline) Schema() []byte {
	if !p.loaded() {
		return nil
	}
	return schema.JSON(filepath.Base(p.path), p.Params())
}

// TypeScript returns the parameters as the declaration of an interface Parameters.
func (p *Pipeline) TypeScript() string {
	if !p.loaded() {
		return ""
	}
	return schema.TypeScript("Parameters", p.Params())
}

// Markdown returns the declaration as a section of a document: a table of the parameters, and lists of inputs and outputs.
func (p *Pipeline) Markdown() string {
	if !p.loaded() {
		return ""
	}
	var text strings.Builder
	fmt.Fprintf(&text, "## %s\n\n", filepath.Base(p.path))
	text.WriteString(schema.Markdown(p.Params()))
	for _, part := range []struct {
		title string
		list  []Port
	}{{"Inputs", p.Inputs()}, {"Outputs", p.Outputs()}} {
		if len(part.list) == 0 {
			continue
		}
		fmt.Fprintf(&text, "\n%s:\n\n", part.title)
		for _, at := range part.list {
			fmt.Fprintf(&text, "- `%s`\n", describePort(at))
		}
	}
	return text.String()
}

func describePort(at Port) string {
	switch at.Rank {
	case 0:
		return at.Name + ": " + at.Type
	case -1:
		return fmt.Sprintf("%s: %s[…]", at.Name, at.Type)
	}
	return fmt.Sprintf("%s: %s[%s]", at.Name, at.Type, strings.Repeat(",", at.Rank-1))
}

// Stats are counts of a pipeline's runs since it was loaded.
type Stats struct {
	Runs      uint64        // ended runs, failed ones included
	Failed    uint64        // runs that returned an error
	Running   int           // runs that have an instance
	Waiting   int           // runs that wait for an instance or read their arguments
	Instances uint64        // instances made or tried; those beyond the option Instances replaced others
	Time      time.Duration // sum of the durations of ended runs, waiting included
}

// Stats returns the counts of runs, all 0 for a nil Pipeline.
func (p *Pipeline) Stats() Stats {
	if p == nil {
		return Stats{}
	}
	c := &p.counts
	running := c.running.Load()
	return Stats{
		Runs: c.ended.Load(), Failed: c.failed.Load(), Running: int(running), Waiting: int(max(c.begun.Load()-running, 0)),
		Instances: c.loaded.Load(), Time: time.Duration(c.time.Load()),
	}
}

// counts are the counters behind [Stats].
type counts struct {
	begun, running        atomic.Int64 // runs that have begun and not ended, and those of them that have an instance
	ended, failed, loaded atomic.Uint64
	time                  atomic.Int64
}

// end counts the end of a run that began at start. failed is the run's error, or nil.
func (c *counts) end(start time.Time, failed error) {
	c.begun.Add(-1)
	c.ended.Add(1)
	c.time.Add(int64(time.Since(start)))
	if failed != nil {
		c.failed.Add(1)
	}
}
