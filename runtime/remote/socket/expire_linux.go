package socket

import (
	"net"

	"golang.org/x/sys/unix"
)

// expireTime is the maximum time in milliseconds for which the other machine may leave bytes unacknowledged.
const expireTime = 60_000

// expire makes the system end a connection whose other machine is gone, so that a worker does not keep its place in a cluster.
func expire(conn net.Conn) {
	c, ok := conn.(*net.TCPConn)
	if !ok {
		return
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) { // without the option, the system's own limit of some minutes remains
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, expireTime)
	})
}
