package image

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/orepl/orepl/runtime/offload"
)

// Edit is a change of a file that drops images from its containers. Other parts of the file are not read.
type Edit struct {
	Kept, Dropped []*offload.Image // images of containers, in the order of the file
	Size          uint64           // the file's size after the change

	splices []splice
}

// splice replaces the bytes of a file from start up to end, which is excluded, by data.
type splice struct {
	start, end uint64
	data       []byte
}

// Drop plans the removal of the selected images from a bare container, or from containers in an ELF object, archive, shared
// object or executable. In loaded segments, and in sections of HIP and CUDA, the images become zeros, since the program refers
// to their addresses. Elsewhere the file shrinks. A fat binary in a container is one image.
//
// Errors: NotFound if the file has no images or none is selected, InvalidBinary, and Unsupported for files whose images are not
// in containers.
func (r Reader) Drop(label string, file io.ReaderAt, size int64, selects func(*offload.Image) bool) (*Edit, error) {
	in := &input{r: file, size: uint64(size), left: newBudget(uint64(size))}
	return drop(label, in, selects)
}

// Drop does what [Reader.Drop] does, for an opened file. A page fault becomes an error as in [File.Guard].
func (f *File) Drop(label string, selects func(*offload.Image) bool) (e *Edit, err error) {
	err = f.Guard(func() error {
		e, err = drop(label, newInput(f.Data), selects)
		return err
	})
	return e, err
}

func drop(label string, in *input, selects func(*offload.Image) bool) (*Edit, error) {
	e := &editor{selects: selects}
	if err := e.file(label, in); err != nil {
		return nil, located(label, err)
	}
	if !e.contained {
		return nil, unsupported(label, "its images are not in a container, from which one could be dropped").
			WithHint("pack them first: orepl image pack -o app.offload FILE…")
	}
	if len(e.Kept)+len(e.Dropped) == 0 {
		return nil, offload.Errorf(offload.NotFound, "drop", "the file has no images").On("", label)
	}
	if len(e.Dropped) == 0 {
		return nil, offload.Errorf(offload.NotFound, "drop", "no image is selected").On("", label)
	}
	slices.SortFunc(e.splices, func(a, b splice) int { return int(min(max(int64(a.start-b.start), -1), 1)) })
	e.Size = in.size
	at := uint64(0)
	for _, s := range e.splices {
		if s.start < at || s.end < s.start || s.end > in.size {
			return nil, invalid(label, "its tables overlap at byte %d", s.start)
		}
		at = s.end
		e.Size = e.Size - (s.end - s.start) + uint64(len(s.data))
	}
	return &e.Edit, nil
}

// Apply returns the changed bytes of a file in memory.
func (e *Edit) Apply(data []byte) []byte {
	out := make([]byte, 0, e.Size)
	at := uint64(0)
	for _, s := range e.splices {
		out = append(append(out, data[at:s.start]...), s.data...)
		at = s.end
	}
	return append(out, data[at:]...)
}

// editor collects the splices of a file.
type editor struct {
	Edit
	selects   func(*offload.Image) bool
	contained bool // the file has a container
	number    int  // images in the current file
}

// file plans the change of a file of any kind.
func (e *editor) file(label string, in *input) error {
	switch {
	case in.has(magicArchive) || in.has(magicThin):
		return e.archive(label, in)
	case isHostFile(in):
		o, err := openObject(in)
		if err != nil {
			return err
		}
		return e.object(label, o)
	case isBundled(in):
		e.contained = true
		return e.bundleFile(label, in)
	case in.has(magicOffload):
		data, err := in.all()
		if err != nil {
			return err
		}
		p, err := e.containers(label, data, in.left)
		if err != nil || !p.changed {
			return err
		}
		out, err := p.shrunk()
		if err != nil {
			return err
		}
		if len(out) == 0 {
			out = writeBlob(2, nil)
		}
		e.splices = append(e.splices, splice{0, in.size, out})
	}
	return nil
}

// pruned is a sequence of concatenated containers from which images are dropped.
type pruned struct {
	data    []byte
	blobs   []prunedBlob
	changed bool
}

// prunedBlob is a container with its remaining images.
type prunedBlob struct {
	start, end int // offsets in the data
	compressed Compression
	version    int
	all        int // number of images before the change
	entries    []BundleEntry
}

// containers chooses the images to drop from concatenated containers, and returns the containers.
func (e *editor) containers(label string, data []byte, left *budget) (*pruned, error) {
	p := &pruned{data: data}
	err := eachContainer(data, left, func(start, end int, entries []BundleEntry) {
		e.contained = true
		b := prunedBlob{start: start, end: end, all: len(entries), version: int(data[start+4])}
		b.compressed = compressionOf(data[start:end])
		for i := range entries {
			img := entries[i].image(fmt.Sprintf("%s[%d]", label, e.number))
			e.number++
			if e.selects(img) {
				e.Dropped = append(e.Dropped, img)
				p.changed = true
				continue
			}
			e.Kept = append(e.Kept, img)
			b.entries = append(b.entries, entries[i])
		}
		p.blobs = append(p.blobs, b)
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// compressionOf returns the encoding of a container's body.
func compressionOf(b blob) Compression {
	if b[4] != 3 || len(b) < headerBytes3 || allZero(b[32:headerBytes3]) {
		return Uncompressed
	}
	if bytes.HasPrefix(b[headerBytes3:], magicZstd) {
		return Zstd
	}
	return Zlib
}

// shrunk returns the containers without the dropped images; containers without dropped images keep their bytes.
func (p *pruned) shrunk() ([]byte, error) {
	var out []byte
	for i, b := range p.blobs {
		end := len(p.data)
		if i+1 < len(p.blobs) {
			end = p.blobs[i+1].start
		}
		if len(b.entries) == b.all {
			out = append(out, p.data[b.start:end]...)
			continue
		}
		data, err := b.write()
		if err != nil {
			return nil, err
		}
		out = append(out, data...)
	}
	return out, nil
}

// write returns a container with the remaining images, or nil if there are none.
func (b *prunedBlob) write() ([]byte, error) {
	switch {
	case len(b.entries) == 0:
		return nil, nil
	case b.compressed != Uncompressed:
		return WriteCompressed(b.compressed, b.entries)
	}
	return WriteBundle(b.version, b.entries)
}

// inPlace returns the containers without the dropped images, padded to the original size. Images of uncompressed containers
// keep their offsets. A container extends to the next one, so that readers skip dropped bytes. If all images are dropped, the
// result is zeros.
func (p *pruned) inPlace() ([]byte, error) {
	out := make([]byte, len(p.data))
	var kept []prunedBlob
	for _, b := range p.blobs {
		if len(b.entries) > 0 || b.all == 0 {
			kept = append(kept, b)
		}
	}
	if len(p.blobs) == 0 || len(kept) == 0 {
		return out, nil
	}
	first := p.blobs[0].start
	for i, b := range kept {
		start, end := b.start, len(p.data)
		if i == 0 {
			start = first
		}
		if i+1 < len(kept) {
			end = kept[i+1].start
		}
		room := out[start:end:end]
		if start == b.start && len(b.entries) == b.all {
			copy(room, p.data[b.start:b.end])
			if end != b.end {
				setBlobSize(room)
			}
			continue
		}
		if err := p.place(room, start, &b); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// place writes a container to room, the bytes from offset start. The images of an uncompressed container keep their offsets. It returns
// an error if the container needs more room.
func (p *pruned) place(room []byte, start int, b *prunedBlob) error {
	if b.compressed != Uncompressed {
		data, err := b.write()
		if err == nil && len(data) > len(room) {
			err = fmt.Errorf("the container of %d bytes has no room in %d, which the file has for it", len(data), len(room))
		}
		copy(room, data)
		if err == nil && len(data) < len(room) {
			setBlobSize(room)
		}
		return err
	}
	lowest := math.MaxInt
	offsets := make([]int, len(b.entries))
	for i, e := range b.entries {
		if len(e.Data) == 0 {
			continue
		}
		offsets[i] = b.start + int(e.offset) - start
		lowest = min(lowest, offsets[i])
		copy(room[offsets[i]:], e.Data)
	}
	head := writeTables(uint32(b.version), b.entries, func(int) []int { return offsets })
	if len(head) > lowest || len(head) > len(room) {
		return fmt.Errorf("the container's tables of %d bytes have no room before its images", len(head))
	}
	copy(room, head)
	setBlobSize(room)
	return nil
}
