package socket

import (
	"net"

	"golang.org/x/sys/unix"
)

// expireTime is the time in milliseconds after which a worker ends whose script's machine does not acknowledge messages.
const expireTime = 60_000

// expire ends a connection whose other machine is gone, so that a worker does not keep its place in a cluster.
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
