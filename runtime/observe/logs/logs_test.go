package logs

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/orepl/orepl/runtime/observe"
	"github.com/orepl/orepl/runtime/offload"
)

// TestNew checks which spans are logged at which level, and their attributes.
func TestNew(t *testing.T) {
	var out strings.Builder
	hook := New(slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelInfo, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})), Options{Slow: time.Second})
	hook(observe.Span{Kind: observe.Run, Name: "fast.js", Duration: time.Millisecond})
	hook(observe.Span{Kind: observe.Run, Name: "slow.js", Duration: time.Second, Owner: "a"})
	hook(observe.Span{Kind: observe.Run, Name: "refused.js", Duration: time.Minute, Refused: true, Err: offload.Errorf(offload.InvalidArgument, "run", "x")})
	hook(observe.Span{Kind: observe.Launch, Name: "k", Duration: time.Minute})
	hook(observe.Span{Kind: observe.Copy, Name: "write", Bytes: 8, Device: "cpu", Err: offload.Errorf(offload.OutOfBounds, "copy", "x")})
	const want = `level=INFO msg=run name=slow.js duration=1s owner=a
level=ERROR msg=copy name=write duration=0s device=cpu bytes=8 code=out-of-bounds error="copy: x [out-of-bounds]"
`
	if out.String() != want {
		t.Errorf("%s\nwant\n%s", out.String(), want)
	}
}
