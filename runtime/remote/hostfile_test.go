package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/remote/hostfile"
)

// using is a plugin whose kernels are a Go function, which uses the services of its launch. The program warns when it is unloaded.
type using struct {
	offload.Plugin
	kernel func(s offload.Services) error
	newest offload.Services
}

func (u *using) Open(ctx context.Context) (offload.Platform, error) {
	p, err := u.Plugin.Open(ctx)
	return usingPlatform{p, u}, err
}

type usingPlatform struct {
	offload.Platform
	u *using
}

func (p usingPlatform) Devices() []offload.Device {
	return []offload.Device{usingDevice{p.Platform.Devices()[0], p.u}}
}

type usingDevice struct {
	offload.Device
	u *using
}

func (d usingDevice) Load(context.Context, *offload.Image) (offload.Program, error) {
	return usingProgram{u: d.u}, nil
}

func (d usingDevice) NewQueue(o offload.QueueOptions) (offload.Queue, error) {
	q, err := d.Device.NewQueue(o)
	return usingQueue{q, d.u}, err
}

type usingProgram struct {
	offload.Program
	u *using
}

func (p usingProgram) Symbols() []offload.Symbol { return nil }

func (p usingProgram) Kernel(string) (offload.Kernel, error) { return usingKernel{}, nil }

func (p usingProgram) Unload() error {
	if w, ok := p.u.newest.(offload.Warner); ok {
		w.Warn("first")
		w.Warn("second")
	}
	return nil
}

type usingKernel struct{}

func (usingKernel) Info() *offload.KernelInfo {
	return &offload.KernelInfo{Name: "k", AnyService: true}
}

type usingQueue struct {
	offload.Queue
	u *using
}

func (q usingQueue) Launch(l *offload.Launch) error {
	s := l.Services
	q.u.newest = s
	return q.Queue.Host(func() error { return q.u.kernel(s) })
}

// printing is an [offload.Services] without optional ones.
type printing struct{}

func (printing) Print(*offload.Message)                                 {}
func (printing) Call(context.Context, *offload.Request) (uint64, error) { return 0, nil }

// errPolicy is the reason of refusals.
var errPolicy = errors.New("outside of the allowed folder")

// folder is a host whose device code may use the files of a folder. It records warnings.
type folder struct {
	printing
	dir  string
	wrap func(*os.File) offload.File // may be nil

	mu       sync.Mutex
	warnings []string
}

func (f *folder) Warn(text string) {
	time.Sleep(time.Millisecond)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.warnings = append(f.warnings, text)
}

func (f *folder) path(name string) (string, error) {
	if filepath.Base(name) != name {
		return "", &offload.Error{Code: offload.PermissionDenied, Op: "open", Detail: "no " + name, Err: errPolicy}
	}
	return filepath.Join(f.dir, name), nil
}

func (f *folder) OpenFile(name, mode string) (offload.File, error) {
	path, err := f.path(name)
	if err != nil {
		return nil, err
	}
	flags, ok := map[string]int{"r": os.O_RDONLY, "w+": os.O_RDWR | os.O_CREATE | os.O_TRUNC}[mode]
	if !ok {
		return nil, offload.Errorf(offload.InvalidArgument, "open", "mode %s", mode)
	}
	file, err := os.OpenFile(path, flags, 0o600)
	if err != nil || f.wrap == nil {
		return file, err
	}
	return f.wrap(file), nil
}

func (f *folder) RemoveFile(name string) error {
	path, err := f.path(name)
	if err != nil {
		return err
	}
	return os.Remove(path)
}

func (f *folder) RenameFile(from, to string) error {
	old, err := f.path(from)
	if err != nil {
		return err
	}
	path, err := f.path(to)
	if err != nil {
		return err
	}
	return os.Rename(old, path)
}

// usingClient serves a [using] plugin in memory. launch runs its kernel with services and returns the launch's error.
func usingClient(t *testing.T, kernel func(offload.Services) error) (p offload.Platform, program offload.Program, launch func(offload.Services) error) {
	t.Helper()
	here, there := net.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- Serve(context.Background(), there, &using{Plugin: cpu.New(cpu.Options{}), kernel: kernel})
	}()
	p, err := NewPlugin("far", func(context.Context) (io.ReadWriteCloser, error) { return here, nil }).Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.Close() // a test may have closed it
		served(t, done)
	})
	d := p.Devices()[0]
	program, err = d.Load(t.Context(), &offload.Image{Kind: offload.ImageIR, Data: []byte("x")})
	if err != nil {
		t.Fatal(err)
	}
	k, err := program.Kernel("k")
	if err != nil {
		t.Fatal(err)
	}
	q, err := d.NewQueue(offload.QueueOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return p, program, func(s offload.Services) error {
		if err := q.Launch(&offload.Launch{Kernel: k, Size: [3]int{1, 1, 1}, Services: s}); err != nil {
			return err
		}
		return q.Sync(t.Context())
	}
}

// use writes, reads, renames and removes a large file, and returns the first difference.
func use(s offload.FileServices) error {
	data := bytes.Repeat([]byte("pieces "), 3<<20/7+1) // more than two messages
	f, err := s.OpenFile("a", "w+")
	if err != nil {
		return err
	}
	if n, err := f.Write(data); n != len(data) || err != nil {
		return fmt.Errorf("wrote %d bytes: %w", n, err)
	}
	if n, err := f.Write(nil); n != 0 || err != nil {
		return fmt.Errorf("wrote %d bytes of none: %w", n, err)
	}
	if at, err := f.Seek(-int64(len(data)-7), io.SeekCurrent); at != 7 || err != nil {
		return fmt.Errorf("at %d: %w", at, err)
	}
	if _, err := f.Seek(-1, io.SeekStart); err == nil {
		return errors.New("a position before the file")
	}
	back, err := io.ReadAll(f)
	if err != nil || !bytes.Equal(back, data[7:]) {
		return fmt.Errorf("%d bytes came back: %w", len(back), err)
	}
	if n, err := f.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		return fmt.Errorf("%d bytes at the end: %v", n, err)
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := f.Close(); offload.CodeOf(err) != offload.Closed {
		return fmt.Errorf("a second close: %v", err)
	}
	if _, err := f.Read(make([]byte, 1)); offload.CodeOf(err) != offload.Closed {
		return fmt.Errorf("a read after the close: %v", err)
	}
	if err := errors.Join(s.RenameFile("a", "b"), s.RemoveFile("b")); err != nil {
		return err
	}
	if _, err := s.OpenFile("b", "r"); err == nil || offload.CodeOf(err) != "" {
		return fmt.Errorf("a file that is missing: %v", err)
	}
	if _, err := s.OpenFile("b", "q"); offload.CodeOf(err) != offload.InvalidArgument {
		return fmt.Errorf("a mode that is unknown: %v", err)
	}
	return nil
}

// TestHostFiles uses files of the host from device code of a server. Refusals keep their cause.
func TestHostFiles(t *testing.T) {
	var kernel func(s offload.FileServices) error
	var last offload.FileServices
	_, _, launch := usingClient(t, func(s offload.Services) error {
		last = s.(offload.FileServices)
		return kernel(last)
	})
	host := &folder{dir: t.TempDir()}
	kernel = use
	if err := launch(host); err != nil {
		t.Error(err)
	}
	for what, refused := range map[string]func(s offload.FileServices) error{
		"open":   func(s offload.FileServices) error { _, err := s.OpenFile("../x", "r"); return err },
		"remove": func(s offload.FileServices) error { return s.RemoveFile("../x") },
		"rename": func(s offload.FileServices) error { return s.RenameFile("x", "../x") },
	} {
		kernel = refused
		if err := launch(host); offload.CodeOf(err) != offload.PermissionDenied || !errors.Is(err, errPolicy) {
			t.Errorf("%s: %v", what, err)
		}
		if err := launch(printing{}); offload.CodeOf(err) != offload.Unsupported {
			t.Errorf("%s by a launch without files: %v", what, err)
		}
		if err := refused(last); offload.CodeOf(err) != offload.Cancelled {
			t.Errorf("%s after the launch: %v", what, err)
		}
	}
	if left, err := os.ReadDir(host.dir); len(left) > 0 || err != nil {
		t.Errorf("files are left: %v, %v", left, err)
	}
}

// slow is a file whose reads wait until it is closed. It counts them.
type slow struct {
	offload.File
	readers *atomic.Int64
	closed  chan struct{}
	once    sync.Once
}

func (s *slow) Read([]byte) (int, error) {
	s.readers.Add(1)
	defer s.readers.Add(-1)
	<-s.closed
	return 0, os.ErrClosed
}

func (s *slow) Close() error {
	s.once.Do(func() { close(s.closed) })
	return s.File.Close()
}

// TestManyHostFiles uses more files at once than requests may be open.
func TestManyHostFiles(t *testing.T) {
	const n = 3 * hostfile.MaxCalls
	_, _, launch := usingClient(t, func(s offload.Services) error {
		errs := make([]error, n)
		var all sync.WaitGroup
		for i := range n {
			all.Go(func() {
				f, err := s.(offload.FileServices).OpenFile(fmt.Sprint(i), "w+")
				for k := 0; k < 20 && err == nil; k++ {
					_, err = fmt.Fprintf(f, "%d of %d\n", k, i)
				}
				if err == nil {
					err = f.Close()
				}
				errs[i] = err
			})
		}
		all.Wait()
		return errors.Join(errs...)
	})
	host := &folder{dir: t.TempDir()}
	if err := launch(host); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		data, err := os.ReadFile(filepath.Join(host.dir, fmt.Sprint(i)))
		if err != nil || bytes.Count(data, []byte("\n")) != 20 || !bytes.HasSuffix(data, fmt.Appendf(nil, "19 of %d\n", i)) {
			t.Errorf("file %d has %d bytes, %v", i, len(data), err)
		}
	}
}

// TestHostFilesEnd ends the client while reads of device code wait: they fail, as do the calls after them, and the host's files
// are closed.
func TestHostFilesEnd(t *testing.T) {
	var readers, started atomic.Int64
	const n = hostfile.MaxCalls + 5
	errs := make(chan error, 2*n)
	p, _, launch := usingClient(t, func(s offload.Services) error {
		var opened [n]offload.File
		for i := range n { // before the reads, which hold all requests
			var err error
			if opened[i], err = s.(offload.FileServices).OpenFile(fmt.Sprint(i), "w+"); err != nil {
				return err
			}
		}
		var all sync.WaitGroup
		for _, f := range opened {
			all.Go(func() {
				started.Add(1)
				_, err := f.Read(make([]byte, 10))
				errs <- err
				errs <- f.Close()
			})
		}
		all.Wait()
		return nil
	})
	var files []*slow
	host := &folder{dir: t.TempDir(), wrap: func(f *os.File) offload.File {
		files = append(files, &slow{File: f, readers: &readers, closed: make(chan struct{})})
		return files[len(files)-1]
	}}
	launched := make(chan error, 1)
	go func() { launched <- launch(host) }()
	for end := time.Now().Add(time.Minute); (readers.Load() < hostfile.MaxCalls || started.Load() < n) && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(10 * time.Millisecond)
	if got := readers.Load(); got != hostfile.MaxCalls {
		t.Errorf("%d reads at once, want %d", got, hostfile.MaxCalls)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if err := <-launched; offload.CodeOf(err) != offload.DeviceLost {
		t.Errorf("the launch: %v", err)
	}
	for range 2 * n {
		select {
		case err := <-errs:
			if offload.CodeOf(err) != offload.DeviceLost {
				t.Errorf("a call of device code: %v", err)
			}
		case <-time.After(time.Minute):
			t.Fatal("a call of device code hangs")
		}
	}
	for _, f := range files {
		select {
		case <-f.closed:
		case <-time.After(time.Minute):
			t.Fatal("a file of the host stays open")
		}
	}
}

// TestWarnings passes on the warnings of an unloaded program, in order and before Unload returns.
func TestWarnings(t *testing.T) {
	host := &folder{dir: t.TempDir()}
	_, program, launch := usingClient(t, func(s offload.Services) error { return nil })
	if err := launch(host); err != nil {
		t.Fatal(err)
	}
	if err := program.Unload(); err != nil {
		t.Fatal(err)
	}
	host.mu.Lock()
	defer host.mu.Unlock()
	if want := []string{"first", "second"}; !slices.Equal(host.warnings, want) {
		t.Errorf("warned %q, want %q", host.warnings, want)
	}
}
