package image

import (
	"encoding/binary"
	"fmt"

	"github.com/pierrec/lz4/v4"

	"github.com/orepl/orepl/runtime/offload"
)

const (
	fatbinHeader      = 16
	fatbinEntryHeader = 32 // bytes of the fields that uncompressed entries use

	fatbinPTX   = 1
	fatbinCubin = 2

	fatbinLZ4        = 0x2000
	fatbinZstd       = 0x8000
	fatbinFlags      = 40 // the offset of the entry's flags
	fatbinCompressed = fatbinLZ4 | fatbinZstd
)

// fatbinBody returns the entries of the fat binary at the start of data, and its size including the header.
func fatbinBody(data []byte) (body []byte, size uint64, err error) {
	n := uint64(len(data))
	if n < fatbinHeader {
		return nil, 0, fmt.Errorf("a fat binary of %d bytes is truncated", n)
	}
	header, length := uint64(binary.LittleEndian.Uint16(data[6:])), binary.LittleEndian.Uint64(data[8:])
	if header < fatbinHeader || header > n || length > n-header {
		return nil, 0, fmt.Errorf("a fat binary says %d+%d bytes, but has %d", header, length, n)
	}
	return data[header : header+length], header + length, nil
}

// identifyFatbin sets the kind and target of a fat binary. It returns an error if the sizes in the header do not fit the bytes.
func identifyFatbin(img *offload.Image) error {
	if _, _, err := fatbinBody(img.Data); err != nil {
		return invalid(img.Label, "%v", err)
	}
	img.Kind, img.Target = offload.ImageFatbin, "nvptx64-nvidia-cuda"
	return nil
}

// splitFatbin returns the images of a CUDA fat binary: PTX texts and cubins. Compressed entries are decompressed; those of
// other kinds become unusable images. Each entry has a header with these fields:
//
//	0 kind, 2 bytes     4 header size, 4 bytes     8 size, 8 bytes     16 compressed size, 4 bytes
//	28 architecture, 4 bytes     40 flags, 8 bytes     56 uncompressed size, 8 bytes
func splitFatbin(label string, data []byte, left *budget) ([]*offload.Image, error) {
	body, size, err := fatbinBody(data)
	if err != nil {
		return nil, err
	}
	if rest := data[size:]; !allZero(rest) {
		return nil, fmt.Errorf("%d bytes follow the fat binary", len(rest))
	}
	entries, err := fatbinEntries(body, left)
	if err != nil {
		return nil, err
	}
	if len(entries) == 0 {
		return nil, fmt.Errorf("the fat binary has no entries")
	}
	var list []*offload.Image
	for i := range entries {
		list = append(list, entries[i].image(fmt.Sprintf("%s[%d]", label, i), left))
	}
	return list, nil
}

// fatbinEntry is an entry of a fat binary. Its slices share memory.
type fatbinEntry struct {
	bytes, head, data []byte
}

// fatbinEntries returns the entries of a fat binary's body. Zeros after them are padding.
func fatbinEntries(body []byte, left *budget) ([]fatbinEntry, error) {
	le := binary.LittleEndian
	var list []fatbinEntry
	for at := uint64(0); at < uint64(len(body)); {
		rest := body[at:]
		if allZero(rest[:min(len(rest), fatbinEntryHeader)]) && allZero(rest) {
			break
		}
		if len(rest) < fatbinEntryHeader {
			return nil, fmt.Errorf("fat binary entry at byte %d: %d bytes are truncated", at, len(rest))
		}
		header, length := uint64(le.Uint32(rest[4:])), le.Uint64(rest[8:])
		if header < fatbinEntryHeader || header > uint64(len(rest)) || length > uint64(len(rest))-header {
			return nil, fmt.Errorf("fat binary entry at byte %d: it says %d+%d bytes, but has %d", at, header, length, len(rest))
		}
		if left.images--; left.images < 0 {
			return nil, fmt.Errorf("more than %d images", maxEntryCount)
		}
		end := header + length
		list = append(list, fatbinEntry{rest[:end:end], rest[:header], rest[header:end:end]})
		at += end
	}
	return list, nil
}

// image returns the entry as an image.
func (e *fatbinEntry) image(label string, left *budget) *offload.Image {
	return fatbinImage(label, e.head, e.data, left)
}

// fatbinImage returns an entry of a fat binary as an image. The architecture in the bytes overrides that in the header. Errors are in
// the image's Unusable.
func fatbinImage(label string, head, data []byte, left *budget) *offload.Image {
	le := binary.LittleEndian
	kind, arch := le.Uint16(head), fmt.Sprintf("sm_%d", le.Uint32(head[28:]))
	var flags uint64
	if len(head) >= fatbinFlags+8 {
		flags = le.Uint64(head[fatbinFlags:])
	}
	img := &offload.Image{Label: label, Data: data, Target: "nvptx64-nvidia-cuda", Arch: arch}
	declared := map[uint16]offload.ImageKind{fatbinPTX: offload.ImagePTX, fatbinCubin: offload.ImageCubin}[kind]
	if declared == "" {
		img.Kind = offload.ImageFatbin
		img.Unusable = invalid(label, "a fat binary entry of kind %d; known are PTX (1) and cubin (2)", kind)
		return img
	}
	img.Kind = declared
	if flags&fatbinCompressed != 0 || le.Uint32(head[16:]) != 0 {
		var err error
		if data, err = inflateFatbin(head, data, flags, left); err != nil {
			img.Unusable = invalid(label, "the %s is compressed: %v", declared, err).
				WithHint("build it without compression: nvcc -Xfatbinary -compress=false, or fatbinary --compress=false")
			return img
		}
		img.Data = data
	}
	found, err := Identify(label, data)
	if err != nil {
		img.Unusable = err
		return img
	}
	if found.Kind != declared {
		found.Conflict = fmt.Sprintf("the fat binary says kind %s, but the bytes are %s", declared, found.Kind)
	} else if found.Arch == "" {
		found.Arch = arch
	} else if !sameSM(found.Arch, arch) {
		found.Conflict = fmt.Sprintf("the fat binary says arch %s, but the bytes are for %s", arch, found.Arch)
	}
	return found
}

// inflateFatbin returns the decompressed data of an entry: an LZ4 block or a zstd frame. The size is charged to the budget before
// allocation.
func inflateFatbin(head, data []byte, flags uint64, left *budget) ([]byte, error) {
	le := binary.LittleEndian
	const sizeAt = 56
	if len(head) < sizeAt+8 {
		return nil, fmt.Errorf("its header of %d bytes has no size", len(head))
	}
	packed, size := uint64(le.Uint32(head[16:])), le.Uint64(head[sizeAt:])
	switch {
	case packed == 0 || packed > uint64(len(data)):
		return nil, fmt.Errorf("it says %d bytes compressed, but has %d", packed, len(data))
	case size > uint64(left.inflated):
		return nil, fmt.Errorf("%d bytes uncompressed; a file of this length may have %d more in all", size, left.inflated)
	}
	left.inflated -= int64(size)
	data = data[:packed]
	if flags&fatbinZstd != 0 {
		out, err := inflateZstd(make([]byte, 0, size), data)
		if err == nil && uint64(len(out)) != size {
			err = fmt.Errorf("its header says %d bytes uncompressed, but there are %d", size, len(out))
		}
		return out, err
	}
	out := make([]byte, size)
	n, err := lz4.UncompressBlock(data, out)
	if err == nil && uint64(n) != size {
		err = fmt.Errorf("its header says %d bytes uncompressed, but there are %d", size, n)
	}
	return out, err
}

// sameSM reports whether two architectures are equal or the first is a variant of the second, as sm_90a is of sm_90.
func sameSM(found, declared string) bool {
	return found == declared || len(found) == len(declared)+1 && found[:len(declared)] == declared && found[len(declared)] >= 'a'
}
