package app

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/bench"
	"github.com/orepl/orepl/lang"
)

// benchmarks are the results of one file.
type benchmarks struct {
	File    string          `json:"file"`
	Results json.RawMessage `json:"results"`
	Error   string          `json:"error,omitempty"` // error that ended the script

	table  string
	missed bool // a result missed a threshold, or was wrong or missing
}

// runBench implements orepl bench. After a script fails, its results so far and those of later scripts are still reported.
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
	exit := ExitOK
	for _, file := range files {
		b, err := inv.benchFile(file, limits, *asJSON)
		if !*asJSON && b.table != "" {
			inv.printf(inv.Stdout, "%s\n%s\n", file, b.table)
		}
		if err != nil {
			b.Error = err.Error()
			if code := inv.finish(err); exit == ExitOK || exit == ExitThresholds {
				exit = code
			}
		} else if b.missed && exit == ExitOK {
			exit = ExitThresholds
		}
		all = append(all, b)
		if inv.ctx.Err() != nil {
			break
		}
	}
	if *asJSON {
		enc := json.NewEncoder(inv.Stdout)
		enc.SetIndent("", "  ")
		if err := enc.Encode(all); err != nil {
			return err
		}
	}
	if exit != ExitOK {
		return &exitError{exit}
	}
	return nil
}

// benchFile runs a script and returns the results of its benchmarks, even if the script failed later.
func (inv *invocation) benchFile(path string, limits *limitFlags, asJSON bool) (benchmarks, error) {
	b := benchmarks{File: path, Results: json.RawMessage("[]")}
	opts, err := limits.options(lang.Options{})
	if err != nil {
		return b, err
	}
	rt := inv.open()
	system := *inv
	if asJSON {
		system.Stdout = inv.Stderr
	}
	e, err := system.engine(rt, opts)
	if err != nil {
		return b, err
	}
	progress := &benchProgress{out: inv.Stderr, on: isTerminal(inv.Stderr)}
	err = e.Do(inv.ctx, func(*goja.Runtime) error { return bench.Watch(e, progress.report) })
	if err == nil {
		_, err = e.RunFile(inv.ctx, path)
		progress.clear()
		if readErr := b.read(e); err == nil {
			err = readErr
		}
	}
	return b, inv.close(e, rt, err)
}

// read reads the results from an engine after its script ended or was interrupted.
func (b *benchmarks) read(e *lang.Engine) error {
	return e.Do(context.Background(), func(vm *goja.Runtime) error {
		var err error
		if b.Results, b.table, err = bench.Results(e); err != nil {
			return err
		}
		if string(b.Results) == "[]" {
			return &usageError{"the script measures nothing", "call bench of module 'bench'"}
		}
		var limits []struct {
			Missed []string
			Wrong  string
			Failed string
		}
		if err := json.Unmarshal(b.Results, &limits); err != nil {
			return err
		}
		for _, l := range limits {
			b.missed = b.missed || len(l.Missed) > 0 || l.Wrong != "" || l.Failed != ""
		}
		return nil
	})
}

// benchProgress displays the current measurement in one line of a terminal.
type benchProgress struct {
	out   io.Writer
	on    bool
	last  time.Time
	shown bool
}

// report displays the progress of a benchmark in samples. It writes a few times per second only, since writing disturbs the
// measurement. It clears the line after the last sample, since the script may print then.
func (p *benchProgress) report(b bench.Progress) {
	if b.Done == b.Samples {
		p.clear()
	}
	if !p.on || b.Done == b.Samples || b.Done > 0 && time.Since(p.last) < 200*time.Millisecond {
		return
	}
	p.last, p.shown = time.Now(), true
	fmt.Fprintf(p.out, "\r\x1b[2Kmeasuring %s, %d of %d samples", b.Name, b.Done, b.Samples)
}

// clear removes the line.
func (p *benchProgress) clear() {
	if p.shown {
		fmt.Fprint(p.out, "\r\x1b[2K")
		p.shown = false
	}
}
