package isolate

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"sync"
)

// maxFrame bounds a message: what a child sends is not trusted.
const maxFrame = 256 << 20

// A wire sends and receives messages: four bytes of length, then JSON.
type wire struct {
	in  *bufio.Reader
	mu  sync.Mutex
	out io.Writer
}

func newWire(in io.Reader, out io.Writer) *wire { return &wire{in: bufio.NewReader(in), out: out} }

func (w *wire) send(message any) error {
	body, err := json.Marshal(message)
	if err != nil {
		return err
	}
	if len(body) > maxFrame {
		return fmt.Errorf("the message has %d bytes; %d are allowed", len(body), maxFrame)
	}
	frame := append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err = w.out.Write(frame)
	return err
}

func (w *wire) receive(message any) error {
	var head [4]byte
	if _, err := io.ReadFull(w.in, head[:]); err != nil {
		return err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > maxFrame {
		return fmt.Errorf("a message of %d bytes was announced; %d are allowed", n, maxFrame)
	}
	body, err := io.ReadAll(io.LimitReader(w.in, int64(n)))
	if err != nil {
		return err
	}
	if len(body) < int(n) {
		return io.ErrUnexpectedEOF
	}
	return json.Unmarshal(body, message)
}
