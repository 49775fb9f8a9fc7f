package ranks

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/orepl/orepl/runtime/offload"
)

// TestReceiveAny receives from whichever rank sends. Each message arrives once, those of a rank in order, and receipts of one rank and of
// any get messages in the order of their calls.
func TestReceiveAny(t *testing.T) {
	const count = 200
	for rank, err := range job(t, 4, func(ctx context.Context, g *Group) error {
		if g.Rank() > 0 {
			for i := range count {
				if err := <-g.Send(0, 1, payload(offload.U8, []byte{byte(i)})); err != nil {
					return err
				}
			}
			_, err := g.Barrier()(ctx)
			return err
		}
		var got [4]int
		for n := range 3 * count {
			r := g.ReceiveAny(1)
			if n%7 == 0 { // a receive whose time is up takes no message
				short, stop := context.WithTimeout(ctx, time.Microsecond)
				_, err := g.ReceiveAny(2).Data(short)
				stop()
				if !errors.Is(err, context.DeadlineExceeded) {
					return fmt.Errorf("without a message: %v", err)
				}
			}
			d, err := r.Data(ctx)
			if err != nil {
				return err
			}
			if from := r.From(); int(d.Bytes[0]) != got[from] {
				return fmt.Errorf("message %d of rank %d comes after %d others", d.Bytes[0], from, got[from])
			}
			got[r.From()]++
		}
		if got != [4]int{0, count, count, count} {
			return fmt.Errorf("messages %v", got)
		}
		_, err := g.Barrier()(ctx)
		return err
	}) {
		if err != nil {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}

// TestReceiveAnyOrder mixes receipts of a rank and of any in one process.
func TestReceiveAnyOrder(t *testing.T) {
	g, release, err := NewWorld(nil).Claim()
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	receipts := []*Receipt{g.Receive(0, 5), g.ReceiveAny(5), g.Receive(0, 5), g.ReceiveAny(6), g.ReceiveAny(5)}
	for i := range 6 {
		g.Send(0, 5, payload(offload.U8, []byte{byte(i)}))
	}
	receipts = append(receipts, g.ReceiveAny(5), g.Receive(0, 5))
	g.Send(0, 6, payload(offload.U8, []byte{9}))
	for i, want := range []byte{0, 1, 2, 9, 3, 4, 5} {
		if d, err := receipts[i].Data(t.Context()); err != nil || d.Bytes[0] != want || receipts[i].From() != 0 {
			t.Errorf("receipt %d has %v, want %d: %v", i, d.Bytes, want, err)
		}
	}
}

// TestReceiveAnyEnds ends the ranks that might send. Messages sent before arrive; then the receipt fails, when the last of them has ended, or
// at once if one is lost.
func TestReceiveAnyEnds(t *testing.T) {
	for _, why := range []error{nil, new(crash)} {
		errs := job(t, 3, func(ctx context.Context, g *Group) error {
			switch g.Rank() {
			case 1:
				return errors.Join(<-g.Send(0, 0, payload(offload.U8, []byte{1})), nil)
			case 2:
				_, err := g.Receive(0, 1).Data(ctx)
				return errors.Join(err, why)
			}
			r := g.ReceiveAny(0)
			if d, err := r.Data(ctx); err != nil || r.From() != 1 || d.Bytes[0] != 1 {
				return fmt.Errorf("%v from %d: %v", d.Bytes, r.From(), err)
			}
			early := g.ReceiveAny(0)
			if err := <-g.Send(2, 1, payload(offload.U8, []byte{1})); err != nil {
				return err
			}
			for _, r := range []*Receipt{early, nil} {
				if r == nil {
					r = g.ReceiveAny(0)
				}
				_, err := r.Data(ctx)
				if why == nil && (offload.CodeOf(err) != offload.Closed || !strings.Contains(err.Error(), "all other ranks")) ||
					why != nil && (offload.CodeOf(err) != offload.DeviceLost || !strings.Contains(err.Error(), "rank 2 is lost")) {
					return fmt.Errorf("after the end: %w", err)
				}
			}
			return nil
		})
		if errs[0] != nil || errs[1] != nil || (errs[2] == nil) != (why == nil) {
			t.Error(errs)
		}
	}
}
