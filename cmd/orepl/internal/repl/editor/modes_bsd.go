//go:build unix && !linux && !solaris && !aix

package editor

import "golang.org/x/sys/unix"

const getModes, setModes = unix.TIOCGETA, unix.TIOCSETA
