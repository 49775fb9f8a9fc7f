package session

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/orepl/orepl/lang/spelling"
	"github.com/orepl/orepl/runtime/offload"
)

// Arg is an argument of a kernel.
type Arg struct {
	typ    offload.Type
	bits   uint64
	data   []byte // contents of a struct by value
	buffer *Buffer
}

// Equal reports whether two arguments are the same buffer, or values with the same type and bits. Structs by value are never
// equal.
func (a Arg) Equal(b Arg) bool {
	return a.typ == b.typ && a.bits == b.bits && a.buffer == b.buffer && a.data == nil && b.data == nil
}

// Buf returns a buffer argument.
func Buf(b *Buffer) Arg { return Arg{buffer: b} }

// I32 returns an i32 argument.
func I32(v int32) Arg { return Arg{typ: offload.I32, bits: uint64(uint32(v))} }

// U32 returns a u32 argument.
func U32(v uint32) Arg { return Arg{typ: offload.U32, bits: uint64(v)} }

// I64 returns an i64 argument.
func I64(v int64) Arg { return Arg{typ: offload.I64, bits: uint64(v)} }

// U64 returns a u64 argument.
func U64(v uint64) Arg { return Arg{typ: offload.U64, bits: v} }

// F32 returns an f32 argument. NaN has the bits that the kernel language defines.
func F32(v float32) Arg {
	bits := math.Float32bits(v)
	if v != v {
		bits = 0x7fc00000
	}
	return Arg{typ: offload.F32, bits: uint64(bits)}
}

// F64 returns an f64 argument. NaN has the bits that the kernel language defines.
func F64(v float64) Arg {
	bits := math.Float64bits(v)
	if v != v {
		bits = 0x7ff8000000000000
	}
	return Arg{typ: offload.F64, bits: bits}
}

// Bool returns a bool argument.
func Bool(v bool) Arg {
	a := Arg{typ: offload.Bool}
	if v {
		a.bits = 1
	}
	return a
}

// Bits returns a scalar argument of any type from its zero-extended bits.
func Bits(t offload.Type, bits uint64) Arg { return Arg{typ: t, bits: bits} }

// Struct returns an argument that is passed by value. [Queue.Launch] copies data at each call, so a change of data between two
// launches changes the argument of the second.
func Struct(data []byte) Arg { return Arg{data: data} }

func (a Arg) String() string {
	switch {
	case a.buffer != nil:
		return "a buffer of " + a.buffer.shape.String()
	case a.data != nil:
		return fmt.Sprintf("a struct of %d bytes", len(a.data))
	}
	return "a scalar of type " + a.typ.String()
}

// Config is the configuration of a launch.
type Config struct {
	Size      []int // work-items along x, y, z; missing axes are 1; 0 on any axis does nothing
	GroupSize []int // the group size; nil: the language's default
	Checks    offload.Checks
	Timeout   time.Duration // 0: none
	Services  offload.Services
	Pos       offload.Position // position of the launch, for errors

	SharedBytes int           // shared memory of each group beyond the kernel's own, in bytes
	Cooperative bool          // all groups run at the same time
	Joint       offload.Joint // nil: no other device takes part

	Teams       int // of a target region of OpenMP: maximum number of teams, if the region states no num_teams; 0: OpenMP's default
	ThreadLimit int // of a target region of OpenMP: maximum number of threads of a team; 0: no limit
}

// Call is a kernel with validated arguments and size, for any number of launches. It must not be changed during a launch.
type Call struct {
	kernel   *Kernel
	args     []Arg
	launch   offload.Launch
	accesses []access // sorted by resource
}

// Bind checks the arguments and the size. Errors: InvalidArgument for a wrong number, type or rank, InvalidDevice for a buffer
// of another device. Sizes out of range are InvalidSize, freed buffers Closed, missing services NotFound or Unsupported.
// Options that the kernel does not take are Unsupported.
func (k *Kernel) Bind(cfg Config, args ...Arg) (*Call, error) {
	c := k.Unbound()
	if err := c.Rebind(cfg, args...); err != nil {
		return nil, err
	}
	c.prepare()
	return c, nil
}

// prepare validates the launch once by the plugin's [offload.Preparer]. The launch itself reports a refusal.
func (c *Call) prepare() {
	p, ok := c.kernel.device.raw.(offload.Preparer)
	if !ok {
		return
	}
	again := c.launch.Prepared
	c.launch.Prepared = nil
	if ready, err := p.Prepare(&c.launch, again); err == nil {
		c.launch.Prepared = ready
	}
}

// changed prepares the call again if it was prepared.
func (c *Call) changed() {
	if c.launch.Prepared != nil {
		c.prepare()
	}
}

// Unbound returns a call of the kernel that needs Rebind before its launch.
func (k *Kernel) Unbound() *Call { return &Call{kernel: k} }

// Rebind replaces and checks the configuration and all arguments. It allocates only for more arguments than before. After an error
// the call needs another Rebind before its launch.
func (c *Call) Rebind(cfg Config, args ...Arg) error {
	n := len(args)
	c.args = slices.Grow(c.args[:0], n)[:n]
	c.launch = offload.Launch{Kernel: c.kernel.raw, Checks: cfg.Checks, Timeout: cfg.Timeout, Services: cfg.Services, Pos: cfg.Pos,
		SharedBytes: cfg.SharedBytes, Cooperative: cfg.Cooperative, Teams: cfg.Teams, ThreadLimit: cfg.ThreadLimit, Joint: cfg.Joint,
		Args: slices.Grow(c.launch.Args[:0], n)[:n]}
	if params := c.kernel.Info().Params; params != nil && len(params) != n {
		return c.fail(offload.InvalidArgument, "the kernel takes %s, not %d", spelling.Count(len(params), "argument"), n).
			WithHint("%s", c.kernel.Signature())
	}
	if names := c.kernel.Info().Services; len(names) > 0 {
		if err := c.checkServices(names); err != nil {
			return err
		}
	}
	if err := cmp.Or(c.checkShared(cfg), c.checkTeams(cfg)); err != nil {
		return err
	}
	for i, a := range args {
		if err := c.set(i, a); err != nil {
			return err
		}
	}
	c.collectAccesses()
	if err := c.setGroupSize(cfg.GroupSize); err != nil {
		return err
	}
	if err := c.setSize(cfg.Size); err != nil {
		return err
	}
	if cfg.Timeout < 0 {
		return c.fail(offload.InvalidArgument, "the timeout is negative: %v", cfg.Timeout)
	}
	return nil
}

// checkShared returns an error for shared memory or cooperation that the kernel does not support.
func (c *Call) checkShared(cfg Config) error {
	info := c.kernel.Info()
	limit := c.kernel.device.Info().Limits.SharedBytes
	switch {
	case cfg.SharedBytes == 0:
	case !info.DynamicShared:
		return c.fail(offload.Unsupported, "the kernel takes no shared memory from the launch").WithHint("leave sharedBytes out")
	case cfg.SharedBytes < 0 || limit > 0 && cfg.SharedBytes > limit-info.SharedBytes:
		return c.fail(offload.InvalidSize, "%d bytes of shared memory beyond the %d that the kernel declares are more than the %d of the device",
			cfg.SharedBytes, info.SharedBytes, limit)
	}
	if cfg.Cooperative && !info.Cooperative {
		return c.fail(offload.Unsupported, "the device cannot run all groups of the kernel at the same time").WithHint("leave cooperative out")
	}
	return nil
}

// checkTeams returns an error if cfg has teams and the kernel makes none, or if a number is out of range.
func (c *Call) checkTeams(cfg Config) error {
	for _, o := range []struct {
		name string
		n    int
	}{{"teams", cfg.Teams}, {"threadLimit", cfg.ThreadLimit}} {
		switch {
		case o.n == 0:
		case c.kernel.Info().Convention != offload.OutlinedOpenMP:
			return c.fail(offload.Unsupported, "%s is for target regions of OpenMP, and this kernel is none", o.name).
				WithHint("leave it out; size and groupSize state the work-items of other kernels")
		case o.n < 0 || o.n > math.MaxInt32:
			return c.fail(offload.InvalidSize, "%s is %d; it must be 1 to %d", o.name, o.n, math.MaxInt32).
				WithHint("leave it out for the default")
		}
	}
	return nil
}

// checkServices returns an error if the kernel calls services that the device or the launch does not offer.
func (c *Call) checkServices(names []string) error {
	if !c.kernel.device.Info().Features.Calls {
		return c.fail(offload.Unsupported, "the kernel calls the service %s, and the device cannot call the host", names[0])
	}
	if c.launch.Services == nil {
		return c.fail(offload.NotFound, "the kernel calls the service %s, and the launch offers none", names[0])
	}
	checker, ok := c.launch.Services.(offload.ServiceChecker)
	if !ok {
		return nil
	}
	for _, name := range names {
		if err := checker.CheckService(name); err != nil {
			e := c.fail(cmp.Or(offload.CodeOf(err), offload.NotFound), "%v", err)
			var cause *offload.Error
			if errors.As(err, &cause) {
				e.Detail, e.Hint = cmp.Or(cause.Detail, e.Detail), cause.Hint
			}
			return e
		}
	}
	return nil
}

// Unbind drops the references to the arguments. The call needs Rebind before its next launch.
func (c *Call) Unbind() {
	clear(c.args)
	clear(c.launch.Args)
	clear(c.accesses)
	c.launch.Kernel, c.launch.Services, c.launch.Prepared, c.launch.Joint = nil, nil, nil, nil
}

// Kernel returns the call's kernel.
func (c *Call) Kernel() *Kernel { return c.kernel }

// Command returns a copy of the launch for the device; a group size of zero means the default.
func (c *Call) Command() offload.Launch {
	l := c.launch
	l.Args, l.Prepared = slices.Clone(l.Args), nil
	return l
}

// SetArg replaces argument i, which counts from 0. After an error the call is unchanged.
func (c *Call) SetArg(i int, a Arg) error {
	if i < 0 || i >= len(c.args) {
		return c.fail(offload.InvalidArgument, "there is no argument %d of %d", i, len(c.args))
	}
	old := c.args[i].buffer
	if err := c.set(i, a); err != nil {
		return err
	}
	if a.buffer != old {
		c.collectAccesses()
	}
	c.changed()
	return nil
}

// SetSize replaces the size. After an error the call is unchanged.
func (c *Call) SetSize(size ...int) error {
	if err := c.setSize(size); err != nil {
		return err
	}
	c.changed()
	return nil
}

func (c *Call) setSize(size []int) error {
	n, err := c.axes("size", size)
	if err != nil {
		return err
	}
	if err := c.checkGroups(n, c.launch.GroupSize); err != nil {
		return err
	}
	c.launch.Size = n
	return nil
}

func (c *Call) set(i int, a Arg) error {
	b := a.buffer
	if err := c.checkType(i, a); err != nil {
		return err
	}
	arg := offload.Arg{Type: a.typ, Bits: a.bits, Data: a.data}
	if b != nil {
		d := c.kernel.device
		if b.Freed() {
			return c.freed(i, b)
		}
		if b.alloc.device != d {
			return c.fail(offload.InvalidDevice, "argument %s is a buffer of %s, but the kernel is on %s", c.name(i), b.alloc.device.id, d.id).
				WithHint("copy %q to %s, or launch on %s", b.label, d.id, b.alloc.device.id)
		}
		arg = offload.Arg{Type: b.typ, Memory: b.alloc.raw, Offset: b.offset, Dims: b.dims, Label: b.label}
	}
	c.args[i], c.launch.Args[i] = a, arg
	return nil
}

func (c *Call) checkType(i int, a Arg) error {
	params := c.kernel.Info().Params
	if params == nil {
		return nil
	}
	p := &params[i]
	if p.Aggregate() {
		if a.buffer != nil || len(a.data) != p.Elem {
			return c.fail(offload.InvalidArgument, "argument %s must be a struct of %d bytes, not %v", c.name(i), p.Elem, a).
				WithHint("%s", c.kernel.Signature())
		}
		return nil
	}
	if !p.Buffer {
		if a.data != nil || a.buffer != nil || a.typ != p.Type {
			return c.fail(offload.InvalidArgument, "argument %s must be a scalar of type %v, not %v", c.name(i), p.Type, a).
				WithHint("%s", c.kernel.Signature())
		}
		return nil
	}
	b := a.buffer
	if p.Rank == 0 {
		if b == nil {
			return c.fail(offload.InvalidArgument, "argument %s must be a buffer, not %v", c.name(i), a).WithHint("%s", c.kernel.Signature())
		}
		return nil
	}
	if b == nil || b.typ != p.Type || b.elem != p.Elem || b.rank != p.Rank {
		want := shape{typ: p.Type, elem: p.Elem}
		return c.fail(offload.InvalidArgument, "argument %s must be a buffer of %v with %s, not %v", c.name(i), &want, spelling.Count(p.Rank, "dimension"), a).
			WithHint("%s", c.kernel.Signature())
	}
	return nil
}

// groupHint is the hint for groups that are too large.
const groupHint = "make the group smaller, or leave its size out for the default; a launch has as many groups as its size needs"

func (c *Call) setGroupSize(size []int) error {
	if size == nil {
		return nil
	}
	n, err := c.axes("group size", size)
	if err != nil {
		return err
	}
	d := c.kernel.device
	limits := &d.Info().Limits
	items := limits.GroupItems
	if k := c.kernel.Info().GroupItems; k > 0 && (items == 0 || k < items) {
		items = k
	}
	total := 1
	for i, g := range n {
		if g == 0 {
			return c.fail(offload.InvalidArgument, "the group size is 0 along %c", "xyz"[i]).WithHint("leave the group size out for the default")
		}
		if most := limits.GroupSize[i]; most > 0 && g > most {
			return c.fail(offload.InvalidSize, "the group size along %c is %d, more than the %d of %s", "xyz"[i], g, most, d.id).WithHint(groupHint)
		}
		if total > math.MaxInt32/g {
			total = math.MaxInt32
		} else {
			total *= g
		}
	}
	if items > 0 && total > items {
		return c.fail(offload.InvalidSize, "a group of %d×%d×%d work-items is more than the %d of %s", n[0], n[1], n[2], items, d.id).WithHint(groupHint)
	}
	c.launch.GroupSize = n
	return nil
}

func (c *Call) checkGroups(size, group [3]int) error {
	limits := &c.kernel.device.Info().Limits
	for i, g := range group {
		if most := limits.Groups[i]; g > 0 && most > 0 {
			if n := (size[i] + g - 1) / g; n > most {
				return c.fail(offload.InvalidSize, "%d groups along %c are more than the %d of %s", n, "xyz"[i], most, c.kernel.device.id).
					WithHint("use larger groups, or another axis")
			}
		}
	}
	return nil
}

// axes returns a size extended to three axes with ones, or an error if the size is out of range.
func (c *Call) axes(what string, size []int) ([3]int, error) {
	n := [3]int{1, 1, 1}
	if len(size) < 1 || len(size) > 3 {
		return n, c.fail(offload.InvalidArgument, "the %s has %s; it needs 1 to 3", what, spelling.Count(len(size), "axis"))
	}
	for i, s := range size {
		if s < 0 || s > math.MaxInt32 {
			return n, c.fail(offload.InvalidSize, "the %s along %c is %d; it must be 0 to %d", what, "xyz"[i], s, math.MaxInt32).
				WithHint("use several axes or several launches")
		}
		n[i] = s
	}
	return n, nil
}

// collectAccesses lists the accesses of a launch: to its buffers and its program.
func (c *Call) collectAccesses() {
	params := c.kernel.Info().Params
	list := append(slices.Grow(c.accesses[:0], len(c.args)+1), access{res: &c.kernel.program.resource, lo: 0, hi: 1, joint: c.launch.Joint != nil})
	for i, a := range c.args {
		if b := a.buffer; b != nil {
			writes := params == nil || params[i].Writes
			list = append(list, b.access(0, b.Size(), writes))
		}
	}
	slices.SortStableFunc(list, func(a, b access) int {
		switch {
		case a.res.serial < b.res.serial:
			return -1
		case a.res.serial > b.res.serial:
			return 1
		}
		return 0
	})
	c.accesses = list
}

// Launch issues the call to the queue. In the steady state it allocates nothing. A size of 0 on any axis issues nothing.
// Errors: InvalidQueue for a queue of another device, Closed for a closed queue, freed buffers or an unregistered library,
// DeviceLost, and those of the plugin.
func (q *Queue) Launch(c *Call) error {
	if q.device != c.kernel.device {
		return c.fail(offload.InvalidQueue, "the queue %q is on %s, the kernel on %s", q.Label(), q.device.id, c.kernel.device.id).
			WithHint("use a queue of %s", c.kernel.device.id)
	}
	for i := range c.args {
		if b := c.args[i].buffer; b != nil && b.root != nil && b.viewFreed() {
			return c.freed(i, b)
		}
	}
	if err := q.enter("launch", c.accesses, false); err != nil {
		for i := range c.args {
			if b := c.args[i].buffer; b != nil && b.Freed() {
				return c.freed(i, b)
			}
		}
		return c.at(err)
	}
	size := &c.launch.Size
	if size[0] == 0 || size[1] == 0 || size[2] == 0 {
		q.exit(c.accesses, false)
		return nil
	}
	t := q.begin()
	err := q.raw.Launch(&c.launch)
	t.endLaunch(c, err)
	q.exit(c.accesses, err == nil)
	if err != nil {
		return c.at(located(err, q.device.id, c.kernel.name))
	}
	if q.watched(nil) {
		q.tell(Command{Kind: LaunchCommand, Call: c})
	}
	return nil
}

// name returns the name of argument i for errors: that of the parameter, or its number from 1 if the image does not tell one.
func (c *Call) name(i int) string {
	if params := c.kernel.Info().Params; params != nil && params[i].Name != "" {
		return params[i].Name
	}
	return fmt.Sprint(i + 1)
}

func (c *Call) fail(code offload.Code, format string, args ...any) *offload.Error {
	e := offload.Errorf(code, "launch", format, args...).On(c.kernel.device.id, c.kernel.name)
	e.Pos = c.launch.Pos
	return e
}

// freed returns the error of an argument whose buffer was freed.
func (c *Call) freed(i int, b *Buffer) error {
	return c.fail(offload.Closed, "argument %s: the buffer %q has been freed", c.name(i), b.label).WithHint(freedHint)
}

// at returns a copy of err with the position of the launch, if err is an [offload.Error] without a position. It returns any
// other err unchanged.
func (c *Call) at(err error) error {
	if e, ok := err.(*offload.Error); ok && e.Pos == (offload.Position{}) {
		with := *e
		with.Pos = c.launch.Pos
		return &with
	}
	return err
}

// Signature returns the kernel's name and parameters as text. If its image does not describe the parameters, the text says so.
func (k *Kernel) Signature() string {
	params := k.Info().Params
	if params == nil {
		return k.name + "(…): its image does not tell the parameters"
	}
	list := make([]string, len(params))
	for i, p := range params {
		t := p.Type.String()
		switch {
		case p.Aggregate():
			t = fmt.Sprintf("struct(%d)", p.Elem)
		case p.Buffer && p.Rank == 0:
			t = "buffer"
		case p.Buffer:
			if p.Type == offload.Opaque {
				t = fmt.Sprintf("opaque(%d)", p.Elem)
			}
			t += strings.Repeat("[]", p.Rank)
		}
		list[i] = t
		if p.Name != "" {
			list[i] = p.Name + ": " + t
		}
	}
	return k.name + "(" + strings.Join(list, ", ") + ")"
}
