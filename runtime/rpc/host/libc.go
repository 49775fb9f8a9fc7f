package host

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/rpc"
)

// These are operations of LLVM's libc for GPUs, in the range that begins with the letter c.
const (
	opNoop = 'c'<<24 + iota
	opExit
	opWriteOut
	opWriteErr
	opWriteStream
	opWriteLine
	opRead
	opGets
	opOpen
	opClose
	opMalloc
	opFree
	_ // a call of a host function by address, which is refused
	opAbort
	opEOF
	opError
	opClearError
	opSeek
	opTell
	opFlush
	opUngetc
	opPrintf // formats to the output, to the error stream or to a stream; the next three have packed arguments
)

const (
	opRemove = 'c'<<24 + 27 + iota
	opRename
	opSystem
)

const (
	maxText  = 1 << 20 // maximum bytes of a line or a name
	maxWrite = 1 << 26 // maximum bytes of a write or a read
)

// Exit is the failure of a launch whose device code called exit or abort. Code 0 is success; for abort it is 134.
type Exit struct {
	Code  int32
	Abort bool
}

func (e *Exit) Error() string {
	if e.Abort {
		return "the kernel called abort"
	}
	return fmt.Sprintf("the kernel called exit(%d)", e.Code)
}

// builtins registers the services that need no script.
func (h *Host) builtins(handle func(op uint32, name string, serve func(l *Launch, p *rpc.Port) error)) {
	// reply registers a service of one packet, which f modifies.
	reply := func(op uint32, name string, f func(l *Launch, d *rpc.Packet) error) {
		handle(op, name, func(l *Launch, p *rpc.Port) error { return one(l, p, f) })
	}
	handle(OpPrint, "print", h.print)
	handle(OpTrap, "trap", h.trap)
	reply(OpSeed, "seed", func(_ *Launch, d *rpc.Packet) error {
		var b [8]byte
		_, _ = rand.Read(b[:]) // Read never fails
		*d = rpc.Packet{0, binary.LittleEndian.Uint64(b[:])}
		return nil
	})
	reply(OpClock, "clock", func(_ *Launch, d *rpc.Packet) error {
		*d = rpc.Packet{0, uint64(time.Now().UnixNano())}
		return nil
	})
	handle(opNoop, "noop", func(_ *Launch, p *rpc.Port) error { return p.Recv(func(int, *rpc.Packet) {}) })
	handle(opExit, "exit", func(l *Launch, p *rpc.Port) error {
		return ends(p, func(code int32) error { return &Exit{Code: code} })
	})
	handle(opAbort, "abort", func(l *Launch, p *rpc.Port) error {
		return ends(p, func(int32) error { return &Exit{Code: 134, Abort: true} })
	})
	for op, name := range map[uint32]string{opWriteOut: "write_stdout", opWriteErr: "write_stderr", opWriteStream: "write_stream", opWriteLine: "write_line"} {
		handle(op, name, func(l *Launch, p *rpc.Port) error { return h.write(l, p, op) })
	}
	handle(opRead, "read", func(l *Launch, p *rpc.Port) error { return h.read(l, p, false) })
	handle(opGets, "gets", func(l *Launch, p *rpc.Port) error { return h.read(l, p, true) })
	handle(opOpen, "open", h.open)
	handle(opRemove, "remove", func(l *Launch, p *rpc.Port) error {
		return names(l, p, 1, func(s offload.FileServices, n []string) error { return s.RemoveFile(n[0]) })
	})
	handle(opRename, "rename", func(l *Launch, p *rpc.Port) error {
		return names(l, p, 2, func(s offload.FileServices, n []string) error { return s.RenameFile(n[0], n[1]) })
	})
	handle(opSystem, "system", func(l *Launch, p *rpc.Port) error {
		return names(l, p, 1, func(offload.FileServices, []string) error {
			return offload.Errorf(offload.PermissionDenied, "call", "device code may not start programs")
		})
	})
	h.streams(reply)
	reply(opMalloc, "malloc", func(l *Launch, d *rpc.Packet) error {
		*d = rpc.Packet{uint64(h.heap.get(d[0], l.Kernel))}
		return nil
	})
	reply(opFree, "free", func(l *Launch, d *rpc.Packet) error {
		if a := uintptr(d[0]); a != 0 && !h.heap.put(a) {
			return sentence("free of %#x, which malloc did not return or which was freed before", a)
		}
		return nil
	})
	for i := range uint32(6) {
		handle(opPrintf+i, "printf", func(_ *Launch, p *rpc.Port) error {
			if err := p.Recv(func(int, *rpc.Packet) {}); err != nil {
				return err
			}
			return offload.Errorf(offload.Unsupported, "call", "printf of LLVM's libc passes its arguments as GPUs lay them out, which this device does not").
				WithHint("format with snprintf and write the text, or use orepl_rpc_printf")
		})
	}
}

// streams registers the operations on an open file that return a number.
func (h *Host) streams(reply func(op uint32, name string, f func(l *Launch, d *rpc.Packet) error)) {
	failed := ^uint64(0) // EOF, or -1
	on := func(op uint32, name string, number func(d *rpc.Packet) uint64, f func(file *file, d *rpc.Packet) uint64) {
		reply(op, name, func(_ *Launch, d *rpc.Packet) error {
			file := h.files.get(number(d))
			if file == nil {
				d[0] = failed
				return nil
			}
			file.mu.Lock()
			defer file.mu.Unlock()
			d[0] = f(file, d)
			return nil
		})
	}
	first := func(d *rpc.Packet) uint64 { return d[0] }
	truth := func(b bool) uint64 {
		if b {
			return 1
		}
		return 0
	}
	on(opEOF, "feof", first, func(f *file, _ *rpc.Packet) uint64 { return truth(f.ended) })
	on(opError, "ferror", first, func(f *file, _ *rpc.Packet) uint64 { return truth(f.failed) })
	on(opClearError, "clearerr", first, func(f *file, _ *rpc.Packet) uint64 { f.ended, f.failed = false, false; return 0 })
	on(opFlush, "fflush", first, func(f *file, _ *rpc.Packet) uint64 { return truth(f.failed) * failed })
	on(opSeek, "fseek", first, func(f *file, d *rpc.Packet) uint64 {
		offset, whence := int64(d[1]), int(int32(d[2]))
		if whence == io.SeekCurrent {
			offset -= f.kept()
		}
		if _, err := f.Seek(offset, whence); err != nil {
			return failed
		}
		f.back, f.ahead, f.ended = nil, nil, false
		return 0
	})
	on(opTell, "ftell", first, func(f *file, _ *rpc.Packet) uint64 {
		at, err := f.Seek(0, io.SeekCurrent)
		if err != nil {
			return failed
		}
		return uint64(at - f.kept())
	})
	on(opUngetc, "ungetc", func(d *rpc.Packet) uint64 { return d[1] }, func(f *file, d *rpc.Packet) uint64 {
		if len(f.back) >= 64 || int32(d[0]) < 0 {
			return failed
		}
		f.back, f.ended = append(f.back, byte(d[0])), false
		return d[0]
	})
	reply(opClose, "fclose", func(_ *Launch, d *rpc.Packet) error {
		f := h.files.take(d[0])
		if f == nil || f.Close() != nil {
			d[0] = failed
			return nil
		}
		d[0] = 0
		return nil
	})
}

// one serves a call of one packet per lane.
func one(l *Launch, p *rpc.Port, f func(l *Launch, d *rpc.Packet) error) error {
	if p.Count() > 1 {
		return many(l, p, f)
	}
	var d rpc.Packet
	if err := p.Recv(func(_ int, in *rpc.Packet) { d = *in }); err != nil {
		return err
	}
	if err := f(l, &d); err != nil || p.OneWay() {
		return err
	}
	return p.Send(func(_ int, reply *rpc.Packet) { *reply = d })
}

func many(l *Launch, p *rpc.Port, f func(l *Launch, d *rpc.Packet) error) error {
	var lanes [rpc.MaxLanes]rpc.Packet
	if err := p.Recv(func(lane int, d *rpc.Packet) { lanes[lane] = *d }); err != nil {
		return err
	}
	for lane := range p.Lanes() {
		if err := f(l, &lanes[lane]); err != nil {
			return err
		}
	}
	if p.OneWay() {
		return nil
	}
	return p.Send(func(lane int, d *rpc.Packet) { *d = lanes[lane] })
}

// ends serves a call after which the device code ends. It receives the call, sends a reply, receives the exit code, and returns
// the failure for this code.
func ends(p *rpc.Port, failure func(code int32) error) error {
	if err := p.Recv(func(int, *rpc.Packet) {}); err != nil {
		return err
	}
	if err := p.Send(func(int, *rpc.Packet) {}); err != nil {
		return err
	}
	var code int32
	if err := p.Recv(func(_ int, d *rpc.Packet) { code = int32(d[0]) }); err != nil {
		return err
	}
	return failure(code)
}

// text receives a text whose first packet holds an item, a length and 48 bytes. Further packets hold 64 bytes each. A text
// longer than maxText is an error, once it was received.
func text(p *rpc.Port) (item int64, line string, err error) {
	const firstBytes = 48
	var data []byte
	size := uint64(0)
	err = p.Recv(func(_ int, d *rpc.Packet) {
		item, size = int64(d[0]), d[1]
		data = appendWords(make([]byte, 0, min(size, maxText)+8), d[2:], min(size, firstBytes))
	})
	for at := uint64(firstBytes); err == nil && at < size; at += rpc.PacketBytes {
		err = p.Recv(func(_ int, d *rpc.Packet) {
			if at < maxText {
				data = appendWords(data, d[:], min(size-at, rpc.PacketBytes))
			}
		})
	}
	if err == nil && size > maxText {
		err = offload.Errorf(offload.InvalidSize, "call", "device code printed a line of %d bytes; the limit is %d", size, maxText)
	}
	return item, string(data), err
}

func appendWords(to []byte, words []uint64, n uint64) []byte {
	size := uint64(len(to)) + n
	for i := uint64(0); i < n; i += 8 {
		to = binary.LittleEndian.AppendUint64(to, words[i/8])
	}
	return to[:size]
}

// print serves OpPrint.
func (h *Host) print(l *Launch, p *rpc.Port) error {
	item, line, err := text(p)
	if err == nil {
		l.print(item, line)
	}
	return err
}

// trap serves OpTrap: the message of an assertion that failed.
func (h *Host) trap(l *Launch, p *rpc.Port) error {
	item, message, err := text(p)
	if err != nil {
		return err
	}
	return &Failure{l.item(item), offload.Errorf(offload.Assertion, "call", "%s", message)}
}

// write serves the writes of LLVM's libc.
func (h *Host) write(l *Launch, p *rpc.Port, op uint32) error {
	var to [rpc.MaxLanes]uint64
	if op == opWriteStream {
		if err := p.Recv(func(lane int, d *rpc.Packet) { to[lane] = d[0] }); err != nil {
			return err
		}
	}
	var wrote [rpc.MaxLanes]int
	err := p.RecvN(maxWrite, func(lane int, data []byte) {
		out := &l.out
		switch {
		case op == opWriteErr, op == opWriteStream && to[lane]%streamKinds == streamErr:
			out = &l.err
		case op == opWriteStream && to[lane]%streamKinds == streamFile:
			if f := h.files.get(to[lane]); f != nil {
				wrote[lane] = f.write(data)
			}
			return
		}
		wrote[lane] = len(data)
		if op == opWriteLine {
			wrote[lane]++
			data = append(data, '\n')
		}
		out.write(l, data)
	})
	if err != nil || p.OneWay() {
		return err
	}
	return p.Send(func(lane int, d *rpc.Packet) { d[0] = uint64(wrote[lane]) })
}

// read serves fread and fgets. The reply to fread ends with the number of bytes in a packet of its own.
func (h *Host) read(_ *Launch, p *rpc.Port, line bool) error {
	var data [rpc.MaxLanes][]byte
	var wrong error
	err := p.Recv(func(lane int, d *rpc.Packet) {
		n, f := d[0], h.files.get(d[1])
		switch {
		case n > maxWrite:
			wrong = sentence("device code reads %d bytes at once; the limit is %d", n, maxWrite)
		case f == nil || n == 0:
		case line:
			if data[lane] = f.read(int(n)-1, true); len(data[lane]) > 0 {
				data[lane] = append(data[lane], 0)
			}
		default:
			data[lane] = f.read(int(n), false)
		}
	})
	if err = errors.Join(err, wrong); err != nil {
		return err
	}
	if err := p.SendN(func(lane int) []byte { return data[lane] }); err != nil || line {
		return err
	}
	return p.Send(func(lane int, d *rpc.Packet) { d[0] = uint64(len(data[lane])) })
}

// open serves fopen: a stream with the name, then a packet with the mode.
func (h *Host) open(l *Launch, p *rpc.Port) error {
	var paths, modes [rpc.MaxLanes]string
	if err := p.RecvN(maxText, func(lane int, b []byte) { paths[lane] = untilNull(b) }); err != nil {
		return err
	}
	if err := p.Recv(func(lane int, d *rpc.Packet) { modes[lane] = untilNull(appendWords(nil, d[:], rpc.PacketBytes)) }); err != nil {
		return err
	}
	var numbers [rpc.MaxLanes]uint64
	for lane := range p.Lanes() {
		s, ok := l.Services.(offload.FileServices)
		if !ok {
			return offload.Errorf(offload.Unsupported, "call", "the kernel opens the file %q, and the launch offers no files", paths[lane])
		}
		f, err := s.OpenFile(paths[lane], modes[lane])
		switch {
		case refuses(err):
			return err
		case err == nil:
			if numbers[lane] = h.files.add(f); numbers[lane] == 0 {
				_ = f.Close()
			}
		}
	}
	return p.Send(func(lane int, d *rpc.Packet) { d[0] = numbers[lane] })
}

// names serves a call with n names. The reply is 0, or -1 for a failure. An error for which refuses returns true ends the launch.
func names(l *Launch, p *rpc.Port, n int, do func(s offload.FileServices, names []string) error) error {
	var lanes [rpc.MaxLanes][]string
	for range n {
		if err := p.RecvN(maxText, func(lane int, b []byte) { lanes[lane] = append(lanes[lane], untilNull(b)) }); err != nil {
			return err
		}
	}
	s, ok := l.Services.(offload.FileServices)
	if !ok {
		return offload.Errorf(offload.Unsupported, "call", "the kernel uses the file %q, and the launch offers no files", lanes[0])
	}
	var results [rpc.MaxLanes]uint64
	for lane := range p.Lanes() {
		if err := do(s, lanes[lane]); refuses(err) {
			return err
		} else if err != nil {
			results[lane] = ^uint64(0)
		}
	}
	return p.Send(func(lane int, d *rpc.Packet) { d[0] = results[lane] })
}

// refuses reports whether an error of a file operation ends the launch. Other errors are results for the device code.
func refuses(err error) bool {
	switch offload.CodeOf(err) {
	case offload.PermissionDenied, offload.InvalidArgument, offload.Unsupported, offload.Cancelled, offload.DeviceLost:
		return true
	}
	return false
}

func untilNull(b []byte) string {
	s, _, _ := strings.Cut(string(b), "\x00")
	return s
}
