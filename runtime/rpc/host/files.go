package host

import (
	"bytes"
	"errors"
	"io"
	"sync"

	"github.com/orepl/orepl/runtime/offload"
)

// These are the lowest bits of a stream's number in LLVM's libc for GPUs.
const (
	streamFile = iota
	streamIn
	streamOut
	streamErr
	streamKinds = 4
)

const (
	maxFiles  = 1024    // maximum number of open files of a program
	firstFile = 1 << 32 // greater than every status
)

// file is an open file of device code.
type file struct {
	mu sync.Mutex
	offload.File
	back   []byte // pushed back by ungetc, the next byte last
	ahead  []byte // read from the file and not yet by the device code
	ended  bool
	failed bool
}

// files are the open files of a program, by number.
type files struct {
	mu   sync.Mutex
	list map[uint64]*file
	next uint64
}

// add returns the number of a file, or 0 if too many are open.
func (t *files) add(f offload.File) uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.list) >= maxFiles {
		return 0
	}
	if t.list == nil {
		t.list = map[uint64]*file{}
	}
	t.next++
	number := firstFile + t.next*streamKinds
	t.list[number] = &file{File: f}
	return number
}

func (t *files) get(number uint64) *file {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.list[number]
}

// take removes a file and returns it, or nil if none has the number.
func (t *files) take(number uint64) *file {
	t.mu.Lock()
	defer t.mu.Unlock()
	f := t.list[number]
	delete(t.list, number)
	return f
}

func (t *files) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, f := range t.list {
		_ = f.Close()
	}
	t.list = nil
}

// read reads up to n bytes. If line is set, it stops after a newline. It sets ended at the end of the file, and failed after an
// error.
func (f *file) read(n int, line bool) []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	data := make([]byte, 0, n)
	for len(data) < n && len(f.back) > 0 && !(line && bytes.HasSuffix(data, []byte{'\n'})) {
		data = append(data, f.back[len(f.back)-1])
		f.back = f.back[:len(f.back)-1]
	}
	for len(data) < n && !(line && bytes.HasSuffix(data, []byte{'\n'})) {
		if len(f.ahead) > 0 {
			part := f.ahead[:min(n-len(data), len(f.ahead))]
			if i := bytes.IndexByte(part, '\n'); line && i >= 0 {
				part = part[:i+1]
			}
			data, f.ahead = append(data, part...), f.ahead[len(part):]
			continue
		}
		var err error
		if line {
			f.ahead, err = f.fill(make([]byte, aheadBytes))
		} else {
			var got []byte
			got, err = f.fill(data[len(data):n])
			data = data[:len(data)+len(got)]
		}
		if err != nil && len(f.ahead) == 0 {
			f.ended = f.ended || errors.Is(err, io.EOF)
			f.failed = f.failed || !errors.Is(err, io.EOF)
			break
		}
	}
	return data
}

const aheadBytes = 4096 // bytes read from the file at once for a line

// fill reads into data and returns the filled part.
func (f *file) fill(data []byte) ([]byte, error) {
	n, err := f.Read(data)
	return data[:n], err
}

// kept returns the number of bytes between the positions of the device code and of the file.
func (f *file) kept() int64 { return int64(len(f.back) + len(f.ahead)) }

func (f *file) write(data []byte) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.ahead) > 0 {
		// A file that cannot seek, such as a terminal, has separate positions for reads and writes.
		if _, err := f.Seek(-int64(len(f.ahead)), io.SeekCurrent); err == nil {
			f.ahead = nil
		} else if _, err := f.Seek(0, io.SeekCurrent); err == nil {
			f.failed = true // a write would use the wrong position
			return 0
		}
	}
	n, err := f.Write(data)
	f.failed = f.failed || err != nil
	return n
}

// lines passes text to the launch's Print line by line. An incomplete line waits for its newline.
type lines struct {
	mu   sync.Mutex
	rest []byte
}

const maxRest = 1 << 16 // maximum bytes of an incomplete line; a longer one is printed

func (o *lines) write(l *Launch, data []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for {
		i := bytes.IndexByte(data, '\n')
		if i < 0 {
			break
		}
		l.print(-1, string(append(o.rest, data[:i]...)))
		o.rest, data = o.rest[:0], data[i+1:]
	}
	o.rest = append(o.rest, data...)
	if len(o.rest) > maxRest {
		l.print(-1, string(o.rest))
		o.rest = o.rest[:0]
	}
}

// flush prints an incomplete line.
func (o *lines) flush(l *Launch) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.rest) > 0 {
		l.print(-1, string(o.rest))
		o.rest = nil
	}
}

// print prints a line, if the launch has services.
func (l *Launch) print(item int64, text string) {
	if l.Services == nil {
		return
	}
	m := l.message(item)
	m.Text = text
	l.Services.Print(&m)
}
