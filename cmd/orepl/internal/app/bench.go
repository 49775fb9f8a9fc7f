package app

import (
	"encoding/json"
	"fmt"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang"
)

// benchmarks are the results of one file.
type benchmarks struct {
	File    string          `json:"file"`
	Results json.RawMessage `json:"results"`
}

// runBench is orepl bench.
func runBench(inv *invocation) error {
	asJSON := inv.flags.Bool("json", false, "print JSON; what the scripts print goes to standard error")
	limits := inv.limits()
	files, err := inv.parse()
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return &usageError{"the scripts' files are missing", "write: orepl bench FILE…"}
	}
	var all []benchmarks
	for _, file := range files {
		results, table, err := inv.benchFile(file, limits, *asJSON)
		if err != nil {
			return err
		}
		if all = append(all, benchmarks{file, results}); !*asJSON {
			fmt.Fprintf(inv.Stdout, "%s\n%s\n", file, table)
		}
	}
	if !*asJSON {
		return nil
	}
	enc := json.NewEncoder(inv.Stdout)
	enc.SetIndent("", "  ")
	return enc.Encode(all)
}

// benchFile runs a script and gives what its calls of bench measured.
func (inv *invocation) benchFile(path string, limits *limitFlags, asJSON bool) (results json.RawMessage, table string, err error) {
	opts, err := limits.options(lang.Options{})
	if err != nil {
		return nil, "", err
	}
	rt := inv.open()
	system := *inv
	if asJSON {
		system.Stdout = inv.Stderr
	}
	e, err := system.engine(rt, opts)
	if err != nil {
		return nil, "", err
	}
	_, err = e.RunFile(inv.ctx, path)
	if err == nil {
		results, table, err = benchResults(inv, e)
	}
	return results, table, inv.close(e, rt, err)
}

func benchResults(inv *invocation, e *lang.Engine) (results json.RawMessage, table string, err error) {
	err = e.Do(inv.ctx, func(vm *goja.Runtime) error {
		module, err := e.Require("bench")
		if err != nil {
			return err
		}
		list := module.Get("results").(*goja.Object)
		if list.Get("length").ToInteger() == 0 {
			return &usageError{"the script measures nothing", "call bench of module 'bench'"}
		}
		if results, err = list.MarshalJSON(); err != nil {
			return err
		}
		print, _ := goja.AssertFunction(module.Get("table"))
		text, err := print(nil)
		if err == nil {
			table = text.String()
		}
		return err
	})
	return results, table, err
}
