package exec

import "unsafe"

// frame is the memory of a gang.
type frame []byte

// frame returns the frame of gang i.
func (w *Worker) frame(i int) frame {
	size := w.v.Code.Frame
	return frame(w.frames[i*size : (i+1)*size])
}

func (f frame) put32(at, x int)    { *(*uint32)(unsafe.Pointer(&f[at])) = uint32(x) }
func (f frame) get32(at int) int   { return int(*(*int32)(unsafe.Pointer(&f[at]))) }
func (f frame) get16(at int) int   { return int(*(*uint16)(unsafe.Pointer(&f[at]))) }
func (f frame) at(at int) *uint64  { return (*uint64)(unsafe.Pointer(&f[at])) }
func (f frame) at4(at int) *uint32 { return (*uint32)(unsafe.Pointer(&f[at])) }
