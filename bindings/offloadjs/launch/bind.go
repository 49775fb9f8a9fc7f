package launch

import (
	"errors"
	"fmt"
	"weak"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/offloadjs/occupancy"
	"github.com/orepl/orepl/bindings/offloadjs/script"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/inspect"
	contract "github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// boundLaunch is a launch with validated options and arguments.
type boundLaunch struct {
	kernel   *Kernel
	queue    *session.Queue
	call     *session.Call
	label    string
	services bool // the kernel calls services
	terms    *terms
}

func (m *Module) defineBoundLaunch() {
	m.boundClass = lang.NewClass(m.Engine, lang.ClassSpec[*boundLaunch]{
		Name:    "BoundLaunch",
		Light:   true,
		Methods: []lang.Method[*boundLaunch]{script.Method(m.Script, "launch", m.launchBound)},
		Fields: []lang.Field[*boundLaunch]{
			script.Value(m.Script, "name", func(b *boundLaunch) any { return b.kernel.name }),
			script.Field(m.Script, "queue", func(b *boundLaunch) (goja.Value, error) { return m.queues.ObjectOf(b.queue), nil }),
		},
		Inspect: func(b *boundLaunch, _ inspect.Options) string {
			l := b.call.Command()
			return fmt.Sprintf("BoundLaunch of %s, size %v, on %s", b.kernel.name, l.Size, b.queue.Device().ID())
		},
	})
}

// bind implements kernel.bind(options, ...arguments).
func (m *Module) bind(k *Kernel, call goja.FunctionCall) (goja.Value, error) {
	at := m.Caller()
	n, known := markOf(at, &call)
	var e *repeated
	if known {
		if e = k.repeats.find(&n); e == nil {
			e = k.repeats.add(&n)
		} else if b := m.again("bind", e, &call); b != nil {
			return m.boundClass.New(b), nil
		}
	}
	cfg, err := m.parseOptions(k.name, at, call, nil, false)
	if err != nil {
		return nil, err
	}
	p, err := m.prepare("bind", k, &cfg, call.Arguments[1:])
	if err != nil {
		return nil, err
	}
	var t *terms
	if e != nil && e.missed < mostMissed {
		t = m.termsOf(&p, &cfg, &call)
	}
	b, err := m.boundOf(k, &p, &cfg, t)
	if err != nil {
		return nil, err
	}
	if t != nil {
		e.bound = weak.Make(b)
	}
	m.warnOfLaunch(k, &p, &cfg, call.Arguments[1:])
	return m.boundClass.New(b), nil
}

// boundOf binds a prepared call. t has its terms, or is nil if equal calls are not recognised.
func (m *Module) boundOf(k *Kernel, p *prepared, cfg *Options, t *terms) (*boundLaunch, error) {
	b := &boundLaunch{kernel: k, queue: p.queue, label: cfg.Label, services: p.call.Kernel().Info().CallsServices(), terms: t}
	if b.services {
		cfg.Services = m.rpc.On(p.queue)
	}
	var err error
	b.call, err = p.call.Kernel().Bind(cfg.Config, p.args...)
	return b, err
}

// occupancy implements kernel.occupancy(options, ...arguments).
func (m *Module) occupancy(k *Kernel, call goja.FunctionCall) (goja.Value, error) {
	cfg, err := m.ParseOptions(k.name, call, []int{1}, false)
	if err != nil {
		return nil, err
	}
	p, err := m.prepare("occupancy", k, &cfg, call.Arguments[1:])
	if err != nil {
		return nil, err
	}
	o, err := p.call.Kernel().Occupancy(cfg.GroupSize, cfg.SharedBytes)
	if err != nil {
		return nil, err
	}
	return occupancy.Object(m.VM, o)
}

// launchBound implements boundLaunch.launch().
func (m *Module) launchBound(b *boundLaunch, call goja.FunctionCall) (goja.Value, error) {
	if n := len(call.Arguments); n > 0 {
		return nil, contract.Errorf(contract.InvalidArgument, "launch", "a bound launch takes no arguments, not %d: bind fixed them", n).On("", b.kernel.name).
			WithHint("bind the kernel again for other arguments; the elements of buffers may change")
	}
	if err := m.env.stopLaunch(b.kernel); err != nil {
		return nil, err
	}
	if err := m.queues.Submit(b.queue, b.call); err != nil {
		var e *contract.Error
		if errors.As(err, &e) { // report this call's position instead of bind's
			e.Pos = m.Caller()
		}
		return nil, err
	}
	if b.services {
		m.rpc.ServeUntilDone(b.queue)
	}
	if len(b.kernel.captures) > 0 {
		m.warnOfChanges(b.kernel)
	}
	return m.queues.EventAfter(b.queue, b.label)
}
