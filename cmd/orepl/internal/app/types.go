package app

import (
	"fmt"
	"os"

	"github.com/orepl/orepl/bindings/dts"
)

// runTypes implements orepl types.
func runTypes(inv *invocation) error {
	out := inv.flags.String("out", "", "write to this `file` instead of standard output")
	args, err := inv.parse()
	if err != nil {
		return err
	}
	if len(args) > 0 {
		return &usageError{"orepl types takes no arguments", "write: orepl types --out orepl.d.ts"}
	}
	text := dts.Declarations(inv.open().Registry())
	if *out == "" {
		_, err = fmt.Fprint(inv.Stdout, text)
		return err
	}
	return os.WriteFile(*out, []byte(text), 0o644)
}
