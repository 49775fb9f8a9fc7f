package pool

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strconv"
	"testing"
	"time"

	"github.com/orepl/orepl/plugins/cpu"
	contract "github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/remote"
	"github.com/orepl/orepl/runtime/session"
)

// servers returns a plugin with the devices of n servers that reach each other.
func servers(ctx context.Context, n int) contract.Plugin {
	var serve func(i int) io.ReadWriteCloser
	serve = func(i int) io.ReadWriteCloser {
		here, there := net.Pipe()
		o := remote.Server{Plugins: []contract.Plugin{cpu.New(cpu.Options{})}, Address: strconv.Itoa(i), DialPeer: func(_ context.Context, address string) (io.ReadWriteCloser, error) {
			to, err := strconv.Atoi(address)
			if err != nil {
				return nil, err
			}
			return serve(to), nil
		}}
		go func() { _ = o.Serve(ctx, there) }() // ends with the session
		return here
	}
	return remote.NewCluster("far", func(context.Context) (list []remote.Peer, err error) {
		for i := range n {
			list = append(list, remote.Peer{Name: strconv.Itoa(i), Dial: func(context.Context) (io.ReadWriteCloser, error) { return serve(i), nil }})
		}
		return list, nil
	})
}

const (
	issueTime = 100 * time.Millisecond // for another goroutine to issue a command between the parts of a joint launch
	hangTime  = 20 * time.Second
)

// TestIssuing copies a buffer between two devices from another goroutine, between the parts of a joint launch that replaces it. Neither
// the copy nor the launch waits for the other for ever.
func TestIssuing(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), hangTime)
	defer cancel()
	s := session.Open(session.Options{Plugins: []contract.Plugin{servers(t.Context(), 3)}})
	try := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	const n = 100000 // elements, too many for a launch that no goroutine waits for
	var sums, copies []*session.Buffer
	var queues []*session.Queue
	for i := range 3 {
		d, err := s.Device(ctx, "far:"+strconv.Itoa(i)+"/cpu:0")
		try(err)
		q, err := d.Queue()
		try(err)
		queues = append(queues, q)
		for _, list := range []*[]*session.Buffer{&sums, &copies} {
			b, err := d.NewBuffer(session.BufferOptions{Type: contract.I32, Elem: 4, Dims: []int{n}})
			try(err)
			try(q.Fill(b, []byte{byte(i + 1), 0, 0, 0}))
			*list = append(*list, b)
		}
	}
	c, parts, issued := NewCollective(ctx), 0, make(chan error, 1)
	c.Launch = func(q *session.Queue, call *session.Call) error {
		if parts++; parts == 2 {
			between := make(chan struct{})
			go func() {
				issued <- errors.Join(queues[1].Copy(copies[1], sums[0]), queues[2].Copy(copies[2], sums[0]))
				close(between)
			}()
			select {
			case <-between:
			case <-time.After(issueTime):
			}
		}
		return q.Launch(call)
	}
	try(c.AllReduce(sums, func() (*session.Library, error) { return adding(ctx, s) }))
	try(<-issued)
	for i, b := range append(sums, copies[1:]...) {
		q := queues[[]int{0, 1, 2, 1, 2}[i]]
		data := make([]byte, 4)
		try(q.Read(data, b, n-1))
		if err := q.Sync(ctx); err != nil {
			t.Fatalf("buffer %d: %v", i, err)
		}
		if got := binary.LittleEndian.Uint32(data); got != 1+2+3 {
			t.Errorf("buffer %d has %d", i, got)
		}
	}
	try(s.Close(ctx))
}
