package app

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/orepl/orepl/bindings/dts"
	"github.com/orepl/orepl/bindings/help"
	"github.com/orepl/orepl/bindings/inside"
	"github.com/orepl/orepl/lang/diag"
)

// runVersion implements orepl version.
func runVersion(inv *invocation) error {
	if _, err := inv.parse(); err != nil {
		return err
	}
	version := "(development)"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		version = info.Main.Version
	}
	fmt.Fprintf(output{inv}, "orepl %s, %s, %s/%s\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return nil
}

const exitCodes = `Exit codes of orepl:

  0    success
  1    a check failed, such as a case of the conformance suite, or a command of orepl image did
  2    the command line is wrong
  99   a benchmark failed, gave a wrong result, missed a threshold or met a condition
  107  the script failed: an exception, or a failure of a device
  124  the time limit passed
  130  interrupted

A script that calls process.exit(n) ends with n.
`

// runHelp implements orepl help.
func runHelp(inv *invocation) error {
	args, err := inv.parse()
	if err != nil {
		return err
	}
	if len(args) > 0 {
		if args[0] == "exit-codes" {
			fmt.Fprint(output{inv}, exitCodes)
			return nil
		}
		for _, c := range append(commands(), imageCommands()...) {
			if c.name != strings.Join(args, " ") {
				continue
			}
			inv.printUsage(c.name)
			r := inside.Of(inv.open()).Registry()
			if _, _, ok := r.Lookup(c.name); ok { // kernel and bench are also functions of scripts
				fmt.Fprintln(output{inv}, "\nIn scripts:")
				return help.Write(output{inv}, r, c.name)
			}
			return nil
		}
		if err := help.Write(output{inv}, inside.Of(inv.open()).Registry(), args[0]); err != nil {
			return &usageError{err.Error(), cmp.Or(diag.Hint(err), "see orepl help")}
		}
		return nil
	}
	fmt.Fprintln(output{inv}, "orepl runs scripts that drive accelerators.\n\nCommands:")
	for _, c := range commands() {
		fmt.Fprintf(output{inv}, "  %-10s %s\n", c.name, c.about)
	}
	fmt.Fprintln(output{inv}, "\norepl help COMMAND explains one, orepl help exit-codes lists the exit codes,\norepl help NAME explains a name of scripts, or the code of a message such as out-of-bounds.")
	return nil
}

// printUsage prints a command's help with its flags. It runs the command's function to declare them.
func (inv *invocation) printUsage(name string) {
	for _, c := range append(commands(), imageCommands()...) {
		if c.name != name {
			continue
		}
		fmt.Fprintf(output{inv}, "orepl %s %s\n  %s\n", c.name, c.args, c.about)
		probe := &invocation{System: System{Args: []string{"-h"}, Plugins: inv.Plugins, Stdout: io.Discard, Stderr: io.Discard},
			ctx: inv.ctx, lack: inv.lack, flags: flag.NewFlagSet("orepl "+name, flag.ContinueOnError)}
		probe.flags.SetOutput(io.Discard)
		if inv.flags != nil && inv.flags.Name() == probe.flags.Name() {
			probe = inv // the invocation's flags are already declared
		} else if name == "image" {
			for _, sub := range imageCommands() {
				fmt.Fprintf(output{inv}, "\n  %s %s\n    %s\n", sub.name, sub.args, sub.about)
			}
			fmt.Fprintln(output{inv}, "\norepl help image list explains one of them with its flags; docs/images.md is the guide.")
			return
		} else if name != "help" {
			var exit *exitError
			if err := c.run(probe); err != nil && !errors.As(err, &exit) {
				return
			}
		}
		writeFlags(output{inv}, probe.flags)
	}
}

// writeFlags writes a line per flag. The name of its value, in backquotes in the usage, is written in capitals, unless it is a
// unit such as MiB.
func writeFlags(w io.Writer, flags *flag.FlagSet) {
	var rows [][2]string
	width := 0
	flags.VisitAll(func(f *flag.Flag) {
		value, about := flag.UnquoteUsage(f)
		if strings.ToLower(value) == value { // otherwise it is a unit, such as MiB
			value = strings.ToUpper(value)
		}
		name := strings.TrimSpace(dashed(f.Name) + " " + value)
		rows = append(rows, [2]string{name, about})
		width = max(width, len(name))
	})
	for _, r := range rows {
		fmt.Fprintf(w, "  %-*s  %s\n", width, r[0], r[1])
	}
}

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
	text := dts.Declarations(inside.Of(inv.open()).Registry())
	if *out == "" {
		_, err = fmt.Fprint(output{inv}, text)
		return err
	}
	return os.WriteFile(*out, []byte(text), 0o644)
}
