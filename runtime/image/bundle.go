package image

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// BundleEntry is an image in LLVM's offload container.
type BundleEntry struct {
	Kind     BundleKind
	Producer Producer
	Flags    uint32
	Strings  map[string]string // includes "triple" and "arch"
	Data     []byte

	offset uint64 // offset of the data in the source container
}

// BundleKind is the image kind that a container declares.
type BundleKind uint16

// The image kinds of the container.
const (
	BundleNone BundleKind = iota
	BundleObject
	BundleBitcode
	BundleCubin
	BundleFatbin
	BundlePTX
	BundleSPIRV
)

// Producer is a set of source languages of an image.
type Producer uint16

// The producers.
const (
	OpenMP Producer = 1 << iota
	CUDA
	HIP
	SYCL
)

// HIPBefore20 denotes HIP in containers of LLVM up to 19, which encode one producer as a number instead of a set.
const HIPBefore20 Producer = 3

var producerNames = []string{"openmp", "cuda", "hip", "sycl"}

// String returns the languages' names joined by "+". Bits without a name follow as a hexadecimal number. No producer is "", and
// HIPBefore20 is "hip".
func (p Producer) String() string {
	if p == HIPBefore20 {
		return "hip"
	}
	var names []string
	for i, name := range producerNames {
		if p&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	if rest := p &^ (1<<len(producerNames) - 1); rest != 0 {
		names = append(names, fmt.Sprintf("0x%x", uint16(rest)))
	}
	return strings.Join(names, "+")
}

// ParseProducer returns the producer with a name: openmp, cuda, hip, sycl, or the empty string for none. It returns false for other
// names.
func ParseProducer(name string) (Producer, bool) {
	i := slices.Index(producerNames, name)
	if i < 0 {
		return 0, name == ""
	}
	return 1 << i, true
}

const (
	headerBytes   = 32      // size of the header in versions 1 and 2
	headerBytes3  = 40      // size of the header in version 3
	entryBytes    = 40      // size of an entry in the table of images
	maxEntryCount = 1 << 16 // maximum number of images of a file

	// These bounds limit the memory to which one file may expand.
	maxInflated     = 1 << 30
	inflatedRatio   = 64
	inflatedAlways  = 16 << 20
	maxStringCount  = 1 << 16
	maxStringLength = 64 << 10
	maxStringBytes  = 1 << 20
)

// budget is the remaining memory that a file's containers and strings may use. Entries may share a string and zeros compress
// well, so the file's length bounds neither.
type budget struct {
	inflated    int64
	strings     int
	stringBytes int
	images      int
	read        uint64 // bytes read of tables and sections, which may overlap
}

func newBudget(size uint64) *budget {
	return &budget{
		inflated:    int64(min(maxInflated, inflatedRatio*min(size, maxInflated)+inflatedAlways)),
		strings:     maxStringCount,
		stringBytes: maxStringBytes + int(min(size, maxInflated)),
		images:      maxEntryCount,
		read:        readRatio*min(size, 1<<60) + extraBytes,
	}
}

// text returns b as a string and charges its length to the budget. It returns an error if b is longer than maxStringLength, or the
// budget is used up.
func (left *budget) text(b []byte) (string, error) {
	if len(b) > maxStringLength {
		return "", fmt.Errorf("a string of %d bytes; the longest allowed has %d", len(b), maxStringLength)
	}
	if left.stringBytes -= len(b); left.stringBytes < 0 {
		return "", fmt.Errorf("its strings have more bytes than the file, by %d", maxStringBytes)
	}
	return string(b), nil
}

// ReadBundle reads LLVM's offload container, versions 1 to 3: one blob or several concatenated ones. The entries of
// uncompressed containers share memory with data. Damaged data, and data of zeros alone, is an InvalidBinary error. Empty data has no
// entries.
func ReadBundle(label string, data []byte) ([]BundleEntry, error) {
	list, err := readContainers(data, newBudget(uint64(len(data))))
	if err == nil && len(list) == 0 && len(bytes.Trim(data, "\x00")) == 0 && len(data) > 0 { // only zeros: no container
		err = errNoContainer
	}
	if err != nil {
		return nil, invalid(label, "%v", err)
	}
	return list, nil
}

var errNoContainer = errors.New("there is no offload container")

// readContainers reads concatenated containers and skips zeros between them.
func readContainers(data []byte, left *budget) ([]BundleEntry, error) {
	var list []BundleEntry
	err := eachContainer(data, left, func(_, _ int, entries []BundleEntry) { list = append(list, entries...) })
	if err != nil {
		return nil, err
	}
	return list, nil
}

// eachContainer calls f for each of the concatenated containers, with its range of bytes and its entries. It skips zeros between
// them.
func eachContainer(data []byte, left *budget, f func(start, end int, entries []BundleEntry)) error {
	for start := 0; start < len(data); {
		if data[start] == 0 {
			start++
			continue
		}
		entries, size, err := readBlob(data[start:], left)
		if err != nil {
			return fmt.Errorf("offload container at byte %d: %w", start, err)
		}
		if left.images -= len(entries); left.images < 0 {
			return fmt.Errorf("more than %d images", maxEntryCount)
		}
		f(start, start+size, entries)
		start += size
	}
	return nil
}

// blob is a container; offsets count from its start.
type blob []byte

func (b blob) slice(offset, size uint64) ([]byte, error) {
	n := uint64(len(b))
	if offset > n || size > n-offset {
		return nil, fmt.Errorf("%d bytes at %d reach beyond the end, at %d", size, offset, n)
	}
	return b[offset : offset+size : offset+size], nil
}

// text returns the string of size bytes at offset, or up to a NUL if size is negative.
func (b blob) text(offset uint64, size int64, left *budget) (string, error) {
	if size >= 0 {
		s, err := b.slice(offset, uint64(size))
		if err != nil {
			return "", err
		}
		return left.text(s)
	}
	if _, err := b.slice(offset, 0); err != nil {
		return "", err
	}
	rest := b[offset:]
	i := bytes.IndexByte(rest, 0)
	if i < 0 {
		return "", fmt.Errorf("the string at %d has no end", offset)
	}
	return left.text(rest[:i])
}

func readBlob(data []byte, left *budget) (entries []BundleEntry, size int, err error) {
	if len(data) < headerBytes || !bytes.HasPrefix(data, magicOffload) {
		return nil, 0, fmt.Errorf("no header in %d bytes", len(data))
	}
	le := binary.LittleEndian
	version, total := le.Uint32(data[4:]), le.Uint64(data[8:])
	if version < 1 || version > 3 {
		return nil, 0, fmt.Errorf("version %d is unknown", version)
	}
	if total < headerBytes || total > uint64(len(data)) {
		return nil, 0, fmt.Errorf("it says %d bytes, but there are %d", total, len(data))
	}
	b := blob(data[:total])
	if version == 3 {
		if b, err = inflated(b, left); err != nil {
			return nil, 0, err
		}
	}
	offset, count := le.Uint64(b[16:]), le.Uint64(b[24:])
	if version == 1 {
		if count < entryBytes { // count is the entry's size
			return nil, 0, fmt.Errorf("an entry of %d bytes", count)
		}
		count = 1
	}
	if count > maxEntryCount {
		return nil, 0, fmt.Errorf("%d images are more than %d", count, maxEntryCount)
	}
	table, err := b.slice(offset, count*entryBytes)
	if err != nil {
		return nil, 0, err
	}
	for ; len(table) > 0; table = table[entryBytes:] {
		e, err := readEntry(b, table, version, left)
		if err != nil {
			return nil, 0, fmt.Errorf("image %d: %w", len(entries), err)
		}
		entries = append(entries, e)
	}
	return entries, int(total), nil
}

func readEntry(b blob, head []byte, version uint32, left *budget) (BundleEntry, error) {
	le := binary.LittleEndian
	e := BundleEntry{
		Kind: BundleKind(le.Uint16(head)), Producer: Producer(le.Uint16(head[2:])), Flags: le.Uint32(head[4:]),
		Strings: make(map[string]string),
	}
	record := uint64(24)
	if version == 1 {
		record = 16
	}
	count := le.Uint64(head[16:])
	if count > uint64(left.strings) {
		return e, fmt.Errorf("more than %d strings", maxStringCount)
	}
	left.strings -= int(count)
	table, err := b.slice(le.Uint64(head[8:]), count*record)
	if err != nil {
		return e, err
	}
	for ; len(table) > 0; table = table[record:] {
		key, err := b.text(le.Uint64(table), -1, left)
		if err != nil {
			return e, err
		}
		size := int64(-1)
		if version > 1 {
			if n := le.Uint64(table[16:]); n <= math.MaxInt64 {
				size = int64(n)
			} else {
				return e, fmt.Errorf("a string of %d bytes", n)
			}
		}
		if e.Strings[key], err = b.text(le.Uint64(table[8:]), size, left); err != nil {
			return e, err
		}
	}
	e.offset = le.Uint64(head[24:])
	e.Data, err = b.slice(e.offset, le.Uint64(head[32:]))
	return e, err
}
