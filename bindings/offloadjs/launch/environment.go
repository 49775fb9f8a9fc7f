package launch

import (
	"sync"
	"sync/atomic"

	"github.com/orepl/orepl/bindings/offloadjs/library"
	"github.com/orepl/orepl/lang/kernel"
	"github.com/orepl/orepl/runtime/session"
)

// Environment holds the state that the engines of a process share: the session and the registered libraries of scripts.
type Environment struct {
	session *session.Session

	libraries *library.Cache

	mu      sync.Mutex
	observe func(Compilation)
	stop    atomic.Pointer[launchStop]
}

// launchStop is the state of [Environment.StopAtLaunch].
type launchStop struct {
	name string
	fn   func() error

	mu      sync.Mutex
	pending map[*Kernel]bool // without a signature; created, but not launched yet
}

// StopAtLaunch calls fn before launches of the kernel with this name. The script receives an error of fn in place of the
// launch; nil lets it go on. If name is empty, it calls fn before a launch if each other kernel that was made without a
// signature has been launched.
func (e *Environment) StopAtLaunch(name string, fn func() error) {
	e.stop.Store(&launchStop{name: name, fn: fn, pending: map[*Kernel]bool{}})
}

// trackKernel records a kernel without a signature, which its first launch compiles, for [Environment.StopAtLaunch] without a
// name.
func (e *Environment) trackKernel(k *Kernel) {
	if s := e.stop.Load(); s != nil && s.name == "" {
		s.mu.Lock()
		s.pending[k] = true
		s.mu.Unlock()
	}
}

// stopLaunch notes a launch of k and returns the error that replaces it, or nil if the kernel is to be launched.
func (e *Environment) stopLaunch(k *Kernel) error {
	s := e.stop.Load()
	if s == nil {
		return nil
	}
	s.mu.Lock()
	delete(s.pending, k)
	left := len(s.pending)
	s.mu.Unlock()
	if s.name != "" && s.name != k.name || left > 0 {
		return nil
	}
	return s.fn()
}

// NewEnvironment returns an environment of a session. The caller closes the session.
func NewEnvironment(s *session.Session) *Environment {
	return &Environment{session: s, libraries: library.NewCache(s)}
}

// Session returns the environment's session.
func (e *Environment) Session() *session.Session { return e.session }

// NewUses returns the uses of libraries of one engine. They end after the queues of the engine are closed.
func (e *Environment) NewUses() *library.Uses { return library.NewUses(e.libraries) }

// Compilation is a kernel of a script, compiled for one signature.
type Compilation struct {
	Name    string
	Kernel  *kernel.Compiled
	Session *session.Session

	spec *specialization
}

// Shapes returns the distinct group shapes of the launches so far, at most maxShapes. It leaves out launches that the script bound
// with kernel.bind. It returns nil for a kernel that does not observe its groups.
func (c Compilation) Shapes() []Shape {
	if c.spec.shapes == nil {
		return nil
	}
	return c.spec.shapes.all()
}

// Observe sets a function that receives every compilation except those for checks: 'overflow'; nil removes it.
func (e *Environment) Observe(fn func(Compilation)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.observe = fn
}

func (e *Environment) compiled(name string, s *specialization) {
	e.mu.Lock()
	fn := e.observe
	e.mu.Unlock()
	if fn != nil {
		fn(Compilation{Name: name, Kernel: s.Compiled, Session: e.session, spec: s})
	}
}
