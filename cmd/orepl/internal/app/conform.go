package app

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/orepl/orepl/runtime/conform"
	"github.com/orepl/orepl/runtime/offload"
)

// runConform implements orepl conform.
func runConform(inv *invocation) error {
	match := inv.flags.String("run", "", "only the cases that match this `pattern`, such as copy/*")
	asJSON := inv.flags.Bool("json", false, "print JSON")
	verbose := inv.flags.Bool("verbose", false, "print every case, not only those that fail")
	timeout := inv.flags.Duration("timeout", 0, "end a case after this `time`, such as 30s; 2m unless given")
	list := inv.flags.Bool("list", false, "list the cases and run none")
	args, err := inv.parseMixed()
	if err != nil {
		return err
	}
	if *list {
		for _, name := range conform.Names() {
			inv.printf(inv.Stdout, "%s\n", name)
		}
		return nil
	}
	if len(args) != 1 {
		return &usageError{"one device is expected", "write: orepl conform cpu"}
	}
	if _, err := path.Match(*match, ""); err != nil {
		return &usageError{fmt.Sprintf("--run %s is no pattern: %v", *match, err), "write a pattern such as copy/*"}
	}
	plugin, err := inv.pluginOf(args[0])
	if err != nil {
		return err
	}
	if *timeout < 0 {
		return &usageError{fmt.Sprintf("--timeout %v is negative", *timeout), "leave it out for two minutes"}
	}
	opts := conform.Options{Timeout: *timeout, Stacks: *verbose}
	if *match != "" {
		opts.Match = func(name string) bool { ok, _ := path.Match(*match, name); return ok }
	}
	if !*asJSON {
		opts.Report = func(r conform.Result) { inv.printCase(r, *verbose) }
	}
	start := time.Now()
	results, err := conform.Run(inv.ctx, plugin, args[0], opts)
	if err != nil && results == nil {
		return err
	}
	count := map[conform.Status]int{}
	for _, r := range results {
		count[r.Status]++
	}
	if *asJSON {
		enc := json.NewEncoder(inv.Stdout)
		enc.SetIndent("", "  ")
		if jsonErr := enc.Encode(map[string]any{"device": args[0], "cases": results}); jsonErr != nil {
			return jsonErr
		}
	} else {
		inv.printf(inv.Stdout, "%s: %d passed, %d failed, %d skipped, in %.1f s\n", args[0],
			count[conform.Passed], count[conform.Failed], count[conform.Skipped], time.Since(start).Seconds())
	}
	if err != nil {
		return err
	}
	if count[conform.Failed] > 0 {
		return &exitError{ExitFailed}
	}
	return nil
}

func (inv *invocation) printCase(r conform.Result, verbose bool) {
	if r.Status == conform.Passed && !verbose {
		return
	}
	inv.printf(inv.Stdout, "%-7s %s (%.2f s)\n", r.Status, r.Name, r.Elapsed.Seconds())
	for _, line := range r.Output {
		inv.printf(inv.Stdout, "        %s\n", line)
	}
}

// pluginOf returns the plugin that a device id begins with, or the error NotFound.
func (inv *invocation) pluginOf(id string) (offload.Plugin, error) {
	name, _, _ := strings.Cut(id, ":")
	var names []string
	for _, p := range inv.Plugins {
		if p.Name() == name {
			return p, nil
		}
		names = append(names, p.Name())
	}
	return nil, offload.Errorf(offload.NotFound, "conform", "there is no plugin %q", name).
		WithHint("the plugins are %s", strings.Join(names, ", "))
}
