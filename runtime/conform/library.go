package conform

import (
	"context"
	"time"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

var libraryCases = []testCase{
	{"library/unregister", libraryUnregister},
	{"library/in-flight", libraryInFlight},
	{"library/twice", libraryTwice},
	{"library/many", libraryMany},
}

func libraryUnregister(t *T) {
	lib := t.library()
	k, err := lib.Kernel(t.ctx, t.device, "ids")
	t.check(err)
	b := t.buffer(offload.I32, 10)
	q := t.queue()
	call := t.bind(k, config(10), session.Buf(b))
	t.check(q.Launch(call))
	t.check(lib.Unregister(t.ctx))
	t.refused("a second unregister", lib.Unregister(t.ctx), offload.Closed)
	t.refused("a kernel of a library that ended", q.Launch(call), offload.Closed)
	_, err = lib.Kernel(t.ctx, t.device, "ids")
	t.refused("looking up in a library that ended", err, offload.Closed)
	t.check(q.Sync(t.ctx))
	equal(t, "what was launched before", contents[int32](t, b), count(10))
}

// libraryInFlight unregisters a library while kernels run: the call blocks until its context ends.
func libraryInFlight(t *T) {
	lib := t.library()
	k, err := lib.Kernel(t.ctx, t.device, "ids")
	t.check(err)
	b := t.buffer(offload.I32, 10)
	q := t.queue()
	gate := make(chan struct{})
	t.check(q.Host(func() error { <-gate; return nil }))
	t.launch(q, k, config(10), session.Buf(b))
	short, cancel := context.WithTimeout(t.ctx, 20*time.Millisecond)
	defer cancel()
	t.refused("unregister under a kernel", lib.Unregister(short), offload.Timeout)
	close(gate)
	t.check(lib.Unregister(t.ctx))
	t.check(q.Sync(t.ctx))
	equal(t, "what was in flight", contents[int32](t, b), count(10))
}

// libraryTwice registers one image twice: the two libraries are independent.
func libraryTwice(t *T) {
	a, b := t.library(), t.library()
	_, err := a.Kernel(t.ctx, t.device, "ids")
	t.check(err)
	k, err := b.Kernel(t.ctx, t.device, "ids")
	t.check(err)
	t.check(a.Unregister(t.ctx))
	out := t.buffer(offload.I32, 10)
	q := t.queue()
	t.launch(q, k, config(10), session.Buf(out))
	t.check(q.Sync(t.ctx))
	equal(t, "ids", contents[int32](t, out), count(10))
}

func libraryMany(t *T) {
	out := t.buffer(offload.I32, 10)
	q := t.queue()
	for range 50 {
		lib, err := t.session.Register(t.ctx, "many", kernelImage)
		t.check(err)
		k, err := lib.Kernel(t.ctx, t.device, "ids")
		t.check(err)
		t.launch(q, k, config(10), session.Buf(out))
		t.check(lib.Unregister(t.ctx))
	}
	t.check(q.Sync(t.ctx))
}
