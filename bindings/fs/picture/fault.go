package picture

import (
	"compress/flate"
	"compress/zlib"
	"errors"
	"io"
	"strings"
)

// Fault says what is wrong with a file that could not be decoded.
func Fault(err error) string {
	var corrupt flate.CorruptInputError
	switch {
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return "the file ends before the picture does"
	case errors.As(err, &corrupt) || errors.Is(err, zlib.ErrChecksum) || errors.Is(err, zlib.ErrHeader):
		return "the compressed pixels are damaged"
	}
	text := err.Error()
	for _, prefix := range []string{"png: ", "jpeg: ", "invalid format: ", "invalid JPEG format: ", "unsupported feature: ", "unsupported JPEG feature: "} {
		text = strings.TrimPrefix(text, prefix)
	}
	return "the file is damaged, or of an unknown kind: " + text
}
