//go:build linux && (amd64 || arm64) && !nonative

package cuda

import (
	"bytes"
	"debug/elf"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/orepl/orepl/lang/later"
	"github.com/orepl/orepl/plugins/cuda/internal/driver"
	"github.com/orepl/orepl/runtime/offload"
)

// nativeProgram is a program of an image of another compiler. It implements [offload.SignedProgram].
type nativeProgram struct {
	device   *device
	module   driver.Module
	entries  []entry // nil if the image does not list them
	unloaded atomic.Bool

	mu      sync.Mutex
	globals map[string]*block
}

// entry is a kernel of an image.
type entry struct {
	name   string
	params []int // bytes of each parameter; nil if the image does not list them
}

// nativeKernel is a kernel of an image of another compiler.
type nativeKernel struct {
	program  *nativeProgram
	function driver.Function
	info     offload.KernelInfo
}

func (k *nativeKernel) Info() *offload.KernelInfo { return &k.info }

var archName = later.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(`^sm_(\d+)(\d)([a-z]?)$`) }}

// checkNative returns the fit of an image of another compiler. A cubin runs on devices of its major version with at least
// its minor version, PTX on all devices that are not older. A letter at the end of an architecture restricts both to that
// architecture. A fat binary is accepted unread.
func (d *device) checkNative(img *offload.Image) (fit int, err error) {
	refuse := func(format string, args ...any) (int, error) {
		return 0, offload.Errorf(offload.Unsupported, "load", format, args...).On(d.ID, img.Label)
	}
	if img.Kind == offload.ImageFatbin {
		return 2, nil // the driver chooses an entry of the fat binary
	}
	m := archName.Get().FindStringSubmatch(img.Arch)
	if m == nil {
		return refuse("the image states no architecture that is known: %q", img.Arch)
	}
	major, _ := strconv.Atoi(m[1])
	minor, _ := strconv.Atoi(m[2])
	exact := major == d.major && minor == d.minor
	switch {
	case m[3] != "" && !exact:
		return refuse("the image is for %s alone, and the device is %s", img.Arch, d.Info().Arch)
	case img.Kind == offload.ImageCubin && (major != d.major || minor > d.minor):
		return refuse("the cubin is for %s, and the device is %s", img.Arch, d.Info().Arch)
	case major > d.major || major == d.major && minor > d.minor:
		return refuse("the PTX is for %s and later, and the device is %s", img.Arch, d.Info().Arch)
	case img.Kind == offload.ImageCubin:
		return 10000 + minor, nil
	}
	return 1000 + 10*major + minor, nil
}

// loadNative loads an image of another compiler.
func (d *device) loadNative(img *offload.Image) (*nativeProgram, error) {
	p := &nativeProgram{device: d, entries: entriesOf(img), globals: map[string]*block{}}
	err := d.in(func() error {
		m, log, err := d.driver.Load(img.Data)
		if err == nil {
			p.module = m
			return nil
		}
		e := offload.Errorf(offload.InvalidBinary, "load", "the driver does not load the %s", img.Kind).On(d.ID, img.Label)
		if log = strings.TrimSpace(log); log != "" {
			e.Detail += fmt.Sprintf(": %.2000s", log)
		}
		e.Err = err
		if err == driver.UnsupportedPTX {
			e.Hint = fmt.Sprintf("the driver knows the PTX of %s and earlier: install a newer one, or compile for an older version", versionText(d.driver.Version))
		}
		return e
	})
	if err != nil {
		return nil, d.failure("load", img.Label, err)
	}
	return p, nil
}

var (
	entryText = later.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(`\.entry\s+([\w$%]+)\s*\(([^)]*)\)`) }}
	paramText = later.Value[*regexp.Regexp]{Make: func() *regexp.Regexp {
		return regexp.MustCompile(`\.param\s+(?:\.align\s+\d+\s+)?\.[a-z](\d+)(?:\s+\.ptr[^,]*?)?\s+[\w$%]+(?:\[(\d+)\])?`)
	}}
)

// entriesOf returns the kernels that PTX or the symbols of a cubin list. It is nil if there are none, and for a fat
// binary, which only the driver can read.
func entriesOf(img *offload.Image) (list []entry) {
	switch img.Kind {
	case offload.ImagePTX:
		for _, m := range entryText.Get().FindAllSubmatch(img.Data, -1) {
			e := entry{name: string(m[1]), params: []int{}}
			for _, p := range paramText.Get().FindAllSubmatch(m[2], -1) {
				n, _ := strconv.Atoi(string(p[1]))
				n /= 8
				if len(p[2]) > 0 {
					count, _ := strconv.Atoi(string(p[2]))
					n *= count
				}
				e.params = append(e.params, n)
			}
			list = append(list, e)
		}
	case offload.ImageCubin:
		f, err := elf.NewFile(bytes.NewReader(img.Data))
		if err != nil {
			return nil
		}
		symbols, _ := f.Symbols()
		const kernelFlag = 0x10 // bit of a symbol's st_other
		for _, s := range symbols {
			if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Other&kernelFlag != 0 {
				list = append(list, entry{name: s.Name})
			}
		}
	}
	return list
}

func (p *nativeProgram) refuse(code offload.Code, op, name, format string, args ...any) *offload.Error {
	return offload.Errorf(code, op, format, args...).On(p.device.ID, name)
}

func (p *nativeProgram) Symbols() (list []offload.Symbol) {
	for _, e := range p.entries {
		list = append(list, offload.Symbol{Name: e.name, Kernel: true})
	}
	return list
}

// Kernel returns an error, since the image has no parameter types.
func (p *nativeProgram) Kernel(name string) (offload.Kernel, error) {
	if p.entries != nil && !slices.ContainsFunc(p.entries, func(e entry) bool { return e.name == name }) {
		return nil, p.refuse(offload.NotFound, "kernel", name, "the image has no kernel of this name")
	}
	return nil, p.refuse(offload.InvalidArgument, "kernel", name, "the image does not describe the kernel's parameters").
		WithHint("give the signature, as in lib.kernel(%q, { args: ['f32', 'buffer'], convention: 'image' }); see docs/cuda.md", name)
}

// KernelAs implements [offload.SignedProgram].
func (p *nativeProgram) KernelAs(name string, sig *offload.Signature) (offload.Kernel, error) {
	if sig.Convention != offload.ConventionImage {
		e := p.refuse(offload.Unsupported, "kernel", name, "kernels of GPU images have no convention '%s'", sig.Convention).WithHint("write convention: 'image'")
		e.Pos = sig.Pos
		return nil, e
	}
	if p.unloaded.Load() {
		return nil, p.refuse(offload.Closed, "kernel", name, "the program was unloaded")
	}
	if i := slices.IndexFunc(p.entries, func(e entry) bool { return e.name == name }); i >= 0 && p.entries[i].params != nil {
		if err := p.checkSignature(&p.entries[i], sig); err != nil {
			return nil, err
		}
	}
	k := &nativeKernel{program: p}
	d := p.device
	err := d.in(func() (err error) {
		if k.function, err = d.driver.Function(p.module, name); err != nil {
			return err
		}
		get := func(a driver.FunctionAttribute) int { return d.driver.FunctionAttribute(k.function, a) }
		k.info = offload.KernelInfo{Name: name, Params: sig.Params, ObservesGroup: true, GroupItems: get(driver.FuncMaxThreads), SharedBytes: get(driver.FuncSharedBytes),
			Registers: get(driver.FuncRegisters), DynamicShared: true}
		return nil
	})
	switch {
	case err == driver.NotFound:
		return nil, p.refuse(offload.NotFound, "kernel", name, "the image has no kernel of this name")
	case err != nil:
		return nil, d.failure("kernel", name, err)
	}
	return k, nil
}

// paramBytes returns the size of a parameter in the argument block.
func paramBytes(p *offload.Param) int {
	switch {
	case p.Buffer:
		return 8
	case p.Aggregate():
		return p.Elem
	case p.Type == offload.Bool:
		return 1
	}
	return p.Type.Size()
}

// checkSignature returns an error unless the parameters of a signature have the sizes of those in the image.
func (p *nativeProgram) checkSignature(e *entry, sig *offload.Signature) error {
	var stated []int
	for i := range sig.Params {
		stated = append(stated, paramBytes(&sig.Params[i]))
	}
	if slices.Equal(stated, e.params) {
		return nil
	}
	err := p.refuse(offload.InvalidArgument, "kernel", e.name, "the signature has parameters of %v bytes, and the kernel in the image of %v", stated, e.params).
		WithHint("a pointer is a 'buffer' of 8 bytes")
	err.Pos = sig.Pos
	return err
}

// Global returns the memory of a variable of the image.
func (p *nativeProgram) Global(name string) (offload.Memory, error) {
	d := p.device
	p.mu.Lock()
	defer p.mu.Unlock()
	if b := p.globals[name]; b != nil {
		return b, nil
	}
	switch {
	case p.unloaded.Load():
		return nil, p.refuse(offload.Closed, "global", name, "the program was unloaded")
	case slices.ContainsFunc(p.entries, func(e entry) bool { return e.name == name }):
		return nil, p.refuse(offload.SymbolKind, "global", name, "the name is a kernel's")
	}
	b := &block{device: d, owned: true, kind: offload.DeviceMemory}
	err := d.in(func() (err error) {
		b.at, b.size, err = d.driver.Global(p.module, name)
		return err
	})
	switch {
	case err == driver.NotFound:
		return nil, p.refuse(offload.NotFound, "global", name, "the image has no variable of this name")
	case err != nil:
		return nil, d.failure("global", name, err)
	}
	p.globals[name] = b
	return b, nil
}

func (p *nativeProgram) Unload() error {
	if p.unloaded.Swap(true) || p.device.isLost.Load() {
		return nil
	}
	for _, b := range p.globals {
		b.freed.Store(true)
	}
	if err := p.device.in(func() error { return p.device.driver.Unload(p.module) }); err != nil && !p.device.isLost.Load() {
		return p.device.failure("unload", "", err)
	}
	return nil
}

// appendBlock appends the argument block of a launch. It aligns scalars and addresses to their sizes, and a struct to its
// largest field.
func (k *nativeKernel) appendBlock(b []byte, args []offload.Arg) []byte {
	start := len(b)
	pad := func(align int) {
		for (len(b)-start)%align != 0 {
			b = append(b, 0)
		}
	}
	for i := range args {
		a, p := &args[i], &k.info.Params[i]
		if p.Aggregate() {
			align := 1
			for _, f := range p.Fields {
				align = max(align, f.Type.Size())
			}
			pad(align)
			b = append(b, a.Data...)
			continue
		}
		bits, n := a.Bits, paramBytes(p)
		if p.Buffer {
			bits = uint64(a.Memory.(*block).at) + uint64(a.Offset)
		}
		pad(n)
		for range n {
			b = append(b, byte(bits))
			bits >>= 8
		}
	}
	return b
}
