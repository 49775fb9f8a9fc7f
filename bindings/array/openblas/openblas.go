// Package openblas finds the system's OpenBLAS and offers its matrix products as kernels of the CPU device: native functions
// that a launch calls once.
package openblas

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// Variable is the environment variable with the path of the library.
const Variable = "OREPL_OPENBLAS"

// folders are the folders of the system's libraries on Debian, Fedora, Arch and Alpine, and that of local builds.
var folders = []string{"/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/lib", "/opt/OpenBLAS/lib"}

// names are the names of the library with 32-bit indices.
var names = []string{"libopenblas.so.0", "libopenblasp.so.0", "libopenblas.so"}

// Find returns the path of the library: that of [Variable], which it does not check, or of a file in a folder of libraries.
func Find() (string, error) {
	if path := os.Getenv(Variable); path != "" {
		return path, nil
	}
	for _, dir := range append(strings.Split(os.Getenv("LD_LIBRARY_PATH"), ":"), folders...) {
		for _, name := range names {
			path := filepath.Join(dir, name)
			if _, err := os.Stat(path); err == nil && dir != "" {
				return path, nil
			}
		}
	}
	return "", offload.Errorf(offload.NotFound, "matmul", "OpenBLAS is not installed: there is no %s in the folders of libraries", names[0]).
		WithHint("install it (Debian: libopenblas0), set %s to its path, or leave { using } out", Variable)
}

// Library is OpenBLAS in a session. The zero Library loads it at the first use. It is safe for concurrent use.
type Library struct {
	mu      sync.Mutex
	library *session.Library
	kernels map[*session.Device]products
}

// products are the kernels of a device.
type products struct{ f32, f64 *session.Kernel }

// Kernel returns the kernel that multiplies matrices of f32 or f64 on a CPU device of this process; see [Args]. It loads the
// library if necessary.
func (l *Library) Kernel(ctx context.Context, s *session.Session, d *session.Device, t offload.Type) (*session.Kernel, error) {
	if strings.Contains(d.ID(), ":") || d.Info().Type != offload.CPU {
		return nil, offload.Errorf(offload.Unsupported, "matmul", "OpenBLAS computes on the CPU of this process").On(d.ID(), "").
			WithHint("leave { using } out, or copy the matrices to device('cpu')")
	}
	if t != offload.F32 && t != offload.F64 {
		return nil, offload.Errorf(offload.Unsupported, "matmul", "OpenBLAS multiplies matrices of f32 and f64, not of %s", t).On(d.ID(), "").
			WithHint("leave { using } out, or convert the elements: x.map(v => f32(v))")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	k, ok := l.kernels[d]
	if !ok {
		var err error
		if k, err = l.load(ctx, s, d); err != nil {
			return nil, err
		}
	}
	if t == offload.F64 {
		return k.f64, nil
	}
	return k.f32, nil
}

// load loads the library, if that was not done, and makes a device's kernels.
func (l *Library) load(ctx context.Context, s *session.Session, d *session.Device) (k products, err error) {
	if l.library == nil {
		path, err := Find()
		if err != nil {
			return k, err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			e := offload.Errorf(offload.NotFound, "matmul", "OpenBLAS cannot be read").WithHint("install it (Debian: libopenblas0), or set %s to its path", Variable)
			e.Err = err
			return k, e
		}
		if l.library, err = s.RegisterUnlisted(ctx, path, &offload.Image{Kind: offload.ImageELF, Label: path, Target: "x86_64-pc-linux-gnu", Data: data}); err != nil {
			return k, err
		}
	}
	threads, err := l.library.KernelAs(ctx, d, "openblas_set_num_threads", &offload.Signature{Convention: offload.PerLaunch, Params: scalars(offload.I32, "n")})
	if err != nil {
		return k, err
	}
	if k.f32, err = l.library.KernelAs(ctx, d, "cblas_sgemm", signature(offload.F32)); err != nil {
		return k, err
	}
	if k.f64, err = l.library.KernelAs(ctx, d, "cblas_dgemm", signature(offload.F64)); err != nil {
		return k, err
	}
	if err := setThreads(ctx, d, threads); err != nil {
		return k, err
	}
	if l.kernels == nil {
		l.kernels = map[*session.Device]products{}
	}
	l.kernels[d] = k
	return k, nil
}

// setThreads makes the library use as many threads as the device has cores.
func setThreads(ctx context.Context, d *session.Device, threads *session.Kernel) (err error) {
	q, err := d.NewQueue(session.QueueOptions{})
	if err != nil {
		return err
	}
	defer func() {
		if failed := q.Close(ctx); err == nil {
			err = failed
		}
	}()
	c := threads.Unbound()
	if err := c.Rebind(session.Config{Size: []int{1}}, session.Bits(offload.I32, uint64(d.Info().ComputeUnits))); err != nil {
		return err
	}
	if err := q.Launch(c); err != nil {
		return err
	}
	return q.Sync(ctx)
}

func scalars(t offload.Type, names ...string) []offload.Param {
	list := make([]offload.Param, len(names))
	for i, n := range names {
		list[i] = offload.Param{Name: n, Type: t, Elem: t.Size()}
	}
	return list
}

// signature returns the parameters of cblas_?gemm.
func signature(t offload.Type) *offload.Signature {
	matrix := func(name string, writes bool) offload.Param {
		return offload.Param{Name: name, Buffer: true, Type: t, Elem: t.Size(), Rank: 0, Reads: !writes, Writes: writes}
	}
	params := scalars(offload.I32, "order", "transposeA", "transposeB", "m", "n", "k")
	params = append(append(params, scalars(t, "alpha")...), matrix("a", false))
	params = append(append(params, scalars(offload.I32, "lda")...), matrix("b", false))
	params = append(append(params, scalars(offload.I32, "ldb")...), scalars(t, "beta")...)
	return &offload.Signature{Convention: offload.PerLaunch, Params: append(append(params, matrix("c", true)), scalars(offload.I32, "ldc")...)}
}

// The constants of CBLAS.
const (
	rowMajor    = 101
	noTranspose = 111
)

// Args returns the arguments of a kernel for the product of an m × k and a k × n matrix in row-major order.
func Args(t offload.Type, m, n, k int, a, b, c *session.Buffer) []session.Arg {
	number := func(n int) session.Arg { return session.Bits(offload.I32, uint64(uint32(n))) }
	one := session.Bits(offload.F32, 0x3f800000)
	if t == offload.F64 {
		one = session.Bits(offload.F64, 0x3ff0000000000000)
	}
	return []session.Arg{number(rowMajor), number(noTranspose), number(noTranspose), number(m), number(n), number(k), one,
		session.Buf(a), number(k), session.Buf(b), number(n), session.Bits(t, 0), session.Buf(c), number(n)}
}

// Panel returns the number of rows of one call for a product of an m × k and a k × n matrix. A call cannot be interrupted
// safely, and takes a fraction of a second.
func Panel(m, n, k int) int {
	const most, least = 1 << 33, 64 // operations, rows
	rows := max(most/max(2*n*k, 1), least)
	calls := (m + rows - 1) / rows
	return (m + calls - 1) / calls
}
