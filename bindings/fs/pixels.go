package fs

import (
	"context"
	"encoding/binary"
	"image"
	"math"
	"reflect"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/offloadjs/buffers"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/internals"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/ir/scalar"
	"github.com/orepl/orepl/runtime/memory"
)

// A pixelSource is a picture to write, with its pixels in host memory or on a device.
type pixelSource struct {
	width, height, channels int
	at                      []byte            // one byte per channel of each pixel; nil for a device buffer
	buffer                  *buffers.Contents // the pending copy of a device buffer, else nil
}

// imageSource parses the argument image. It accepts a buffer of two or three dimensions, or an object with width, height
// and data. The data is a typed array or a buffer. After an error, which the arguments then have, it returns nil.
func imageSource(e *lang.Engine, a *lang.Args) *pixelSource {
	o := a.Object(1, "image")
	if o == nil {
		a.Fail("image", "must be a buffer, or an object with width, height and data")
		return nil
	}
	buffer, err := buffers.Fetch(e, o)
	if err != nil {
		a.Reject(err)
		return nil
	}
	if buffer != nil {
		if len(buffer.Shape) < 2 {
			a.Fail("image", "is a buffer of one dimension; one of [height, width] or [height, width, channels] is needed, or { width, height, data: buffer }")
			return nil
		}
		s := &pixelSource{width: buffer.Shape[1], height: buffer.Shape[0], channels: 1, buffer: buffer}
		if len(buffer.Shape) == 3 {
			s.channels = buffer.Shape[2]
		}
		return s.checked(a, "image", s.width*s.height*s.channels)
	}
	number := func(name string) int {
		if v := o.Get(name); v != nil && goja.IsNumber(v) {
			return int(v.ToInteger())
		}
		return 0
	}
	s := &pixelSource{width: number("width"), height: number("height"), channels: number("channels")}
	if s.buffer, err = buffers.Fetch(e, o.Get("data")); err != nil {
		a.Reject(err)
		return nil
	}
	count := 1
	if s.buffer != nil {
		for _, n := range s.buffer.Shape {
			count *= n
		}
	} else {
		var ok bool
		if s.at, ok = pixelsOf(e, o.Get("data")); !ok {
			a.Fail("image.data", "must be a Uint8Array, Uint8ClampedArray, Float32Array or a buffer")
			return nil
		}
		count = len(s.at)
	}
	return s.checked(a, "image.data", count)
}

// checked returns the source if its number of values matches its dimensions and its element type is supported. Otherwise it
// adds an error to the arguments and returns nil. It computes channels from the number of values if they are 0.
func (s *pixelSource) checked(a *lang.Args, name string, values int) *pixelSource {
	if s.width <= 0 || s.height <= 0 || s.width > maxPixels/s.height {
		a.Fail("image", "must have a width and a height, both positive, with at most %d pixels", maxPixels)
		return nil
	}
	if s.channels == 0 {
		s.channels = values / (s.width * s.height)
	}
	if s.channels != 1 && s.channels != 3 && s.channels != 4 || values != s.width*s.height*s.channels {
		a.Fail(name, "has %d values; %d×%d pixels with 1, 3 or 4 channels need %d, %d or %d",
			values, s.width, s.height, s.width*s.height, 3*s.width*s.height, 4*s.width*s.height)
		return nil
	}
	if s.buffer != nil {
		switch s.buffer.Type {
		case ir.U8, ir.Bool, ir.F16, ir.BF16, ir.F32, ir.F64:
		default:
			a.Fail(name, "is a buffer of %s; pixels are u8 from 0 to 255, floats from 0 to 1, or bool", s.buffer.Type)
			return nil
		}
	}
	return s
}

// pixels returns one byte per channel of each pixel. It waits for the copy of a device buffer.
func (s *pixelSource) pixels(ctx context.Context) ([]byte, error) {
	if s.buffer == nil {
		return s.at, nil
	}
	data, err := s.buffer.Wait(ctx)
	if err != nil {
		return nil, err
	}
	switch s.buffer.Type {
	case ir.U8:
		return data, nil
	case ir.Bool:
		for i := range data {
			data[i] *= 255
		}
		return data, nil
	}
	size := s.buffer.Type.Size()
	out := make([]byte, len(data)/size)
	for i := range out {
		var bits [8]byte
		copy(bits[:], data[i*size:(i+1)*size])
		x := binary.LittleEndian.Uint64(bits[:])
		if s.buffer.Type == ir.F64 {
			out[i] = shade(math.Float64frombits(x))
		} else {
			out[i] = shade(float64(math.Float32frombits(uint32(scalar.Load(s.buffer.Type, x)))))
		}
	}
	return out, nil
}

// shade converts a channel value from [0, 1] to a byte. NaN becomes 0.
func shade(x float64) byte {
	if !(x > 0) {
		return 0
	}
	return uint8(math.Round(255 * min(x, 1)))
}

// explain adds the script position of the buffer's copy to an error of pixels. Without a buffer it returns err unchanged.
func (s *pixelSource) explain(err error) error {
	if s.buffer == nil {
		return err
	}
	return s.buffer.Explain(err)
}

func (s *pixelSource) picture(data []byte) image.Image {
	at := image.Rect(0, 0, s.width, s.height)
	switch s.channels {
	case 1:
		return &image.Gray{Pix: data, Stride: s.width, Rect: at}
	case 4:
		return &image.NRGBA{Pix: data, Stride: 4 * s.width, Rect: at}
	}
	to := image.NewNRGBA(at)
	for i := range s.width * s.height {
		copy(to.Pix[4*i:], data[3*i:3*i+3])
		to.Pix[4*i+3] = 255
	}
	return to
}

// pixelsOf copies a typed array of bytes, or converts a Float32Array of values from 0 to 1 to bytes. It returns false for other
// values.
func pixelsOf(e *lang.Engine, v goja.Value) ([]byte, bool) {
	o, ok := v.(*goja.Object)
	if !ok {
		return nil, false
	}
	if o.ExportType() == reflect.TypeFor[[]float32]() { // type check before Export, which copies plain arrays deeply
		floats := internals.Export(o).([]float32)
		out := make([]byte, len(floats))
		for i, x := range floats {
			out[i] = shade(float64(x))
		}
		return out, true
	}
	values, ok := e.Bytes(v)
	if !ok || o.Get("BYTES_PER_ELEMENT") == nil || o.Get("BYTES_PER_ELEMENT").ToInteger() != 1 {
		return nil, false
	}
	return memory.Clone(values), true
}
