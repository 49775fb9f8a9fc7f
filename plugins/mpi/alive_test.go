package mpi

import (
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/orepl/orepl/plugins/mpi/internal/libmpi"
)

// TestAttach connects a host to a worker by the second of two addresses; a foreign process listens at the first one.
func TestAttach(t *testing.T) {
	worker := &world{role: workerRole, roles: []byte{hostRole, workerRole}, finishing: make(chan struct{}), silence: time.Minute}
	var token [tokenSize]byte
	token[3] = 7
	right, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer right.Close()
	port := right.Addr().(*net.TCPAddr).AddrPort().Port()
	wrong, err := net.Listen("tcp", netip.AddrPortFrom(netip.MustParseAddr("127.0.0.2"), port).String())
	if err != nil {
		t.Skip(err) // the system has no such address
	}
	defer wrong.Close()
	go func() {
		conn, err := wrong.Accept()
		if err == nil {
			_, _ = conn.Write([]byte("HTTP/1.1 400"))
		}
	}()
	admitted := make(chan struct{})
	go func() {
		conn, err := right.Accept()
		if err == nil {
			close(admitted)
			worker.admit(conn, token)
		}
	}()
	host := &world{lib: &libmpi.Library{}, role: hostRole, roles: worker.roles, finishing: make(chan struct{}), silence: time.Minute, lost: map[int]error{},
		left: map[int]bool{}}
	p := &identity{Port: port, Token: token}
	p.Machine[0] = 'w'
	for i, place := range []string{"127.0.0.2", "127.0.0.1"} {
		p.Places[i] = netip.MustParseAddr(place).As16()
	}
	if err := host.attach(1, p, &identity{}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-admitted:
	default:
		t.Error("the process that is no worker was taken for one")
	}
	close(host.finishing)
	close(worker.finishing)
	host.beating.Wait()
	if err := host.lostError(1); err != nil {
		t.Error(err)
	}
}
