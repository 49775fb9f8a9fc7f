package array

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	texts "github.com/orepl/orepl/kernels/array"
	"github.com/orepl/orepl/lang/kernel"
	"github.com/orepl/orepl/lang/kernel/diag"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// Function is a function in the kernel language, with its captured values.
type Function struct {
	Source *kernel.Source
	// Key identifies functions with equal text and captured values. Kernels of a function without a key are compiled anew for
	// each operation.
	Key string
}

// Text returns a function without captured values, such as "v => Math.sin(v) * 2".
func Text(text string) Function {
	return Function{&kernel.Source{Text: text, Capture: func(string) (any, error) { return nil, nil }}, text}
}

// Calling returns a function whose text calls another function by a name.
func Calling(text, name string, fn Function) Function {
	src := &kernel.Source{Text: text, Position: fn.Source.Position}
	src.Capture = func(n string) (any, error) {
		if n == name {
			return fn.Source, nil
		}
		if t := texts.Text(n); t != "" {
			return &kernel.Source{Text: t, Capture: func(string) (any, error) { return nil, nil }}, nil
		}
		return nil, nil
	}
	key := fn.Key
	if key != "" {
		key = text + "\x00" + key
	}
	return Function{src, key}
}

// IsZero reports whether the function is missing.
func (f Function) IsZero() bool { return f.Source == nil }

// program describes a kernel: its text, and the values of its free names.
type program struct {
	name string        // for errors
	text string        // the name of a text, or a text
	full func() string // the text of a name; nil if it is in package kernels/array
	bind map[string]any
	real ir.Type        // real type; Void for that of the parameters
	keys string         // identifies the bound values; "-" if a function has no key
	user *kernel.Source // the caller's function

	joined []string // the operations that the kernel computes besides its own
}

// with binds a name of the kernel's text: an element type, a number, a [Function], or the text of a function.
func (p *program) with(name string, v any) *program {
	if p.bind == nil {
		p.bind = map[string]any{}
	}
	switch x := v.(type) {
	case string:
		p.note(name, x)
		v = p.source(x)
	case Function:
		if x.Key == "" {
			p.keys = "-"
		}
		p.note(name, x.Key)
		v, p.user = x.Source, x.Source
	case int:
		p.note(name, fmt.Sprint(x))
		v = float64(x)
	default:
		p.note(name, fmt.Sprint(v))
	}
	p.bind[name] = v
	return p
}

func (p *program) note(name, key string) {
	if p.keys != "-" {
		p.keys += "\x00" + name + "=" + key
	}
}

// source returns a text whose free names are those of the program.
func (p *program) source(text string) *kernel.Source {
	return &kernel.Source{Text: text, Capture: p.capture, Position: p.position}
}

// position returns the position of the caller's function. Without one, errors have the position of the launch.
func (p *program) position(int) (string, int, int) {
	if p.user != nil && p.user.Position != nil {
		return p.user.Position(0)
	}
	return "", 0, 0
}

// capture returns the value of a free name: a bound value, or a function of the texts.
func (p *program) capture(name string) (any, error) {
	if v, ok := p.bind[name]; ok {
		return v, nil
	}
	text := texts.Text(name)
	if text == "" {
		return nil, nil
	}
	src := p.source(text)
	p.bind[name] = src
	return src, nil
}

// compile returns the kernel for argument types.
func (p *program) compile(args []kernel.Arg) (*kernel.Compiled, error) {
	if p.bind == nil {
		p.bind = map[string]any{}
	}
	text := p.text
	if t := texts.Text(text); t != "" {
		text = t
	} else if p.full != nil {
		text = p.full()
	}
	src := p.source(text)
	f, err := kernel.Parse(src)
	if err != nil {
		return nil, err
	}
	code, err := f.Compile(args, kernel.Options{Name: p.name, Real: p.real})
	return code, p.hinted(err)
}

// hinted adds what to do to the error of a caller's function without a value, whose call only the kernel's text shows.
func (p *program) hinted(err error) error {
	if list, ok := errors.AsType[diag.List](err); ok && p.user != nil {
		for _, d := range list {
			if d.ID == diag.ValueUnused && d.Rewrite == "" {
				d.Rewrite = "let the function return one: v => v + 1, or v => { return v + 1 }"
			}
		}
	}
	return err
}

// key returns a text that identifies the kernel for argument types, or "".
func (p *program) key(args []kernel.Arg) string {
	if p.keys == "-" {
		return ""
	}
	var b strings.Builder
	b.WriteString(p.name)
	b.WriteByte(0)
	b.WriteString(p.text)
	b.WriteString(p.keys)
	fmt.Fprintf(&b, "\x00%d", p.real)
	for i := range args {
		a := &args[i]
		if a.Elem.Record != nil {
			return ""
		}
		fmt.Fprintf(&b, "\x00%d,%d,%d,%d", a.Kind, a.Type, a.Elem.Scalar, a.Rank)
	}
	return b.String()
}

// compiled is a kernel with its library.
type compiled struct {
	*kernel.Compiled
	library *session.Library
	hash    [sha256.Size]byte
	used    uint64 // time of the last use, in operations
	dropped bool   // the library is or will be unregistered
}

// mostKernels is the number of kernels that a cache keeps.
const mostKernels = 1024

// cache holds compiled kernels by their keys and by the contents of their modules.
type cache struct {
	mu     sync.Mutex
	byKey  map[string]*compiled
	byHash map[[sha256.Size]byte]*compiled
	clock  uint64
}

// lookup returns the kernel with a key, or nil.
func (c *cache) lookup(key string) *compiled {
	if key == "" {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.byKey[key]
	if k != nil {
		c.clock++
		k.used = c.clock
	}
	return k
}

// add registers a compiled kernel, or returns an equal one.
func (c *cache) add(ctx context.Context, s *session.Session, key string, code *kernel.Compiled) (*compiled, error) {
	data, err := code.Module.MarshalBinary()
	if err != nil {
		return nil, err
	}
	hash := sha256.Sum256(data)
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.byHash[hash]
	if k == nil {
		lib, err := s.RegisterUnlisted(ctx, code.Kernel.Name, &offload.Image{Kind: offload.ImageIR, Label: code.Kernel.Name, Data: data})
		if err != nil {
			return nil, err
		}
		k = &compiled{Compiled: code, library: lib, hash: hash}
		c.makeRoom(s)
		if c.byHash == nil {
			c.byHash, c.byKey = map[[sha256.Size]byte]*compiled{}, map[string]*compiled{}
		}
		c.byHash[hash] = k
	}
	c.clock++
	k.used = c.clock
	if key != "" {
		c.byKey[key] = k
	}
	return k, nil
}

// keep marks kernels as used, and reports whether their libraries are registered.
func (c *cache) keep(list []*compiled) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clock++
	for _, k := range list {
		if k.used = c.clock; k.dropped {
			return false
		}
	}
	return true
}

// makeRoom drops the half of a full cache that was not used for the longest time.
func (c *cache) makeRoom(s *session.Session) {
	if len(c.byHash) < mostKernels && len(c.byKey) < 4*mostKernels {
		return
	}
	times := make([]uint64, 0, len(c.byHash))
	for _, k := range c.byHash {
		times = append(times, k.used)
	}
	slices.Sort(times)
	limit := times[len(times)/2]
	for hash, k := range c.byHash {
		if k.used >= limit {
			continue
		}
		delete(c.byHash, hash)
		k.dropped = true
		go func() {
			if err := k.library.Unregister(context.Background()); err != nil && offload.CodeOf(err) != offload.Closed {
				s.Logger().Error("the library of an array operation could not be unregistered", "library", k.library.Label(), "error", err)
			}
		}()
	}
	for key, k := range c.byKey {
		if k.used < limit {
			delete(c.byKey, key)
		}
	}
}

// resultTypes caches the types of functions' values by the keys of programs, and the numbers of their parameters by their texts.
type resultTypes struct {
	mu      sync.Mutex
	list    map[string]ir.Type
	arities map[string]int
}

// arity returns the number of a function's parameters.
func (t *resultTypes) arity(fn *kernel.Source) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n, ok := t.arities[fn.Text]; ok {
		return n, nil
	}
	n, err := kernel.ArityOf(fn)
	if err != nil {
		return 0, err
	}
	if t.arities == nil || len(t.arities) >= 4*mostKernels {
		t.arities = map[string]int{}
	}
	t.arities[fn.Text] = n
	return n, nil
}

func (t *resultTypes) load(key string) ir.Type {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.list[key]
}

func (t *resultTypes) store(key string, typ ir.Type) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.list == nil || len(t.list) >= 4*mostKernels {
		t.list = map[string]ir.Type{}
	}
	if key != "" {
		t.list[key] = typ
	}
}
