// Package mpijs implements the module 'mpi': scripts that run as several processes of a job and exchange typed arrays and buffers.
//
// # Design
//
// All operations return promises, and take the data at the call, so that a script may change an array at once.
//
// A wrong argument of a collective operation, other than split, is reported to the other ranks. They would otherwise wait for
// this one.
package mpijs

import (
	"context"
	"fmt"
	"sync"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings"
	"github.com/orepl/orepl/bindings/offloadjs/script"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/inspect"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/ranks"
)

// Job holds the processes of the MPI job, which the scripts of a runtime share.
type Job struct {
	member ranks.Member // nil for a process that cannot be part of a job
	mu     sync.Mutex
	world  *ranks.World
}

// NewJob returns the job of the first plugin that has one.
func NewJob(plugins []offload.Plugin) *Job {
	for _, p := range plugins {
		if member, ok := p.(ranks.Member); ok {
			return &Job{member: member}
		}
	}
	return &Job{}
}

// group returns the group of all processes for one script, and a function that releases it for the next one. The error says
// that the job did not begin, or that another script has the group.
func (j *Job) group(ctx context.Context) (*ranks.Group, func(), error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.world == nil {
		var links ranks.Links
		if j.member != nil {
			var err error
			if links, err = j.member.Links(ctx); err != nil {
				return nil, nil, offload.Errorf(offload.NotFound, "mpi", "the job did not begin: %v", err)
			}
		}
		j.world = ranks.NewWorld(links)
	}
	return j.world.Claim()
}

// Module returns the module 'mpi'.
func Module(j *Job) bindings.Module {
	return bindings.Module{
		Module:  lang.Module{Name: "mpi", Instantiate: func(e *lang.Engine) (*goja.Object, error) { return instantiate(e, j) }},
		Help:    "Processes that run the same script, started by mpirun, orepl mpirun --spmd or srun: messages and collective operations on typed arrays and buffers. Without a launcher there is one process. See docs/spmd.md.",
		Types:   types,
		Entries: entries,
	}
}

// module is the state of one engine.
type module struct {
	*script.Script
	class *lang.Class[*communicator]
}

// communicator is an object of a script. The group of all processes is known after the first use.
type communicator struct {
	begin func() (*ranks.Group, error)
	group *ranks.Group
}

// open returns the group, and begins the job before the first use.
func (c *communicator) open() (*ranks.Group, error) {
	if c.group == nil {
		g, err := c.begin()
		if err != nil {
			return nil, err
		}
		c.group = g
	}
	return c.group, nil
}

func instantiate(e *lang.Engine, j *Job) (*goja.Object, error) {
	m := &module{Script: script.New(e)}
	number := func(name string, get func(*ranks.Group) int) lang.Field[*communicator] {
		return script.Field(m.Script, name, func(c *communicator) (goja.Value, error) {
			g, err := c.open()
			if err != nil {
				return nil, err
			}
			return m.VM.ToValue(get(g)), nil
		})
	}
	m.class = lang.NewClass(e, lang.ClassSpec[*communicator]{
		Name:    "Communicator",
		Methods: m.methods(),
		Fields:  []lang.Field[*communicator]{number("rank", (*ranks.Group).Rank), number("size", (*ranks.Group).Size)},
		Inspect: func(c *communicator, _ inspect.Options) string {
			if c.group == nil {
				return "Communicator {}"
			}
			return fmt.Sprintf("Communicator { rank: %d, size: %d }", c.group.Rank(), c.group.Size())
		},
	})
	x := bindings.NewExports(e)
	x.Set("Communicator", m.class.Constructor())
	x.Set("mpi", m.class.New(&communicator{begin: func() (*ranks.Group, error) {
		if permit := e.Options().Policy.Device; permit != nil {
			if err := permit("mpi"); err != nil {
				return nil, offload.Errorf(offload.PermissionDenied, "mpi", "the script may not use other ranks: %v", err).
					WithHint("the program that runs this script decides which devices it may use")
			}
		}
		g, release, err := j.group(e.Running())
		if err == nil {
			e.OnClose(release)
		}
		return g, err
	}}))
	return x.Done()
}
