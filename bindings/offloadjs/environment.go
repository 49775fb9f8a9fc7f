package offloadjs

import (
	"crypto/sha256"
	"sync"
	"sync/atomic"

	"github.com/orepl/orepl/lang/kernel"
	"github.com/orepl/orepl/runtime/session"
)

// Environment is shared by the engines of a process: the session, and the registered kernels of scripts.
type Environment struct {
	session *session.Session

	mu        sync.Mutex
	libraries map[[sha256.Size]byte]*scriptLibrary
	observe   func(Compilation)
	stop      atomic.Pointer[launchStop]
}

// launchStop is the state of [Environment.StopAtLaunch].
type launchStop struct {
	name string
	fn   func() error

	mu      sync.Mutex
	pending map[*kernelObject]bool // made and not launched yet
}

// StopAtLaunch sets a function that is called in place of a launch, and whose error ends it. It replaces the first
// launch of the kernel with the name. Without a name, it replaces the first launch after which every kernel is
// compiled.
func (e *Environment) StopAtLaunch(name string, fn func() error) {
	e.stop.Store(&launchStop{name: name, fn: fn, pending: map[*kernelObject]bool{}})
}

// made notes a kernel that is compiled when it is launched.
func (e *Environment) made(k *kernelObject) {
	if s := e.stop.Load(); s != nil && s.name == "" {
		s.mu.Lock()
		s.pending[k] = true
		s.mu.Unlock()
	}
}

// stopLaunch returns the error that takes the place of a launch, if one does.
func (e *Environment) stopLaunch(k *kernelObject) error {
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

// NewEnvironment makes the environment of a session, which stays the caller's to close.
func NewEnvironment(s *session.Session) *Environment {
	return &Environment{session: s, libraries: map[[sha256.Size]byte]*scriptLibrary{}}
}

// Session returns the environment's session.
func (e *Environment) Session() *session.Session { return e.session }

// Compilation is a kernel of a script, compiled for one signature.
type Compilation struct {
	Name    string
	Kernel  *kernel.Compiled
	Session *session.Session

	of *specialization
}

// Shapes returns the shapes of the launches so far, each once; none of a kernel that does not observe its groups.
func (c Compilation) Shapes() []Shape {
	if c.of.shapes == nil {
		return nil
	}
	return c.of.shapes.all()
}

// Observe sets a function that receives every compilation; nil ends it.
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
		fn(Compilation{Name: name, Kernel: s.Compiled, Session: e.session, of: s})
	}
}
