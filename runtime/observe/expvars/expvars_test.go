package expvars

import (
	"expvar"
	"testing"
	"time"

	"github.com/orepl/orepl/runtime/observe"
	"github.com/orepl/orepl/runtime/offload"
)

func TestNew(t *testing.T) {
	hook := New("orepl")
	hook(observe.Span{Kind: observe.Copy, Duration: time.Second, Bytes: 8})
	hook(observe.Span{Kind: observe.Copy, Duration: time.Second / 2, Err: offload.Errorf(offload.OutOfBounds, "copy", "x")})
	const want = `{"copy.bytes": 8, "copy.count": 2, "copy.errors.out-of-bounds": 1, "copy.seconds": 1.5}`
	if got := expvar.Get("orepl").String(); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
