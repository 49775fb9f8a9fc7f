package protocol

import (
	"crypto/rand"
	"crypto/sha256"
	"os"

	"github.com/orepl/orepl/lang/later"
)

// MachineID identifies a running system. The containers of a machine have its identity. It is zero if the system has none.
type MachineID [16]byte

// ThisMachine is the identity of the system that runs this process.
var ThisMachine = later.Value[MachineID]{Make: func() (id MachineID) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil || len(boot) == 0 {
		return id
	}
	sum := sha256.Sum256(boot)
	copy(id[:], sum[:])
	return id
}}

// SessionID identifies a client's connection to a server. It is a secret of the client and its servers.
type SessionID [16]byte

// NewSessionID returns a random identity.
func NewSessionID() (id SessionID) {
	_, _ = rand.Read(id[:]) // never fails
	return id
}
