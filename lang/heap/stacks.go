package heap

import (
	"compress/gzip"
	"encoding/binary"
	"errors"
	"io"
)

// sample describes the allocations with one stack.
type sample struct {
	held  uint64     // bytes in use
	stack [][]string // the names of functions, by frame, innermost first; several if calls are inlined
}

var errProfile = errors.New("the heap profile is not a protocol buffer")

// samplesOf decodes a heap profile, a gzip stream of the message Profile of google/pprof. Package profile of that module does the
// same, but compiles patterns for other formats whenever a program starts.
func samplesOf(profile io.Reader) ([]sample, error) {
	r, err := gzip.NewReader(profile)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	var list []sample
	var names []string
	var stacks [][]uint64              // the locations of each sample
	functions := map[uint64]uint64{}   // the index of a name, by function
	locations := map[uint64][]uint64{} // functions, by location
	ok := fields(text, func(field, _ uint64, part []byte) {
		switch field {
		case 2: // a sample
			var s sample
			var stack []uint64
			fields(part, func(field, n uint64, part []byte) {
				switch each := numbersOf(n, part); field {
				case 1:
					stack = append(stack, each...)
				case 2: // the last value is the bytes in use
					s.held = uint64(max(int64(each[len(each)-1]), 0))
				}
			})
			list, stacks = append(list, s), append(stacks, stack)
		case 4: // a location
			var id uint64
			var lines []uint64
			fields(part, func(field, n uint64, part []byte) {
				switch field {
				case 1:
					id = n
				case 4:
					fields(part, func(field, n uint64, _ []byte) {
						if field == 1 {
							lines = append(lines, n)
						}
					})
				}
			})
			locations[id] = lines
		case 5: // a function
			var id, name uint64
			fields(part, func(field, n uint64, _ []byte) {
				switch field {
				case 1:
					id = n
				case 2:
					name = n
				}
			})
			functions[id] = name
		case 6:
			names = append(names, string(part))
		}
	})
	if !ok {
		return nil, errProfile
	}
	for i, stack := range stacks {
		for _, at := range stack {
			var frame []string
			for _, f := range locations[at] {
				name := ""
				if n := functions[f]; n < uint64(len(names)) {
					name = names[n]
				}
				frame = append(frame, name)
			}
			list[i].stack = append(list[i].stack, frame)
		}
	}
	return list, nil
}

// fields calls each with the fields of a message: their numbers, and integers or bytes. It reports whether the message is well formed.
func fields(text []byte, each func(field, n uint64, part []byte)) bool {
	for len(text) > 0 {
		key, size := binary.Uvarint(text)
		if size <= 0 {
			return false
		}
		text = text[size:]
		n, size := binary.Uvarint(text)
		if size <= 0 {
			return false
		}
		text = text[size:]
		switch key & 7 {
		case 0:
			each(key>>3, n, nil)
		case 2:
			if n > uint64(len(text)) {
				return false
			}
			each(key>>3, 0, text[:n:n])
			text = text[n:]
		default: // the message has integers and bytes only
			return false
		}
	}
	return true
}

// numbersOf returns the integers of a repeated field: those encoded in packed, or only n if packed is nil. It stops at a malformed
// integer. The result has at least one element: a 0 if packed has no integer.
func numbersOf(n uint64, packed []byte) []uint64 {
	if packed == nil {
		return []uint64{n}
	}
	var list []uint64
	for len(packed) > 0 {
		n, size := binary.Uvarint(packed)
		if size <= 0 {
			break
		}
		list, packed = append(list, n), packed[size:]
	}
	return append(list, make([]uint64, max(1-len(list), 0))...)
}
