package isolate

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"github.com/orepl/orepl/lang/diag"
)

// maxFrame is the maximum size of a sent message, in bytes of JSON.
const maxFrame = 256 << 20

// A wire sends and receives messages, each as a four-byte length followed by JSON.
type wire struct {
	in    *bufio.Reader
	limit int // maximum size of a received message in bytes
	mu    sync.Mutex
	out   io.Writer
}

func newWire(in io.Reader, out io.Writer, limit int) *wire {
	return &wire{in: bufio.NewReader(in), out: out, limit: limit}
}

func (w *wire) send(message any) error {
	frame, err := encode(message)
	if err != nil {
		return err
	}
	return w.write(frame)
}

// encode returns the frame of a message.
func encode(message any) ([]byte, error) {
	body, err := json.Marshal(message)
	if err != nil {
		return nil, err
	}
	if len(body) > maxFrame {
		return nil, diag.New("out-of-resources", "the message to the engine's process has %d bytes; %d are allowed", len(body), maxFrame)
	}
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...), nil
}

func (w *wire) write(frame []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err := w.out.Write(frame)
	return err
}

// receive decodes the next message into message. It returns an error for one of more than limit bytes.
func (w *wire) receive(message any) error {
	var head [4]byte
	if _, err := io.ReadFull(w.in, head[:]); err != nil {
		return err
	}
	n := int64(binary.BigEndian.Uint32(head[:]))
	if n > int64(w.limit) {
		return fmt.Errorf("a message of %d bytes was announced; %d are allowed", n, w.limit)
	}
	body, err := io.ReadAll(io.LimitReader(w.in, n))
	if err != nil {
		return err
	}
	if int64(len(body)) < n {
		return io.ErrUnexpectedEOF
	}
	return json.Unmarshal(body, message)
}
