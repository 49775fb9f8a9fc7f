package remote

import (
	"crypto/sha256"
	"os"

	"github.com/orepl/orepl/lang/later"
)

// machineID identifies a running system, also to its containers. It is zero if the system has no such identity.
type machineID [16]byte

// thisMachine returns the identity of the system that runs this process.
var thisMachine = later.Value[machineID]{Make: func() (id machineID) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil || len(boot) == 0 {
		return id
	}
	sum := sha256.Sum256(boot)
	copy(id[:], sum[:])
	return id
}}
