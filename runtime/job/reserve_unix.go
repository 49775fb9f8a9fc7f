//go:build unix

package job

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// connections are the variables with file descriptors of connections to a launcher.
var connections = []string{"PMI_FD", "HYDI_CONTROL_FD"}

// Reserve returns an environment for a process that takes this one's part in the job. That process uses the file descriptors from 3
// to first-1 itself. Reserve duplicates connections to the launcher that have such numbers.
func Reserve(env []string, first int) ([]string, error) {
	env = slices.Clone(env)
	for i, variable := range env {
		name, value, _ := strings.Cut(variable, "=")
		fd, err := strconv.Atoi(value)
		if err != nil || fd < 3 || fd >= first || !slices.Contains(connections, name) {
			continue
		}
		up, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD, first)
		if err != nil {
			return nil, fmt.Errorf("%s cannot be duplicated: %w", variable, err)
		}
		env[i] = name + "=" + strconv.Itoa(up)
	}
	return env, nil
}
