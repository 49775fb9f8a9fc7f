package apart

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/orepl/orepl/bindings/offloadjs/pipelines"
	"github.com/orepl/orepl/bindings/offloadjs/placement"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/esm"
	"github.com/orepl/orepl/lang/isolate"
)

// Server is a child's end: it loads a pipeline and runs it on shared memory.
type Server struct {
	Name      string // of the engine
	Placement *placement.Policy
	Cache     *esm.Cache

	engine   *lang.Engine
	memory   *isolate.Memory
	pipeline *pipelines.Pipeline
}

// Serve returns the server that a child needs, or nil for a child that runs no pipeline.
func Serve(s isolate.Setup) (*Server, error) {
	if s.Program == nil {
		return nil, nil
	}
	var p program
	if err := json.Unmarshal(s.Program, &p); err != nil {
		return nil, err
	}
	policy, err := placement.Beside(p.Wish, p.Taken)
	return &Server{Name: p.Name, Placement: policy, Cache: esm.NewCache(), memory: s.Memory}, err
}

// Start sets the engine, whose module 'offload' has the server's placement.
func (s *Server) Start(e *lang.Engine) {
	s.engine = e
	e.OnClose(func() {
		if s.pipeline != nil {
			s.pipeline.Free()
		}
	})
}

// Handle answers a call of the host.
func (s *Server) Handle(ctx context.Context, name string, body json.RawMessage) (any, error) {
	switch {
	case name == callLoad:
		var m load
		if err := json.Unmarshal(body, &m); err != nil {
			return nil, err
		}
		return s.load(ctx, m)
	case s.pipeline == nil:
		return nil, errors.New("no pipeline is loaded")
	}
	var m run
	if err := json.Unmarshal(body, &m); err != nil {
		return nil, err
	}
	if name == callCheck {
		return s.check(ctx, m)
	}
	return s.run(ctx, m)
}

func (s *Server) load(ctx context.Context, m load) (*loaded, error) {
	if m.Snapshot != nil {
		s.Cache.Restore(m.Snapshot)
	}
	p, err := pipelines.Load(ctx, s.engine, m.Path)
	if err != nil {
		return &loaded{Failed: isolate.NewFailure(err), None: errors.Is(err, pipelines.ErrNone), Files: s.Cache.Files()}, nil
	}
	s.pipeline = p
	r := &loaded{Inputs: p.Inputs(), Outputs: p.Outputs(), Choice: p.Choice(), Width: s.Placement.Width(), OnlyLaunches: p.OnlyLaunches()}
	for _, one := range p.Params() {
		r.Params = append(r.Params, newParam(one))
	}
	if m.Snapshot == nil {
		r.Snapshot = s.Cache.Snapshot()
	}
	return r, nil
}

// inputs returns the inputs of a run; their data is in shared memory.
func (s *Server) inputs(m run) ([]pipelines.Input, error) {
	s.memory.Settle()
	shared, err := s.memory.Bytes(m.Used)
	if err != nil {
		return nil, err
	}
	list := make([]pipelines.Input, len(m.Inputs))
	for i, in := range m.Inputs {
		list[i] = pipelines.Input{Name: in.Name, Type: in.Type, Dims: in.Dims}
		if in.Array {
			if list[i].Dims == nil {
				list[i].Dims = []int{}
			}
			list[i].Data = shared[in.At : in.At+in.Size : in.At+in.Size]
		}
		if list[i].Number, err = in.Number.value(); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func (s *Server) run(ctx context.Context, m run) (*ran, error) {
	in, err := s.inputs(m)
	if err != nil {
		return nil, err
	}
	r := &ran{Results: make([]result, len(m.Outputs))}
	out := make([]pipelines.Output, len(m.Outputs))
	used := m.Used
	for i, o := range m.Outputs {
		out[i] = pipelines.Output{Name: o.Name, Type: o.Type, Store: func(dims []int) ([]byte, error) {
			size := o.Type.Size() // the extents are those of a buffer, so the size is in range
			for _, n := range dims {
				size *= n
			}
			at := aligned(used)
			shared, err := s.memory.Bytes(at + size)
			if err != nil {
				return nil, err
			}
			used = at + size
			r.Results[i] = result{Dims: dims, At: at, Size: size}
			return shared[at : at+size : at+size], nil
		}}
	}
	err = s.pipeline.Run(ctx, runKey{}, in, out)
	if r.Refused = errors.Is(err, pipelines.ErrRefused); r.Refused {
		err = errors.Unwrap(err) // perhaps several errors
	}
	r.Error, r.Lost = isolate.NewFailure(err), s.pipeline.IsLost()
	return r, nil
}

func (s *Server) check(ctx context.Context, m run) (*ran, error) {
	in, err := s.inputs(m)
	if err != nil {
		return nil, err
	}
	r := &ran{}
	for _, d := range s.pipeline.Check(context.WithValue(ctx, runKey{}, true), in) {
		r.Found = append(r.Found, isolate.NewFailure(d))
	}
	return r, nil
}

// runKey marks the contexts of runs; a child has no functions of the program that could see them.
type runKey struct{}
