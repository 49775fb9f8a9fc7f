package image

import (
	"encoding/binary"
	"maps"
	"slices"
	"strings"

	"github.com/orepl/orepl/runtime/offload"
)

// WriteBundle returns a container. Version 1 is one blob per entry, which every reader since LLVM 14 accepts. Versions 2 and 3
// are one blob for all entries. Equal entries yield equal bytes. Another version is an Unsupported error. A NUL in a name or, in
// version 1, in a string is an InvalidArgument error.
func WriteBundle(version int, entries []BundleEntry) ([]byte, error) {
	if version < 1 || version > 3 {
		return nil, offload.Errorf(offload.Unsupported, "write bundle", "version %d is not 1, 2 or 3", version)
	}
	for _, e := range entries {
		for k, v := range e.Strings {
			if strings.IndexByte(k, 0) >= 0 {
				return nil, offload.Errorf(offload.InvalidArgument, "write bundle", "the name of string %q has a NUL", k)
			}
			if version == 1 && strings.IndexByte(v, 0) >= 0 {
				return nil, offload.Errorf(offload.InvalidArgument, "write bundle", "version 1 cannot hold a NUL in string %q", k).
					WithHint("use version 2")
			}
		}
	}
	if version > 1 {
		return writeBlob(uint32(version), entries), nil
	}
	var out []byte
	for i := range entries {
		out = append(out, writeBlob(1, entries[i:i+1])...)
	}
	return out, nil
}

// WriteCompressed returns a container of version 3 whose body is compressed. The result is padded to a multiple of 8, so
// that containers may be concatenated. For Uncompressed it is that of WriteBundle, version 3.
func WriteCompressed(c Compression, entries []BundleEntry) ([]byte, error) {
	plain, err := WriteBundle(3, entries)
	if err != nil || c == Uncompressed {
		return plain, err
	}
	body, err := deflate(c, plain[headerBytes3:])
	if err != nil {
		return nil, offload.Errorf(offload.InvalidArgument, "write bundle", "%v", err)
	}
	out := append(plain[:headerBytes3:headerBytes3], body...)
	binary.LittleEndian.PutUint64(out[8:], uint64(len(out)))
	binary.LittleEndian.PutUint64(out[32:], uint64(len(plain)))
	return append(out, make([]byte, align8(len(out))-len(out))...), nil
}

// writeBlob encodes the tables of a container and its images, each aligned to 8 bytes.
func writeBlob(version uint32, entries []BundleEntry) []byte {
	var offsets []int
	end := 0
	out := writeTables(version, entries, func(start int) []int {
		end = align8(start)
		for _, e := range entries {
			offsets = append(offsets, end)
			end = align8(end + len(e.Data))
		}
		return offsets
	})
	out = slices.Grow(out, end-len(out))
	for i, e := range entries {
		out = append(out, make([]byte, offsets[i]-len(out))...)
		out = append(out, e.Data...)
	}
	out = append(out, make([]byte, max(end, align8(len(out)))-len(out))...)
	setBlobSize(out)
	return out
}

// writeTables encodes header, entries, string entries and string table. places returns the images' offsets, for tables that end
// at offset end. The size field of the header is 0.
func writeTables(version uint32, entries []BundleEntry, places func(end int) []int) []byte {
	le := binary.LittleEndian
	record, header := 24, headerBytes
	switch version {
	case 1:
		record = 16
	case 3:
		header = headerBytes3
	}
	records := header + len(entries)*entryBytes
	tableStart := records
	for _, e := range entries {
		tableStart += len(e.Strings) * record
	}
	var texts []byte
	interned := make(map[string]int)
	intern := func(s string) uint64 {
		if o, ok := interned[s]; ok {
			return uint64(o)
		}
		o := tableStart + len(texts)
		interned[s] = o
		texts = append(append(texts, s...), 0)
		return uint64(o)
	}
	var heads, strs []byte
	for _, e := range entries {
		for _, k := range slices.Sorted(maps.Keys(e.Strings)) {
			v := e.Strings[k]
			strs = le.AppendUint64(strs, intern(k))
			strs = le.AppendUint64(strs, intern(v))
			if version > 1 {
				strs = le.AppendUint64(strs, uint64(len(v)))
			}
		}
	}
	offsets := places(tableStart + len(texts))
	table := records
	for i, e := range entries {
		heads = le.AppendUint16(heads, uint16(e.Kind))
		heads = le.AppendUint16(heads, uint16(e.Producer))
		heads = le.AppendUint32(heads, e.Flags)
		heads = le.AppendUint64(heads, uint64(table))
		heads = le.AppendUint64(heads, uint64(len(e.Strings)))
		heads = le.AppendUint64(heads, uint64(offsets[i]))
		heads = le.AppendUint64(heads, uint64(len(e.Data)))
		table += len(e.Strings) * record
	}
	out := append([]byte(nil), magicOffload...)
	out = le.AppendUint32(out, version)
	out = le.AppendUint64(out, 0)
	out = le.AppendUint64(out, uint64(header))
	if version == 1 {
		out = le.AppendUint64(out, entryBytes)
	} else {
		out = le.AppendUint64(out, uint64(len(entries)))
	}
	if version == 3 {
		out = le.AppendUint64(out, 0) // zero means uncompressed
	}
	return append(append(append(out, heads...), strs...), texts...)
}

// setBlobSize sets the size field of a container to the length of b.
func setBlobSize(b blob) { binary.LittleEndian.PutUint64(b[8:], uint64(len(b))) }

func align8(n int) int { return (n + 7) &^ 7 }
