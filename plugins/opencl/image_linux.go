//go:build linux && (amd64 || arm64) && !nonative

package opencl

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/orepl/orepl/plugins/opencl/internal/cl"
	"github.com/orepl/orepl/runtime/offload"
)

// The fits of images: OpenCL images are preferred to portable IR.
const (
	fitIR       = 1
	fitOpenCLC  = 2
	fitSPIRV    = 3
	argumentsOf = " -cl-kernel-arg-info" // makes drivers describe parameters of OpenCL C
)

// imageProgram is a program of OpenCL C or SPIR-V. It implements [offload.SignedProgram].
type imageProgram struct {
	device *device
	handle cl.Program
	names  []string // names of the kernels

	mu       sync.Mutex
	kernels  map[string]*kernelObject
	unloaded bool
}

// kernelObject is a kernel object of the driver. It holds the arguments of one launch at a time.
type kernelObject struct {
	mu     sync.Mutex
	handle cl.Kernel
	params []imageParam
	fixed  [3]int // the work-group size that the source requires; zero for any
	info   offload.KernelInfo
}

// imageParam is a parameter of a kernel, as the driver reports it.
type imageParam struct {
	cl.ArgInfo
	described bool
	scalar    offload.Type // type of a number or of a pointer's elements; Opaque for other types
	pointer   bool         // a pointer to global or constant memory
}

// imageKernel is a kernel with the parameters that the driver or a signature states. It implements [offload.Kernel].
type imageKernel struct {
	program *imageProgram
	object  *kernelObject
	info    offload.KernelInfo
	typed   bool // the parameters are the driver's, not a signature's
}

func (k *imageKernel) Info() *offload.KernelInfo { return &k.info }

// checkForeign returns the fit of an OpenCL C or SPIR-V image. Damaged SPIR-V is an InvalidBinary error. SPIR-V is Unsupported
// if the driver does not take it.
func (d *device) checkForeign(img *offload.Image) (fit int, err error) {
	if img.Kind == offload.ImageOpenCLC {
		return fitOpenCLC, nil
	}
	if _, err := entryPoints(img.Data); err != nil {
		e := offload.Errorf(offload.InvalidBinary, "load", "").On(d.ID, img.Label)
		e.Err = err
		return 0, e
	}
	if !d.lib.HasIL() || d.lib.DeviceText(d.handle, cl.ILVersion) == "" {
		return 0, offload.Errorf(offload.Unsupported, "load", "the driver takes no SPIR-V").On(d.ID, img.Label).
			WithHint("register the OpenCL C that the image was compiled from, or use a driver whose CL_DEVICE_IL_VERSION names SPIR-V")
	}
	return fitSPIRV, nil
}

// loadForeign builds a program of OpenCL C or SPIR-V. Its error includes the driver's build log.
func (d *device) loadForeign(img *offload.Image) (*imageProgram, error) {
	p := &imageProgram{device: d, kernels: map[string]*kernelObject{}}
	var log string
	var err error
	options := strings.TrimSpace(d.options + argumentsOf)
	if img.Kind == offload.ImageSPIRV {
		p.handle, log, err = d.lib.BuildIL(d.context, d.handle, img.Data, options)
	} else {
		p.handle, log, err = d.lib.Build(d.context, d.handle, string(img.Data), options)
	}
	if err != nil {
		e := d.failure("load", img.Label, err)
		if e.Code == offload.BackendFailure {
			e = offload.Errorf(offload.InvalidBinary, "load", "the driver's compiler refused the %s", map[bool]string{true: "SPIR-V", false: "OpenCL C"}[img.Kind == offload.ImageSPIRV]).On(d.ID, img.Label)
			e.Err = err
			if img.Kind == offload.ImageOpenCLC {
				e = e.WithHint("correct the source, and register it again")
			}
		}
		if log = strings.TrimSpace(log); log != "" {
			e.Detail += fmt.Sprintf(": %.4000s", log)
		}
		return nil, e
	}
	p.names = d.lib.KernelNames(p.handle)
	return p, nil
}

func (p *imageProgram) Symbols() (list []offload.Symbol) {
	for _, name := range p.names {
		list = append(list, offload.Symbol{Name: name, Kernel: true})
	}
	return list
}

func (p *imageProgram) Global(name string) (offload.Memory, error) {
	if slices.Contains(p.names, name) {
		return nil, offload.Errorf(offload.SymbolKind, "global", "the name is a kernel's").On(p.device.ID, name)
	}
	return nil, offload.Errorf(offload.NotFound, "global", "OpenCL has no access to variables of a program").On(p.device.ID, name).
		WithHint("pass a buffer to a kernel that copies the variable")
}

// Kernel returns a kernel with the parameters that the driver reports, without those in local memory. It returns an
// InvalidArgument error for a parameter that the driver does not describe, and for one that is neither a number nor a buffer.
func (p *imageProgram) Kernel(name string) (offload.Kernel, error) {
	o, err := p.object(name)
	if err != nil {
		return nil, err
	}
	k := &imageKernel{program: p, object: o, info: o.info, typed: true}
	k.info.Params = []offload.Param{}
	for i := range o.params {
		a := &o.params[i]
		switch {
		case !a.described:
			return nil, p.unknown(name, "the driver does not describe the kernel's parameters")
		case a.Space == cl.SpaceLocal:
		case a.pointer:
			k.info.Params = append(k.info.Params, offload.Param{Name: a.Name, Buffer: true, Type: a.scalar, Elem: a.scalar.Size(), Reads: true, Writes: !a.Constant})
		case a.scalar == offload.Opaque:
			return nil, p.unknown(name, fmt.Sprintf("parameter %s of type %s is neither a number nor a buffer", a.Name, a.Type))
		default:
			k.info.Params = append(k.info.Params, offload.Param{Name: a.Name, Type: a.scalar, Elem: a.scalar.Size()})
		}
	}
	return k, nil
}

func (p *imageProgram) unknown(name, why string) error {
	return offload.Errorf(offload.InvalidArgument, "kernel", "%s", why).On(p.device.ID, name).
		WithHint("give the signature, as in lib.kernel(%q, { args: ['f32', 'buffer'], convention: 'image' }); a struct or vector by value is a type of struct()", name)
}

// KernelAs implements [offload.SignedProgram].
func (p *imageProgram) KernelAs(name string, sig *offload.Signature) (offload.Kernel, error) {
	if sig.Convention != offload.ConventionImage {
		e := offload.Errorf(offload.Unsupported, "kernel", "kernels of OpenCL have no convention '%s'", sig.Convention).On(p.device.ID, name).WithHint("write convention: 'image'")
		e.Pos = sig.Pos
		return nil, e
	}
	o, err := p.object(name)
	if err != nil {
		return nil, err
	}
	if err := o.check(sig); err != nil {
		err.Pos = sig.Pos
		return nil, err.On(p.device.ID, name)
	}
	k := &imageKernel{program: p, object: o, info: o.info}
	k.info.Params = sig.Params
	return k, nil
}

// check returns an error if a signature does not fit the parameters that the driver reports. A signature leaves out parameters
// in local memory.
func (o *kernelObject) check(sig *offload.Signature) *offload.Error {
	var given []*imageParam
	for i := range o.params {
		if a := &o.params[i]; !a.described || a.Space != cl.SpaceLocal {
			given = append(given, a)
		}
	}
	if len(given) != len(sig.Params) {
		return offload.Errorf(offload.InvalidArgument, "kernel", "the signature has %d parameters, and the kernel in the image %d", len(sig.Params), len(given)).
			WithHint("parameters in local memory are left out: launches state sharedBytes")
	}
	for i, a := range given {
		s := &sig.Params[i]
		fits := s.Buffer == a.pointer
		if fits && !a.pointer && a.scalar != offload.Opaque {
			fits = !s.Aggregate() && s.Type.Size() == a.scalar.Size()
		}
		if a.described && !fits {
			return offload.Errorf(offload.InvalidArgument, "kernel", "parameter %d of the signature is %s, and of the kernel in the image %s", i+1, wordOf(s), a.Type).
				WithHint("a pointer is a 'buffer', and a number has the type of the same size, such as 'f32' for float")
		}
	}
	return nil
}

// wordOf returns the description of a parameter for error messages.
func wordOf(p *offload.Param) string {
	switch {
	case p.Buffer:
		return "a buffer"
	case p.Aggregate():
		return fmt.Sprintf("a struct of %d bytes", p.Elem)
	}
	return p.Type.String()
}

// object returns the kernel object of this name, which it creates at the first call.
func (p *imageProgram) object(name string) (*kernelObject, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.unloaded {
		return nil, offload.Errorf(offload.Closed, "kernel", "the program was unloaded").On(p.device.ID, name)
	}
	if o := p.kernels[name]; o != nil {
		return o, nil
	}
	if !slices.Contains(p.names, name) {
		return nil, offload.Errorf(offload.NotFound, "kernel", "the image has no kernel of this name").On(p.device.ID, name)
	}
	d := p.device
	handle, err := d.lib.NewKernel(p.handle, name)
	if err != nil {
		return nil, d.failure("kernel", name, err)
	}
	o := &kernelObject{handle: handle}
	if err := o.describe(d, name); err != nil {
		d.lib.ReleaseKernel(handle)
		return nil, err
	}
	p.kernels[name] = o
	return o, nil
}

// describe queries the properties of the kernel and its parameters. It returns an error for a parameter that launches cannot
// pass.
func (o *kernelObject) describe(d *device, name string) error {
	n, err := d.lib.KernelArgs(o.handle)
	if err != nil {
		return d.failure("kernel", name, err)
	}
	o.info = offload.KernelInfo{Name: name, ObservesGroup: true, GroupItems: d.lib.MaxGroup(o.handle, d.handle),
		SharedBytes: int(d.lib.WorkGroup(o.handle, d.handle, cl.KernelLocalBytes)[0])}
	if limit := d.Info().Limits.SharedBytes; o.info.SharedBytes > limit {
		return offload.Errorf(offload.Unsupported, "kernel", "the kernel's local variables take %d bytes, more than the %d of the device", o.info.SharedBytes, limit).On(d.ID, name).
			WithHint("declare smaller local arrays")
	}
	for axis, n := range d.lib.WorkGroup(o.handle, d.handle, cl.RequiredWorkGroup) {
		o.fixed[axis] = int(n)
	}
	for i := range n {
		a, ok := d.lib.KernelArg(o.handle, i)
		q := imageParam{ArgInfo: a, described: ok, pointer: a.Space == cl.SpaceGlobal || a.Space == cl.SpaceConstant}
		q.Constant = q.Constant || a.Space == cl.SpaceConstant
		q.scalar = scalarOf(strings.TrimSuffix(a.Type, "*"))
		if q.pointer && !strings.HasSuffix(a.Type, "*") || isHandle(a.Type) {
			return offload.Errorf(offload.Unsupported, "kernel", "parameter %d has the type %s, which launches cannot pass", i+1, a.Type).On(d.ID, name).
				WithHint("kernels may take numbers, structs, and pointers to global, constant and local memory")
		}
		o.info.DynamicShared = o.info.DynamicShared || a.Space == cl.SpaceLocal
		o.params = append(o.params, q)
	}
	return nil
}

// isHandle reports whether a type is an OpenCL object that scripts cannot pass.
func isHandle(name string) bool {
	return strings.HasPrefix(name, "image") && strings.HasSuffix(name, "_t") || slices.Contains([]string{"sampler_t", "event_t", "queue_t", "reserve_id_t", "clk_event_t"}, name)
}

// scalarOf returns the scalar type with this name in OpenCL C, or Opaque.
func scalarOf(name string) offload.Type {
	switch strings.TrimSpace(name) {
	case "char", "signed char":
		return offload.I8
	case "uchar", "unsigned char":
		return offload.U8
	case "short":
		return offload.I16
	case "ushort", "unsigned short":
		return offload.U16
	case "int":
		return offload.I32
	case "uint", "unsigned int":
		return offload.U32
	case "long":
		return offload.I64
	case "ulong", "unsigned long":
		return offload.U64
	case "half":
		return offload.F16
	case "float":
		return offload.F32
	case "double":
		return offload.F64
	}
	return offload.Opaque
}

func (p *imageProgram) Unload() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.unloaded {
		return offload.Errorf(offload.Closed, "unload", "the program was unloaded").On(p.device.ID, "")
	}
	p.unloaded = true
	for _, o := range p.kernels {
		o.mu.Lock()
		p.device.lib.ReleaseKernel(o.handle)
		o.handle = 0
		o.mu.Unlock()
	}
	p.device.lib.ReleaseProgram(p.handle)
	return nil
}
