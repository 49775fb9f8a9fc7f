package fs

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
)

// npy makes a file of the format: version, header, and data in hexadecimal.
func npy(version byte, header, data string) []byte {
	out := append([]byte(npyMagic), version, 0)
	if version == 1 {
		out = binary.LittleEndian.AppendUint16(out, uint16(len(header)))
	} else {
		out = binary.LittleEndian.AppendUint32(out, uint32(len(header)))
	}
	out = append(out, header...)
	bytes, _ := hex.DecodeString(data) // a decoding error would fail the comparison
	return append(out, bytes...)
}

func TestParseNPY(t *testing.T) {
	header := func(descr, order, shape string) string {
		return fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': (%s), }          \n", descr, order, shape)
	}
	for name, c := range map[string]struct {
		file         []byte
		dtype, class string
		shape        []int
		data         string
	}{
		"one dimension": {npy(1, header("<i2", "False", "3,"), "010002000300"), "<i2", "Int16Array", []int{3}, "010002000300"},
		"none":          {npy(1, header("<i2", "False", ""), "0100"), "<i2", "Int16Array", nil, "0100"},
		"empty":         {npy(1, header("<f8", "False", "0, 3"), ""), "<f8", "Float64Array", []int{0, 3}, ""},
		"empty rows":    {npy(1, header("<f8", "True", "5, 0"), ""), "<f8", "Float64Array", []int{5, 0}, ""},
		"empty, great":  {npy(1, header("<i2", "False", "9007199254740991, 2, 0"), ""), "<i2", "Int16Array", []int{9007199254740991, 2, 0}, ""},
		"Fortran":       {npy(1, header("|u1", "True", "2, 3"), "010402050306"), "|u1", "Uint8Array", []int{2, 3}, "010203040506"},
		"Fortran in 3":  {npy(1, header("<u2", "True", "2, 1, 2"), "0100020003000400"), "<u2", "Uint16Array", []int{2, 1, 2}, "0100030002000400"},
		"big-endian":    {npy(1, header(">u4", "False", "2,"), "0000000100000203"), "<u4", "Uint32Array", []int{2}, "0100000003020000"},
		"native":        {npy(1, header("=i4", "False", "1,"), "ffffffff"), "<i4", "Int32Array", []int{1}, "ffffffff"},
		"booleans":      {npy(1, header("|b1", "False", "2,"), "0100"), "|b1", "Uint8Array", []int{2}, "0100"},
		"half floats":   {npy(1, header("<f2", "False", "2,"), "003c00c0"), "<f2", "Float32Array", []int{2}, "0000803f000000c0"},
		"version 2":     {npy(2, header("<i8", "False", "1,"), "0100000000000000"), "<i8", "BigInt64Array", []int{1}, "0100000000000000"},
		"version 3":     {npy(3, header("<f4", "False", "1L,"), "0000803f"), "<f4", "Float32Array", []int{1}, "0000803f"},
		"other quotes":  {npy(1, `{"shape":(1,), "fortran_order":False,"descr":"|i1"}`, "ff"), "|i1", "Int8Array", []int{1}, "ff"},
	} {
		n, err := parseNPY(c.file)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if n.dtype != c.dtype || n.class != c.class || fmt.Sprint(n.shape) != fmt.Sprint(c.shape) || fmt.Sprintf("%x", n.data) != c.data {
			t.Errorf("%s: %s %s %v %x", name, n.dtype, n.class, n.shape, n.data)
		}
	}
	for message, file := range map[string][]byte{
		"no NPY file":                      []byte("PK\x03\x04 and so on"),
		"version 9 of the format":          npy(9, "", ""),
		"ends in its header":               npy(1, header("<f4", "False", "1,"), "")[:20],
		"lacks descr":                      npy(1, "{'descr': '<f4'}", ""),
		"elements are records":             npy(1, "{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1,)}", "00000000"),
		`are text ("<U5")`:                 npy(1, header("<U5", "False", "1,"), ""),
		"are bytes of text":                npy(1, header("|S3", "False", "1,"), "414243"),
		"are objects of Python":            npy(1, header("|O", "False", "1,"), ""),
		"are complex numbers":              npy(1, header("<c8", "False", "1,"), "0000000000000000"),
		"are dates":                        npy(1, header("<M8[ns]", "False", "1,"), "0000000000000000"),
		"are extended floats":              npy(1, header("<f16", "False", "1,"), ""),
		"does not fit the file":            npy(1, header("<f4", "False", "1000000000, 1000000000, 1000000000"), "00000000"),
		"(18446744073709551617,) does not": npy(1, header("<f4", "False", "18446744073709551617,"), "00000000"),
		"(-1,) does not fit":               npy(1, header("<f4", "False", "-1,"), "00000000"),
		"needs 8 bytes, the file has 4":    npy(1, header("<f4", "False", "2,"), "00000000"),
		"needs 4 bytes, the file has 5":    npy(1, header("<f4", "False", "1,"), "0000000000"),
		"(x) does not fit":                 npy(1, header("<f4", "False", "x"), "00000000"),
	} {
		if _, err := parseNPY(file); err == nil || !strings.Contains(err.Error(), message) {
			t.Errorf("got %v, expected %s", err, message)
		}
	}
}

// TestHeaderNPY compares headers with those of NumPy's writer, except for the number of blanks, which the format does
// not specify.
func TestHeaderNPY(t *testing.T) {
	for _, c := range []struct {
		shape []int
		want  string
	}{
		{nil, "{'descr': '<f4', 'fortran_order': False, 'shape': (), }"},
		{[]int{3}, "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }"},
		{[]int{2, 3}, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"},
	} {
		got := npyHeader("<f4", c.shape)
		length := int(binary.LittleEndian.Uint16(got[8:]))
		text := string(got[10:])
		if string(got[:8]) != npyMagic+"\x01\x00" || len(got)%64 != 0 || len(got) != 10+length || !strings.HasSuffix(text, "\n") || strings.TrimRight(text, " \n") != c.want {
			t.Errorf("%q", got)
		}
	}
}

func FuzzParseNPY(f *testing.F) {
	f.Add(npy(1, "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 1), }", "0000803f00000040"))
	f.Add(npy(2, "{'descr': '>i2', 'fortran_order': False, 'shape': (), }", "0001"))
	f.Add(npy(3, "{'descr': '<f2', 'fortran_order': False, 'shape': (0, 99999999999), }", ""))
	f.Fuzz(func(t *testing.T, file []byte) {
		n, err := parseNPY(file)
		if err != nil {
			return
		}
		count := 1
		for _, d := range n.shape {
			count *= d
		}
		size := n.size
		if n.dtype == "<f2" {
			size = 4
		}
		if count*size != len(n.data) {
			t.Errorf("%v of %s has %d bytes", n.shape, n.dtype, len(n.data))
		}
	})
}
