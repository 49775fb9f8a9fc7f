package socket

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
)

// failure is an error of a connection in the system's words, without those of package net.
type failure struct {
	text string
	err  error
}

func (f *failure) Error() string { return f.text }
func (f *failure) Unwrap() error { return f.err }

// plain returns an error of a connection or a listener as a [failure], whose text has no address, or another error unchanged.
func plain(err error) error {
	var (
		number  syscall.Errno
		dns     *net.DNSError
		address *net.AddrError
		record  tls.RecordHeaderError
	)
	switch {
	case errors.As(err, &dns):
		return &failure{fmt.Sprintf("no machine has the name %s", dns.Name), err}
	case errors.As(err, &address):
		return &failure{address.Err, err}
	case errors.As(err, &record):
		return &failure{"the other side does not encrypt: both need tls: or neither", err}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &failure{fmt.Sprintf("no answer within %v", greetTime), err}
	case errors.As(err, &number):
		return &failure{number.Error(), err}
	}
	return err
}
