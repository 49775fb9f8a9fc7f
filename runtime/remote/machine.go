package remote

import (
	"crypto/sha256"
	"os"

	"github.com/orepl/orepl/lang/later"
	"github.com/orepl/orepl/runtime/remote/protocol"
)

// thisMachine returns the identity of the system that runs this process.
var thisMachine = later.Value[protocol.MachineID]{Make: func() (id protocol.MachineID) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil || len(boot) == 0 {
		return id
	}
	sum := sha256.Sum256(boot)
	copy(id[:], sum[:])
	return id
}}
