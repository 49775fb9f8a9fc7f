package ranks

import (
	"encoding/binary"
	"testing"
)

func TestHeaderSize(t *testing.T) {
	if n := binary.Size(header{}); n != headerSize {
		t.Errorf("a header has %d bytes, headerSize is %d", n, headerSize)
	}
}
