package heartbeat

import (
	"context"
	"net"
	"slices"
	"testing"
	"time"
)

// TestReport reports a lost process to others, in reads of any size, beside heartbeats.
func TestReport(t *testing.T) {
	for _, size := range []int{1, 3, 64} {
		var lost []int
		h := &Watch{Lost: func(id int, _ error) { lost = append(lost, id) }}
		data := []byte{beat, report}
		data = append(data, "0000002a"...)
		data = append(data, beat, report)
		data = append(data, "000000"...)
		data = append(data, beat)
		data = append(data, "10"...)
		data = append(data, beat)
		var number []byte
		for part := range slices.Chunk(data, size) {
			number = h.reports(number, part)
		}
		if !slices.Equal(lost, []int{42, 16}) || len(number) > 0 {
			t.Errorf("in reads of %d: lost %v, %q is left", size, lost, number)
		}
	}
}

// TestReported connects a process with two others, and reports the loss of one to the other.
func TestReported(t *testing.T) {
	leaving := make(chan struct{})
	defer close(leaving)
	told := make(chan int, 4)
	host := &Watch{ID: 0, Silence: time.Minute, Leaving: leaving, Lost: func(int, error) {}, Troubled: func() bool { return false }}
	for id := 1; id <= 2; id++ {
		w := &Watch{ID: id, Silence: time.Minute, Leaving: leaving, Troubled: func() bool { return false },
			Lost: func(lost int, _ error) { told <- 10*id + lost }, Accepts: func(int) bool { return true }}
		port, token, err := w.Listen(true)
		if err != nil {
			t.Fatal(err)
		}
		if err := host.Connect(id, []string{"127.0.0.1"}, port, token); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for connected := 0; connected < 2 && ctx.Err() == nil; time.Sleep(time.Millisecond) { // watch registers its connection
		host.mu.Lock()
		connected = len(host.conns)
		host.mu.Unlock()
	}
	host.Report(1)
	select {
	case n := <-told:
		if n != 21 {
			t.Errorf("%d was told of the loss of %d", n/10, n%10)
		}
	case <-ctx.Done():
		t.Error("nothing was told")
	}
}

// TestEndOf resets a connection, and closes another: only the second loss is certainly the end of a process.
func TestEndOf(t *testing.T) {
	for _, reset := range []bool{true, false} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		conn, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		other, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		if reset {
			_ = other.(*net.TCPConn).SetLinger(0)
		}
		_ = other.Close()
		h := &Watch{Silence: time.Minute}
		want := "the process of rank 7 ended"
		if reset {
			want = "the connection to the process of rank 7 was reset: it ended, or the network cut the connection"
		}
		if _, got := h.listen(conn, 7); got == nil || got.Error() != want {
			t.Errorf("the loss is %v, want %s", got, want)
		}
		_ = conn.Close()
		_ = l.Close()
	}
}
