package box

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/remote/protocol"
)

const (
	pieceBytes = 1 << 20  // maximum size of a piece
	direct     = 64 << 10 // minimum size of a piece that is written to the stream without a copy
)

// failedPiece is a failure of the device in eachPiece, which ends the box but not the connection.
type failedPiece struct{ error }

// Device makes the queues that copy memory which the host cannot access.
type Device interface {
	NewQueue(offload.QueueOptions) (offload.Queue, error)
}

// copier copies pieces of a box: bytes of host-accessible memory, or a buffer with a queue of the device.
type copier struct {
	visible, scratch []byte // one of the two is nil: all of the memory if the host can access it, otherwise a buffer
	queue            offload.Queue
}

func (b *copier) open(d Device, box offload.Rect, extent [3]int64) (err error) {
	if b.visible = box.Memory.Bytes(); b.visible == nil {
		b.scratch = make([]byte, min(pieceBytes, extent[0]))
		b.queue, err = d.NewQueue(offload.QueueOptions{Label: "exchange"})
	}
	return err
}

func (b *copier) close() {
	if b.queue != nil {
		_ = b.queue.Close()
	}
}

// Write writes the pieces of a box. The result failure is one of the device, which is also reported to the other server. err is
// one of the connection, or the cause of ctx.
func Write(ctx context.Context, out *bufio.Writer, d Device, box offload.Rect, extent [3]int64) (failure, err error) {
	var b copier
	defer b.close()
	if err = b.open(d, box, extent); err != nil {
		err = failedPiece{err}
	} else {
		err = b.eachPiece(ctx, box, extent, func(piece offload.Span, data []byte) error {
			if b.queue != nil {
				if err := errors.Join(b.queue.Retrieve(data, piece), b.queue.Sync(ctx)); err != nil {
					return failedPiece{err}
				}
			}
			return writePiece(out, data)
		})
	}
	var failed failedPiece
	if !errors.As(err, &failed) {
		return nil, err
	}
	_, err = out.Write(protocol.Append([]byte{protocol.PieceFailed}, &protocol.Reply{Error: offload.EncodeError(offload.Nameless(failed.error))}, 0))
	return failed.error, err
}

// writePiece writes a piece. A large one goes to the stream without a copy in the buffer.
func writePiece(out *bufio.Writer, data []byte) error {
	if err := out.WriteByte(protocol.PieceFollows); err != nil {
		return err
	}
	if len(data) >= direct {
		if err := out.Flush(); err != nil {
			return err
		}
	}
	_, err := out.Write(data)
	return err
}

// Read reads the pieces of a box. The result err is a failure of the connection, or the cause of ctx. The result failure is one
// of this device, after which the remaining pieces are read too, or of the other device, which ends the box.
func Read(ctx context.Context, in *bufio.Reader, d Device, box offload.Rect, extent [3]int64) (failure, err error) {
	var b copier
	defer b.close()
	if failure = b.open(d, box, extent); failure != nil {
		return failure, Skip(in, extent)
	}
	err = b.eachPiece(ctx, box, extent, func(piece offload.Span, data []byte) error {
		if err := pieceBegins(in); err != nil {
			return err
		}
		if failure != nil {
			_, err := io.CopyN(io.Discard, in, piece.Size)
			return err
		}
		if _, err := io.ReadFull(in, data); err != nil || b.queue == nil {
			return err
		}
		failure = errors.Join(b.queue.Submit(piece, data), b.queue.Sync(ctx))
		return nil
	})
	var failed failedPiece
	if errors.As(err, &failed) {
		return failed.error, nil
	}
	return failure, err
}

// pieceBegins reads the byte before a piece. It returns a failedPiece if the other server's device failed.
func pieceBegins(in *bufio.Reader) error {
	switch kind, err := in.ReadByte(); {
	case err != nil:
		return err
	case kind == protocol.PieceFailed:
		return theirFailure(in)
	case kind != protocol.PieceFollows:
		return fmt.Errorf("a piece of kind %d", kind)
	}
	return nil
}

// theirFailure reads the reply that ends a box early.
func theirFailure(in *bufio.Reader) error {
	p, err := protocol.Read(in)
	if err != nil {
		return err
	}
	r, ok := p.(*protocol.Reply)
	if !ok || len(r.Error) == 0 {
		return fmt.Errorf("message %T is no failure", p)
	}
	return failedPiece{offload.DecodeError(r.Error)}
}

// Skip reads and discards the pieces of a box. It returns nil, too, if a failure of the other device ends the box.
func Skip(in *bufio.Reader, extent [3]int64) error {
	for range extent[1] * extent[2] {
		for left := extent[0]; left > 0; left -= pieceBytes {
			err := pieceBegins(in)
			if err == nil {
				_, err = io.CopyN(io.Discard, in, min(left, pieceBytes))
			}
			if errors.As(err, new(failedPiece)) {
				return nil
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// eachPiece calls do with each piece of a box, which lies in one row. data has the piece's bytes, or is a buffer for them if the
// host cannot access the memory. It stops at an error of do, or when ctx ends, and returns the error or the context's cause.
func (b *copier) eachPiece(ctx context.Context, box offload.Rect, extent [3]int64, do func(piece offload.Span, data []byte) error) error {
	return EachRow(box, extent, func(row offload.Span, _ int64) error {
		for row.Size > 0 {
			if err := context.Cause(ctx); err != nil {
				return err
			}
			piece := row
			piece.Size = min(row.Size, pieceBytes)
			row.Offset, row.Size = row.Offset+piece.Size, row.Size-piece.Size
			data := b.scratch[:min(int64(len(b.scratch)), piece.Size)]
			if b.visible != nil {
				data = b.visible[piece.Offset:][:piece.Size]
			}
			if err := do(piece, data); err != nil {
				return err
			}
		}
		return nil
	})
}
