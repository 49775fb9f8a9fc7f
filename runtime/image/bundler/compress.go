package bundler

import (
	"bytes"
	"compress/zlib"
	"crypto/md5"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// magicCompressed begins compressed bundles.
var magicCompressed = []byte("CCOB")

// The methods of compression.
const (
	methodZlib = 0
	methodZstd = 1
)

// Frame is the header of a compressed bundle.
type Frame struct {
	Version  int    // 1 to 3
	Method   int    // methodZlib or methodZstd
	Size     int    // bytes of the compressed bundle with its header; 0 in version 1, which does not state it
	Inflated uint64 // bytes of the bundle after decompression
	digest   uint64 // that of the bundle after decompression
	head     int    // bytes of the header
}

// IsCompressed reports whether data begins with a compressed bundle.
func IsCompressed(data []byte) bool { return bytes.HasPrefix(data, magicCompressed) }

// ReadFrame reads the header of the compressed bundle at the start of data.
func ReadFrame(data []byte) (Frame, error) {
	le := binary.LittleEndian
	if len(data) < 20 || !IsCompressed(data) {
		return Frame{}, fmt.Errorf("a compressed bundle of %d bytes is truncated", len(data))
	}
	f := Frame{Version: int(le.Uint16(data[4:])), Method: int(le.Uint16(data[6:]))}
	var size uint64
	switch f.Version {
	case 1:
		f.Inflated, f.digest, f.head = uint64(le.Uint32(data[8:])), le.Uint64(data[12:]), 20
	case 2:
		f.head = 24
		if len(data) >= f.head {
			size, f.Inflated, f.digest = uint64(le.Uint32(data[8:])), uint64(le.Uint32(data[12:])), le.Uint64(data[16:])
		}
	case 3:
		f.head = 32
		if len(data) >= f.head {
			size, f.Inflated, f.digest = le.Uint64(data[8:]), le.Uint64(data[16:]), le.Uint64(data[24:])
		}
	default:
		return Frame{}, fmt.Errorf("a compressed bundle of version %d; known are 1 to 3", f.Version)
	}
	if len(data) < f.head {
		return Frame{}, fmt.Errorf("a compressed bundle of %d bytes is truncated", len(data))
	}
	if f.Method != methodZlib && f.Method != methodZstd {
		return Frame{}, fmt.Errorf("compression method %d is unknown; known are zlib (0) and zstd (1)", f.Method)
	}
	if f.Version > 1 {
		if size < uint64(f.head) || size > uint64(len(data)) {
			return Frame{}, fmt.Errorf("a compressed bundle says %d bytes, but has %d", size, len(data))
		}
		f.Size = int(size)
	}
	return f, nil
}

// Inflate returns the decompressed bundle whose frame begins data. It allocates Inflated bytes, which the caller must have checked.
// It returns an error if the bundle's size or digest is not that of the frame.
func (f Frame) Inflate(data []byte) ([]byte, error) {
	if f.Size > 0 {
		data = data[:f.Size]
	}
	out := make([]byte, f.Inflated)
	var r io.Reader
	if f.Method == methodZstd {
		d, err := zstd.NewReader(bytes.NewReader(data[f.head:]), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxMemory(max(f.Inflated, 8<<20)))
		if err != nil {
			return nil, fmt.Errorf("its compression: %w", err)
		}
		defer d.Close()
		r = d
	} else {
		d, err := zlib.NewReader(bytes.NewReader(data[f.head:]))
		if err != nil {
			return nil, fmt.Errorf("its compression: %w", err)
		}
		r = d
	}
	if n, err := io.ReadFull(r, out); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("its header says %d bytes uncompressed, but there are %d", f.Inflated, n)
		}
		return nil, fmt.Errorf("its compression: %w", err)
	}
	if n, _ := io.ReadFull(r, make([]byte, 1)); n > 0 {
		return nil, fmt.Errorf("the stream is longer than %d bytes, which the header says", f.Inflated)
	}
	if digest(out) != f.digest {
		return nil, fmt.Errorf("its hash is %016x, but that of the bytes is %016x", f.digest, digest(out))
	}
	return out, nil
}

// digest returns the first 8 bytes of the MD5 sum, which headers hold.
func digest(data []byte) uint64 {
	sum := md5.Sum(data)
	return binary.LittleEndian.Uint64(sum[:])
}

// Deflate returns a compressed bundle of the frame's version and method. Equal input yields equal bytes.
func (f Frame) Deflate(data []byte) ([]byte, error) {
	var body []byte
	if f.Method == methodZstd {
		w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedBestCompression))
		if err != nil {
			return nil, err
		}
		defer w.Close()
		body = w.EncodeAll(data, nil)
	} else {
		var b bytes.Buffer
		w, err := zlib.NewWriterLevel(&b, zlib.BestCompression)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(data); err != nil {
			return nil, err
		}
		if err := w.Close(); err != nil {
			return nil, err
		}
		body = b.Bytes()
	}
	le := binary.LittleEndian
	out := le.AppendUint16(append([]byte{}, magicCompressed...), uint16(f.Version))
	out = le.AppendUint16(out, uint16(f.Method))
	n := uint64(len(data))
	switch f.Version {
	case 1:
		out = le.AppendUint32(out, uint32(n))
	case 2:
		out = le.AppendUint32(le.AppendUint32(out, uint32(24+len(body))), uint32(n))
	default:
		out = le.AppendUint64(le.AppendUint64(out, uint64(32+len(body))), n)
	}
	return append(le.AppendUint64(out, digest(data)), body...), nil
}

// End returns the position after the bundle that begins data. Version 1 does not state its size: the bundle extends to the next one,
// or to the end.
func (f Frame) End(data []byte) int {
	if f.Size > 0 {
		return f.Size
	}
	end := len(data)
	for _, magic := range [][]byte{magicCompressed, []byte(Magic)} {
		if i := bytes.Index(data[f.head:end], magic); i >= 0 {
			end = f.head + i
		}
	}
	return end
}
