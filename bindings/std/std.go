// Package std lists the modules that do not depend on devices.
package std

import (
	"github.com/orepl/orepl/bindings"
	"github.com/orepl/orepl/bindings/console"
	"github.com/orepl/orepl/bindings/fs"
	"github.com/orepl/orepl/bindings/process"
	"github.com/orepl/orepl/bindings/timers"
	"github.com/orepl/orepl/bindings/web"
)

// Modules returns the standard modules.
func Modules() []bindings.Module {
	return []bindings.Module{console.Module(), timers.Module(), process.Module(), fs.Module(), web.Module()}
}
