package offload

import (
	"crypto/sha256"
	"sync"

	"github.com/orepl/orepl/lang/kernel"
	"github.com/orepl/orepl/runtime/session"
)

// Environment is what the engines of a process share: the session, and the kernels of scripts that were registered.
type Environment struct {
	session *session.Session

	mu        sync.Mutex
	libraries map[[sha256.Size]byte]*scriptLibrary
	observe   func(Compilation)
}

// NewEnvironment makes the environment of a session, which stays the caller's to close.
func NewEnvironment(s *session.Session) *Environment {
	return &Environment{session: s, libraries: map[[sha256.Size]byte]*scriptLibrary{}}
}

// Session is the environment's session.
func (e *Environment) Session() *session.Session { return e.session }

// Compilation is a kernel of a script, compiled for one signature.
type Compilation struct {
	Name    string
	Kernel  *kernel.Compiled
	Session *session.Session

	of *specialization
}

// Shapes are those of the launches so far, each once; none of a kernel that does not observe its groups.
func (c Compilation) Shapes() []Shape {
	if c.of.shapes == nil {
		return nil
	}
	return c.of.shapes.all()
}

// Observe sets a function that is told of every compilation; nil ends it.
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
