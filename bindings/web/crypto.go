package web

import (
	"crypto/rand"
	"encoding/hex"
	"reflect"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings"
)

// maxRandom is the maximum number of bytes per call of getRandomValues, as in browsers.
const maxRandom = 1 << 16

func (w *web) crypto() (goja.Value, error) {
	c := bindings.NewExports(w.Engine)
	c.Add("getRandomValues", func(call goja.FunctionCall) (goja.Value, error) {
		a := w.Args("crypto.getRandomValues", call)
		memory := a.Bytes(0, "array")
		if a.Err() != nil {
			return nil, a.Err()
		}
		if kind := call.Argument(0).(*goja.Object).ExportType(); kind == nil || kind.Kind() != reflect.Slice || kind.Elem().Kind() == reflect.Float32 || kind.Elem().Kind() == reflect.Float64 {
			return nil, w.fail("TypeMismatchError", "write crypto.getRandomValues(new Uint32Array(4))", "crypto.getRandomValues fills typed arrays of integers only")
		}
		if len(memory) > maxRandom {
			return nil, w.fail("QuotaExceededError", "fill it in parts, as in crypto.getRandomValues(bytes.subarray(0, 65536))", "crypto.getRandomValues fills at most %d bytes at once, not %d", maxRandom, len(memory))
		}
		_, err := rand.Read(memory)
		return call.Argument(0), err
	})
	c.Add("randomUUID", func(goja.FunctionCall) (goja.Value, error) {
		var b [16]byte
		if _, err := rand.Read(b[:]); err != nil {
			return nil, err
		}
		b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80 // version 4, variant 1
		h := hex.EncodeToString(b[:])
		return w.VM().ToValue(h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]), nil
	})
	return c.Done()
}
