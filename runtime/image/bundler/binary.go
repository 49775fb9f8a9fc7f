package bundler

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

const (
	headerBytes = len(Magic) + 8
	recordBytes = 24 // offset, size and length of the identifier
	maxIDBytes  = 4096
)

// IsBinary reports whether data begins with a binary bundle.
func IsBinary(data []byte) bool { return bytes.HasPrefix(data, []byte(Magic)) }

// Binary is a binary bundle.
type Binary struct {
	Entries []Entry // in the order of the table; their data share memory with the bundle
	Head    int     // bytes of the header and the table
	Size    int     // bytes up to the end of the last entry
}

// ReadBinary reads the binary bundle at the start of data, which more bytes may follow.
func ReadBinary(data []byte) (Binary, error) {
	le := binary.LittleEndian
	if len(data) < headerBytes || !IsBinary(data) {
		return Binary{}, fmt.Errorf("a bundle of %d bytes is truncated", len(data))
	}
	count, at := le.Uint64(data[len(Magic):]), headerBytes
	if count > maxEntries || count > uint64(len(data)/recordBytes) {
		return Binary{}, fmt.Errorf("%d entries in %d bytes", count, len(data))
	}
	b := Binary{Entries: make([]Entry, 0, count)}
	for i := range int(count) {
		if len(data)-at < recordBytes {
			return Binary{}, fmt.Errorf("entry %d: the table is truncated", i)
		}
		offset, size, length := le.Uint64(data[at:]), le.Uint64(data[at+8:]), le.Uint64(data[at+16:])
		at += recordBytes
		if length > maxIDBytes || length > uint64(len(data)-at) {
			return Binary{}, fmt.Errorf("entry %d: an identifier of %d bytes", i, length)
		}
		id := string(data[at : at+int(length)])
		at += int(length)
		if offset > uint64(len(data)) || size > uint64(len(data))-offset {
			return Binary{}, fmt.Errorf("entry %d, %q: %d bytes at %d reach beyond the end, at %d", i, id, size, offset, len(data))
		}
		end := offset + size
		b.Entries = append(b.Entries, Entry{id, data[offset:end:end], offset})
		b.Size = max(b.Size, int(end))
	}
	b.Head = at
	b.Size = max(b.Size, at)
	for i := range b.Entries {
		if e := &b.Entries[i]; len(e.Data) > 0 && e.Offset < uint64(at) {
			return Binary{}, fmt.Errorf("entry %d, %q: its %d bytes at %d overlap the table", i, e.ID, len(e.Data), e.Offset)
		}
	}
	return b, nil
}

// Align returns the alignment in bytes of the entries' data. It is 4096 if all begin at multiples of that, as for HIP, and
// otherwise 1.
func (b *Binary) Align() int {
	const page = 4096
	for _, e := range b.Entries {
		if e.Offset%page != 0 {
			return 1
		}
	}
	return page
}

// WriteBinary returns a binary bundle whose entries' data are aligned to align bytes.
func WriteBinary(entries []Entry, align int) []byte {
	at := headSize(entries)
	placed := make([]Entry, len(entries))
	for i, e := range entries {
		at = (at + align - 1) / align * align
		placed[i] = Entry{e.ID, e.Data, uint64(at)}
		at += len(e.Data)
	}
	out := make([]byte, at)
	PutBinary(out, placed)
	return out
}

// PutBinary writes a binary bundle to out, which must have room, with the data at the entries' offsets.
func PutBinary(out []byte, entries []Entry) {
	le := binary.LittleEndian
	head := le.AppendUint64(append(out[:0], Magic...), uint64(len(entries)))
	for _, e := range entries {
		head = le.AppendUint64(head, e.Offset)
		head = le.AppendUint64(head, uint64(len(e.Data)))
		head = le.AppendUint64(head, uint64(len(e.ID)))
		head = append(head, e.ID...)
		copy(out[e.Offset:], e.Data)
	}
}

// headSize returns the number of bytes of the header and the table.
func headSize(entries []Entry) int {
	n := headerBytes
	for _, e := range entries {
		n += recordBytes + len(e.ID)
	}
	return n
}
