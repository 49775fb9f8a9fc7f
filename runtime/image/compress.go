package image

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// Compression is the encoding of a version 3 container's body.
type Compression uint8

// The compressions.
const (
	Uncompressed Compression = iota
	Zlib
	Zstd
)

// magicZstd is the magic number of a zstd frame.
var magicZstd = []byte{0x28, 0xB5, 0x2F, 0xFD}

// zstdDecoder returns the shared decoder, which never writes beyond the capacity of its destination.
var zstdDecoder = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderMaxWindow(maxInflated))
})

// inflated returns a container of version 3 with its body decompressed. A header without an uncompressed size has a plain body.
// The declared size is charged to the budget before allocation.
func inflated(b blob, left *budget) (blob, error) {
	if len(b) < headerBytes3 {
		return nil, fmt.Errorf("no header in %d bytes", len(b))
	}
	size := binary.LittleEndian.Uint64(b[32:])
	if size == 0 {
		return b, nil
	}
	if size > uint64(left.inflated) {
		return nil, fmt.Errorf("%d bytes uncompressed; a file of this length may have %d more in all", size, left.inflated)
	}
	left.inflated -= int64(size)
	out := append(make([]byte, 0, headerBytes3+size), b[:headerBytes3]...)
	body := b[headerBytes3:]
	var err error
	if bytes.HasPrefix(body, magicZstd) {
		out, err = inflateZstd(out, body)
	} else {
		out, err = inflateZlib(out, body)
	}
	if err != nil {
		return nil, fmt.Errorf("its compression: %w", err)
	}
	// LLVM's size includes the header; that of other writers does not.
	if n := uint64(len(out)); n != size && n != size+headerBytes3 {
		return nil, fmt.Errorf("its header says %d bytes uncompressed, but there are %d", size, n)
	}
	return out, nil
}

// errTooLong reports a stream that is longer than its header declares.
var errTooLong = errors.New("the stream is longer than the header says")

// inflateZlib appends the decompressed stream to out. A stream that exceeds the capacity of out is errTooLong.
func inflateZlib(out, stream []byte) ([]byte, error) {
	r, err := zlib.NewReader(bytes.NewReader(stream))
	if err != nil {
		return nil, err
	}
	for len(out) < cap(out) {
		n, err := r.Read(out[len(out):cap(out)])
		out = out[:len(out)+n]
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
	}
	// Reading to the end verifies the checksum.
	switch n, err := io.ReadFull(r, make([]byte, 1)); {
	case n > 0:
		return nil, errTooLong
	case err != io.EOF:
		return nil, err
	}
	return out, nil
}

// inflateZstd appends the decompressed frames to out. Frames that exceed the capacity of out are errTooLong.
func inflateZstd(out, stream []byte) ([]byte, error) {
	d, err := zstdDecoder()
	if err != nil {
		return nil, err
	}
	out, err = d.DecodeAll(stream, out)
	if errors.Is(err, zstd.ErrDecoderSizeExceeded) {
		return nil, errTooLong
	}
	return out, err
}

// deflate returns a compressed body of a container. Equal input yields equal bytes.
func deflate(c Compression, body []byte) ([]byte, error) {
	switch c {
	case Zlib:
		var out bytes.Buffer
		w := zlib.NewWriter(&out)
		if _, err := w.Write(body); err != nil {
			return nil, err
		}
		err := w.Close()
		return out.Bytes(), err
	case Zstd:
		w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedBetterCompression))
		if err != nil {
			return nil, err
		}
		defer w.Close()
		return w.EncodeAll(body, nil), nil
	}
	return nil, fmt.Errorf("compression %d is unknown", c)
}
