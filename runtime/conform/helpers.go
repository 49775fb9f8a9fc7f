package conform

import (
	_ "embed"
	"math/rand/v2"
	"slices"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

//go:embed testdata/kernels.irb
var kernelImage []byte

//go:embed testdata/kernels.js
var kernelSource string

// testCase is one case of the suite.
type testCase struct {
	name string
	run  func(*T)
}

// cases returns all cases, the simplest first.
func cases() []testCase {
	return slices.Concat(memoryCases, contractCases, copyCases, imageCases, launchCases, typeCases, queueCases, eventCases, faultCases, libraryCases, threadCases)
}

// library registers the suite's kernels until the case ends.
func (t *T) library() *session.Library {
	lib, err := t.session.Register(t.ctx, "conform", kernelImage)
	t.check(err)
	t.cleanup(func() {
		if err := lib.Unregister(t.ctx); offload.CodeOf(err) != offload.Closed {
			t.check(err)
		}
	})
	return lib
}

// kernel returns one of the suite's kernels on the device.
func (t *T) kernel(name string) *session.Kernel {
	k, err := t.library().Kernel(t.ctx, t.device, name)
	t.check(err)
	return k
}

// queue returns a queue that is closed when the case ends; an unreported failure fails the case.
func (t *T) queue() *session.Queue {
	return t.queueWith(session.QueueOptions{})
}

func (t *T) queueWith(opts session.QueueOptions) *session.Queue {
	q, err := t.device.NewQueue(opts)
	t.check(err)
	t.cleanup(func() {
		if err := q.Close(t.ctx); offload.CodeOf(err) != offload.Closed {
			t.check(err)
		}
	})
	return q
}

// buffer returns a buffer that is freed when the case ends.
func (t *T) buffer(typ offload.Type, dims ...int) *session.Buffer {
	return t.bufferWith(session.BufferOptions{Type: typ, Dims: dims})
}

func (t *T) bufferWith(opts session.BufferOptions) *session.Buffer {
	b, err := t.device.NewBuffer(opts)
	t.check(err)
	t.cleanup(func() { t.free(b) })
	return b
}

// free frees a buffer unless the case has freed it.
func (t *T) free(b *session.Buffer) {
	if err := b.Free(); offload.CodeOf(err) != offload.Closed {
		t.check(err)
	}
}

// bufferOf returns a buffer that holds values.
func bufferOf[E session.Scalar](t *T, values ...E) *session.Buffer {
	b, err := session.BufferOf(t.ctx, t.device, "", values)
	t.check(err)
	t.cleanup(func() { t.free(b) })
	return b
}

// contents returns a buffer's contents, read on the device's default queue.
func contents[E session.Scalar](t *T, b *session.Buffer) []E {
	values, err := session.Read[E](t.ctx, b, 0, -1)
	t.check(err)
	return values
}

// launch binds and launches a kernel.
func (t *T) launch(q *session.Queue, k *session.Kernel, cfg session.Config, args ...session.Arg) {
	t.check(q.Launch(t.bind(k, cfg, args...)))
}

func (t *T) bind(k *session.Kernel, cfg session.Config, args ...session.Arg) *session.Call {
	call, err := k.Bind(cfg, args...)
	t.check(err)
	return call
}

// run launches a kernel on the default queue and waits for it.
func (t *T) run(name string, size []int, args ...session.Arg) {
	q := t.defaultQueue()
	t.launch(q, t.kernel(name), session.Config{Size: size}, args...)
	t.check(q.Sync(t.ctx))
}

func (t *T) defaultQueue() *session.Queue {
	q, err := t.device.Queue()
	t.check(err)
	return q
}

// equal reports the first difference between two slices.
func equal[E comparable](t *T, what string, got, want []E) {
	if len(got) != len(want) {
		t.Errorf("%s%s: %d elements, want %d", where(), what, len(got), len(want))
		return
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("%s%s: element %d is %v, want %v", where(), what, i, got[i], want[i])
			return
		}
	}
}

func sized(n ...int) []int { return n }

func config(size ...int) session.Config { return session.Config{Size: size} }

// random returns a source of random numbers with a fixed seed.
func random() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

func randomBytes(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(b) // Read never fails
	return b
}
