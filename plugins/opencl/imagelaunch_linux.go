//go:build linux && (amd64 || arm64) && !nonative

package opencl

import (
	"unsafe"

	"github.com/orepl/orepl/plugins/opencl/internal/cl"
	"github.com/orepl/orepl/runtime/offload"
)

// checkImage returns an error for a launch that an image's kernel does not admit. It sets the group size that the kernel requires.
func (s *launch) checkImage(o *offload.Launch) error {
	k, align := s.image, int64(s.device.align)
	for i := range o.Args {
		a, p := &o.Args[i], &k.info.Params[i]
		if a.Memory == nil {
			continue
		}
		if a.Offset%align != 0 {
			return s.Located(offload.Errorf(offload.InvalidArgument, "launch", "parameter %s: the view begins at byte %d, and the driver takes multiples of %d", p.Name, a.Offset, align).
				WithHint("pass the whole buffer and an index, or copy the view"))
		}
		if k.typed && p.Type != offload.Opaque && a.Type != offload.Opaque && a.Type != p.Type {
			return s.Located(offload.Errorf(offload.InvalidArgument, "launch", "parameter %s points to elements of type %v, and the argument's are %v", p.Name, p.Type, a.Type).
				WithHint("give the signature with 'buffer' to pass any buffer"))
		}
	}
	if k.info.DynamicShared && s.Shared == 0 {
		return s.Located(offload.Errorf(offload.InvalidArgument, "launch", "the kernel has a parameter in local memory, and the launch states no size of it").
			WithHint("give sharedBytes"))
	}
	fixed, free := k.object.fixed, s.Group == [3]int{}
	switch {
	case fixed != [3]int{} && free:
		s.Group = fixed
	case fixed != [3]int{} && s.Group != fixed:
		return s.Located(offload.Errorf(offload.InvalidSize, "launch", "the kernel requires groups of %v, and the launch has %v", fixed, s.Group).WithHint("leave groupSize out"))
	case free:
		return nil
	}
	for axis, g := range s.Group {
		if s.Size[axis]%g != 0 {
			return s.Located(offload.Errorf(offload.InvalidSize, "launch", "groups of %v do not divide the size %v, and the kernel is not checked", s.Group, s.Size).
				WithHint("round the size up in the script, and let the kernel compare its index; or leave groupSize out"))
		}
	}
	if most := k.info.GroupItems; most > 0 {
		return s.CheckGroup(most)
	}
	return nil
}

// enqueueImage enqueues a launch of an image's kernel.
func (s *launch) enqueueImage(l *stream) (cl.Event, error) {
	d, o := s.device, s.image.object
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.handle == 0 {
		return 0, s.Located(offload.Errorf(offload.Closed, "launch", "the program was unloaded"))
	}
	var parts []cl.Mem
	defer func() {
		for _, m := range parts { // the driver retains them until the launch ends
			_ = d.lib.ReleaseBuffer(m)
		}
	}()
	next := 0
	for index := range o.params {
		var err error
		if a := &o.params[index]; a.described && a.Space == cl.SpaceLocal {
			err = d.lib.SetArg(o.handle, index, s.Shared, nil)
		} else {
			var part cl.Mem
			if part, err = s.setImageArg(o.handle, index, next); part != 0 {
				parts = append(parts, part)
			}
			next++
		}
		if err != nil {
			return 0, s.Located(d.failure("launch", "", err))
		}
	}
	global, group := [3]uintptr{}, [3]uintptr{}
	for axis := range global {
		global[axis], group[axis] = uintptr(s.Size[axis]), uintptr(s.Group[axis])
	}
	local := &group
	if s.Group == [3]int{} {
		local = nil
	}
	e, err := d.lib.Launch(l.queue, o.handle, &global, local)
	if err != nil {
		return 0, s.Located(d.failure("launch", "", err))
	}
	return e, nil
}

// setImageArg sets parameter index of the kernel object to argument i of the launch. For a view it returns the sub-buffer that it
// created, else 0.
func (s *launch) setImageArg(k cl.Kernel, index, i int) (part cl.Mem, err error) {
	a, p, lib := &s.args[i], &s.image.info.Params[i], s.device.lib
	switch {
	case a.memory != nil:
		m := a.memory.handle
		if a.offset > 0 {
			if part, err = lib.SubBuffer(m, int64(a.offset), a.memory.size-int64(a.offset)); err != nil {
				return 0, err
			}
			m = part
		}
		return part, lib.SetArg(k, index, int(unsafe.Sizeof(m)), unsafe.Pointer(&m))
	case p.Aggregate():
		return 0, lib.SetArg(k, index, len(a.data), unsafe.Pointer(unsafe.SliceData(a.data)))
	case p.Type == offload.Bool:
		return 0, lib.SetArg(k, index, 1, unsafe.Pointer(&a.bits))
	}
	return 0, lib.SetArg(k, index, p.Type.Size(), unsafe.Pointer(&a.bits))
}
