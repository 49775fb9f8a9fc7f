package image

import (
	"bytes"
	"encoding/binary"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/orepl/orepl/lang/later"
)

// foreign returns the name of a recognised but unsupported format: PE, COFF or Mach-O. It is empty for others.
func foreign(data []byte) string {
	le := binary.LittleEndian
	if len(data) < 20 {
		return ""
	}
	switch binary.BigEndian.Uint32(data) {
	case 0xFEEDFACE, 0xCEFAEDFE, 0xFEEDFACF, 0xCFFAEDFE:
		return "a Mach-O file"
	case 0xCAFEBABE, 0xCAFEBABF: // Java class files have a version of at least 45 here
		if n := binary.BigEndian.Uint32(data[4:]); n > 0 && n < 45 {
			return "a universal Mach-O file"
		}
	case 0x0000FFFF:
		return "a COFF object"
	}
	if data[0] == 'M' && data[1] == 'Z' && len(data) >= 64 {
		at := uint64(le.Uint32(data[60:]))
		if at+4 <= uint64(len(data)) && string(data[at:at+4]) == "PE\x00\x00" {
			return "a PE file of Windows"
		}
	}
	// A COFF object has no magic number: check the machine, and that its tables lie within the file.
	machines := []uint16{0x014C, 0x8664, 0x01C4, 0xAA64, 0xA641}
	sections, symbols, count := uint64(le.Uint16(data[2:])), uint64(le.Uint32(data[8:])), uint64(le.Uint32(data[12:]))
	if slices.Contains(machines, le.Uint16(data)) && le.Uint16(data[16:]) == 0 && sections > 0 &&
		20+40*sections <= uint64(len(data)) && symbols+18*count <= uint64(len(data)) {
		return "a COFF object"
	}
	return ""
}

// kernelInC matches a kernel of OpenCL C: the qualifier, attributes, void, a name and a parenthesis.
var kernelInC = later.Value[*regexp.Regexp]{Make: func() *regexp.Regexp {
	return regexp.MustCompile(`\b(__kernel|kernel)\s+(__attribute__\s*\(\([^;{}]*\)\)\s*)*void\s+(__attribute__\s*\(\([^;{}]*\)\)\s*)*[A-Za-z_]\w*\s*\(`)
}}

// mostSource is the maximum length of the prefix that is searched for a kernel, in bytes.
const mostSource = 1 << 20

// isOpenCLC reports whether data is a text that defines a kernel in its first mostSource bytes, or whose file has an OpenCL extension.
func isOpenCLC(label string, data []byte) bool {
	if bytes.IndexByte(data, 0) >= 0 || !utf8.Valid(data) {
		return false
	}
	ext := strings.ToLower(filepath.Ext(label))
	return ext == ".cl" || ext == ".clc" || kernelInC.Get().Match(data[:min(len(data), mostSource)])
}
