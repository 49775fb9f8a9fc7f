package host

import (
	"regexp"
	"strings"
	"sync"

	"github.com/orepl/orepl/lang/later"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/rpc"
)

// These constants limit the declarations of device code.
const (
	maxSignature = 1024 // bytes
	maxDeclared  = 4096 // services of a program
	maxArgs      = 64
)

// table holds the services that device code has declared. It outlives a channel.
type table struct {
	mu     sync.RWMutex
	list   []*declared // by number - 1
	number map[string]uint32
}

// declared is a service as the device code declared it.
type declared struct {
	name   string
	args   []offload.Type
	result offload.Type // Opaque: none
}

var signatureForm = later.Value[*regexp.Regexp]{Make: func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*([^\s(),]+)\s*\(([^()]*)\)\s*(?::\s*(\w+)\s*)?$`)
}}

// parse parses a signature such as "enough(f64, f64): bool".
func parse(text string) (*declared, error) {
	m := signatureForm.Get().FindStringSubmatch(text)
	if m == nil {
		return nil, offload.Errorf(offload.InvalidArgument, "call", "%q is no signature of a service", text).
			WithHint("write name(type, …): result, such as enough(f64, f64): bool")
	}
	d := &declared{name: m[1]}
	if strings.TrimSpace(m[2]) != "" {
		for name := range strings.SplitSeq(m[2], ",") {
			t, ok := valueType(strings.TrimSpace(name))
			if !ok {
				return nil, typeError(text, strings.TrimSpace(name))
			}
			d.args = append(d.args, t)
		}
	}
	if len(d.args) > maxArgs {
		return nil, offload.Errorf(offload.InvalidArgument, "call", "the service %s takes %d values; the most is %d", d.name, len(d.args), maxArgs)
	}
	if m[3] != "" && m[3] != "void" {
		t, ok := valueType(m[3])
		if !ok {
			return nil, typeError(text, m[3])
		}
		d.result = t
	}
	return d, nil
}

func typeError(signature, name string) error {
	return offload.Errorf(offload.InvalidArgument, "call", "the signature %q has no type %q", signature, name).
		WithHint("services take and return bool, i32, u32, i64, u64, f32 and f64")
}

// valueType returns the type with a name, or false if services do not accept it.
func valueType(name string) (offload.Type, bool) {
	switch t, _ := offload.ParseType(name); t {
	case offload.Bool, offload.I32, offload.U32, offload.I64, offload.U64, offload.F32, offload.F64:
		return t, true
	}
	return offload.Opaque, false
}

// add returns the number and the service of a signature, which it adds if the table lacks it. Errors: those of parse, and
// OutOfResources if the table has maxDeclared services.
func (t *table) add(text string) (number uint32, d *declared, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := t.number[text]; n != 0 {
		return n, t.list[n-1], nil
	}
	if d, err = parse(text); err != nil {
		return 0, nil, err
	}
	if len(t.list) >= maxDeclared {
		return 0, nil, offload.Errorf(offload.OutOfResources, "call", "the image declares more than %d services", maxDeclared)
	}
	t.list = append(t.list, d)
	if t.number == nil {
		t.number = map[string]uint32{}
	}
	t.number[text] = uint32(len(t.list))
	return uint32(len(t.list)), d, nil
}

// get returns a service by number, or nil.
func (t *table) get(number uint64) *declared {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if number == 0 || number > uint64(len(t.list)) {
		return nil
	}
	return t.list[number-1]
}

// declare serves OpDeclare. A service that the launch is known to lack is an error.
func (h *Host) declare(l *Launch, p *rpc.Port) error {
	var text string
	if err := p.RecvN(maxSignature, func(_ int, b []byte) { text = string(b) }); err != nil {
		return err
	}
	number, d, err := h.table.add(text)
	if err != nil {
		return err
	}
	if checker, ok := l.Services.(offload.ServiceChecker); ok {
		if err := checker.CheckService(d.name); err != nil {
			return err
		}
	}
	return p.Send(func(_ int, reply *rpc.Packet) {
		*reply = rpc.Packet{uint64(rpc.StatusOK), uint64(number), uint64(len(d.args))}
	})
}

// call serves OpCall.
func (h *Host) call(l *Launch, p *rpc.Port) error {
	var d rpc.Packet
	one := func(_ int, in *rpc.Packet) { d = *in }
	if err := p.Recv(one); err != nil {
		return err
	}
	s := h.table.get(d[0])
	if s == nil {
		return sentence("device code called service %d, which it has not declared", d[0])
	}
	h.called[p.Index()].Store(&s.name)
	r := &offload.Request{Message: l.message(int64(d[1])), Name: s.name, Result: s.result}
	if len(s.args) > 0 {
		r.Args = make([]offload.Scalar, len(s.args))
	}
	from := d[2:]
	for i, t := range s.args {
		if len(from) == 0 {
			if err := p.Recv(one); err != nil {
				return err
			}
			from = d[:]
		}
		r.Args[i] = offload.Scalar{Type: t, Bits: narrowed(t, from[0])}
		from = from[1:]
	}
	if l.Services == nil {
		return offload.Errorf(offload.NotFound, "call", "the kernel calls the service %s, and the launch offers none", s.name)
	}
	bits, err := l.Services.Call(l.Context, r)
	if err != nil {
		return &Failure{r.Item, err}
	}
	if p.OneWay() {
		return nil
	}
	return p.Send(func(_ int, reply *rpc.Packet) { *reply = rpc.Packet{uint64(rpc.StatusOK), bits} })
}

// narrowed clears the bits of a word beyond the size of a type. A bool becomes 0 or 1.
func narrowed(t offload.Type, bits uint64) uint64 {
	switch t {
	case offload.Bool:
		return min(bits&0xff, 1)
	case offload.I32, offload.U32, offload.F32:
		return bits & 0xffffffff
	}
	return bits
}
