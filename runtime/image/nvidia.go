package image

import (
	"bytes"
	"regexp"

	"github.com/orepl/orepl/lang/later"
	"github.com/orepl/orepl/runtime/offload"
)

// isPTX reports whether data starts with PTX's version directive, after comments.
func isPTX(data []byte) bool {
	rest := skipComments(data[:min(len(data), 64<<10)])
	return bytes.HasPrefix(rest, []byte(".version"))
}

func skipComments(text []byte) []byte {
	for {
		text = bytes.TrimLeft(text, " \t\r\n")
		switch {
		case bytes.HasPrefix(text, []byte("//")):
			i := bytes.IndexByte(text, '\n')
			if i < 0 {
				return nil
			}
			text = text[i:]
		case bytes.HasPrefix(text, []byte("/*")):
			i := bytes.Index(text, []byte("*/"))
			if i < 0 {
				return nil
			}
			text = text[i+2:]
		default:
			return text
		}
	}
}

var ptxTarget = later.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(`(?m)^\s*\.target\s+(sm_\d+[a-z]?)`) }}

func identifyPTX(img *offload.Image) error {
	text := bytes.TrimRight(img.Data, "\x00") // the NUL at the end of a C string
	if i := bytes.IndexByte(text, 0); i >= 0 {
		return invalid(img.Label, "the PTX text has a NUL at byte %d", i)
	}
	m := ptxTarget.Get().FindSubmatch(text)
	if m == nil {
		return invalid(img.Label, "the PTX text has no .target directive")
	}
	img.Kind, img.Target, img.Arch = offload.ImagePTX, "nvptx64-nvidia-cuda", string(m[1])
	return nil
}
