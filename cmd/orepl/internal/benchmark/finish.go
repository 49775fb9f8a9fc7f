package benchmark

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/orepl/orepl/bindings/bench/history"
	"github.com/orepl/orepl/bindings/bench/record"
	"github.com/orepl/orepl/bindings/bench/report"
	"github.com/orepl/orepl/lang/printable"
	"github.com/orepl/orepl/runtime/atomicfile"
)

// Finish compares a run, prints what it found and writes the files. passed is true if no benchmark failed, was wrong or missed
// a threshold, and no condition of --fail-if is met.
func (o *Options) Finish(run *record.Run, stdout, stderr io.Writer) (passed bool, err error) {
	comparison, name := o.pairs, o.Against
	if o.Compare != "" {
		name = o.Compare
		if comparison, err = o.compare(run, stderr); err != nil {
			return false, err
		}
	}
	lines, err := o.judge(run, comparison, name)
	if err != nil {
		return false, err
	}
	for _, f := range run.Files {
		for _, name := range f.Repeated() {
			print(stderr, fmt.Sprintf("warning: %s has more than one benchmark %q; they are told apart by their order only: give each a name of its own\n", f.Name, name))
		}
	}
	if !o.Printed() {
		if comparison != nil {
			print(stdout, fmt.Sprintf("against %s\n%s", name, comparison.Table()))
		}
		print(stdout, summary(run, lines))
	}
	certain := o.warn(comparison, stderr)
	passed = len(lines) == 0
	for _, r := range run.Results() {
		passed = passed && r.Bad() == ""
	}
	kept, err := o.keep(run)
	if err != nil {
		return false, err
	}
	if err := o.write(run, comparison, stdout); err != nil {
		return false, err
	}
	if err := o.replace(run, passed, certain, stderr); err != nil {
		return false, err
	}
	if kept && !o.Printed() {
		return passed, o.ShowHistory(stdout)
	}
	return passed, nil
}

// warn reports benchmarks that may have changed. certain is true if there are none.
func (o *Options) warn(c *record.Comparison, stderr io.Writer) (certain bool) {
	if c == nil {
		return true
	}
	names, most := c.Doubtful()
	if len(names) == 0 {
		return true
	}
	of := ""
	if share, busy := c.Busy(); busy {
		of = fmt.Sprintf(": other programs used %.0f %% of the processors' time", 100*share)
	}
	print(stderr, fmt.Sprintf("warning: %s may have changed, by up to %s, but so may runs of one program here%s; measure again on a quiet machine, or with --against\n",
		nameSome(names), record.Percent(most), of))
	return false
}

// nameSome lists up to three names, and counts the others.
func nameSome(names []string) string {
	const shown = 3
	if len(names) <= shown {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d others", strings.Join(names[:shown], ", "), len(names)-shown)
}

// replace saves the run as a baseline. The baseline that it was compared with stays if the run did not pass, or if benchmarks
// may have changed.
func (o *Options) replace(run *record.Run, passed, certain bool, stderr io.Writer) error {
	if o.Save == "" || o.Save != o.Compare || passed && certain || !exists(o.Save) {
		return o.save(run, stderr)
	}
	reason := "the run did not pass"
	if passed {
		reason = "benchmarks may have changed"
	}
	print(stderr, fmt.Sprintf("the baseline %s stays as it was, since %s; the next run makes it anew once %s is removed\n", o.Save, reason, Path(o.Save)))
	return nil
}

// keep adds a run to the history, and reports whether it did. It leaves out a run with a script that failed, and a partial run if
// only the script names the history.
func (o *Options) keep(run *record.Run) (bool, error) {
	if o.History == "" || o.partial() && !o.chosen["history"] || slices.ContainsFunc(run.Files, func(f record.File) bool { return f.Error != "" }) {
		return false, nil
	}
	if err := history.Keep(historyPath(o.History), run); err != nil {
		return false, &Misuse{err.Error(), ""}
	}
	return true, nil
}

// ShowHistory prints how the times of the benchmarks of the history changed.
func (o *Options) ShowHistory(stdout io.Writer) error {
	h, err := LoadHistory(o.History)
	if err == nil {
		print(stdout, h.Table(o.Noise))
	}
	return err
}

// print writes text with U+FFFD in place of characters that a terminal obeys.
func print(w io.Writer, text string) {
	_, _ = io.WriteString(w, printable.Text(text)) // a failed write cannot be reported
}

// compare compares a run with the baseline. If there is none of this name and the run creates it, compare returns nil.
func (o *Options) compare(run *record.Run, stderr io.Writer) (*record.Comparison, error) {
	if o.makes(o.Compare) && !exists(o.Compare) {
		becomes := "; this run becomes it"
		if o.partial() {
			becomes = ""
		}
		print(stderr, fmt.Sprintf("there is no baseline %s yet%s\n", o.Compare, becomes))
		return nil, nil
	}
	old, err := Load(o.Compare)
	if err != nil {
		return nil, err
	}
	if err := o.refuse(old, run); err != nil {
		return nil, err
	}
	c := record.Compare(old, run, o.Noise)
	if pattern, err := regexp.Compile(o.Filter); err == nil && o.chosen["filter"] {
		c.Gone = slices.DeleteFunc(c.Gone, func(name string) bool { return !pattern.MatchString(name) })
	}
	return &c, nil
}

// partial reports whether the command line filters benchmarks and names no baseline. Such a run is not kept as a baseline that
// the script names.
func (o *Options) partial() bool { return o.chosen["filter"] && o.Filter != "" && !o.chosen["save"] }

// makes reports whether the options save the run as a baseline, or add it to the history that is the baseline.
func (o *Options) makes(baseline string) bool {
	return o.Save == baseline || o.History != "" && historyPrefix+o.History == baseline
}

// refuse returns an error for a baseline from a different machine, unless o.Unlike allows it.
func (o *Options) refuse(old, run *record.Run) error {
	reasons := run.Machine.Unlike(&old.Machine)
	if len(reasons) == 0 || o.Unlike {
		return nil
	}
	return &Misuse{fmt.Sprintf("%s was measured on an unlike machine: %s", o.Compare, strings.Join(reasons, "; ")), "measure both on one machine, or ask for it with " + o.named("unlike")}
}

// Ready returns an error if an option would fail after the measurement. The baseline must be readable and from a like machine,
// unless this run creates it. Output paths must not be folders, and their folders must exist, except those of baselines and
// histories.
func (o *Options) Ready(run *record.Run) error {
	if o.Compare != "" && (!o.makes(o.Compare) || exists(o.Compare)) {
		old, err := Load(o.Compare)
		if err != nil {
			return err
		}
		if err := o.refuse(old, run); err != nil {
			return err
		}
	}
	write, _ := o.Paths()
	for _, path := range write {
		dir := filepath.Dir(path)
		if info, err := os.Stat(dir); dir != folder && dir != historyPath(o.History) && (err != nil || !info.IsDir()) {
			return &Misuse{fmt.Sprintf("%s cannot be written: there is no folder %s", path, dir), "make the folder first"}
		}
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			return &Misuse{fmt.Sprintf("%s cannot be written: it is a folder", path), "name a file"}
		}
	}
	return nil
}

// judge records in each result the conditions of --fail-if that it meets, and returns a line for each of them. Conditions that
// could not be checked have lines, too. c is nil or the comparison with the baseline called name.
func (o *Options) judge(run *record.Run, c *record.Comparison, name string) (lines []string, err error) {
	conditions, err := o.conditions()
	if err != nil {
		return nil, err
	}
	met := map[*record.Result][]string{}
	for _, cond := range conditions {
		var known record.Comparison
		if c != nil {
			known = *c
			if cond.Relative() && len(c.Changes) == 0 && !o.chosen["filter"] {
				lines = append(lines, fmt.Sprintf("%s could not be checked: no result of this run is in %s", cond, name))
			}
		}
		for _, f := range cond.Failures(run, known) {
			met[f.Result] = append(met[f.Result], f.Text)
			lines = append(lines, f.Result.Name+": "+f.Text)
		}
	}
	for i := range run.Files {
		for j := range run.Files[i].Results {
			r := &run.Files[i].Results[j]
			r.Met = met[r]
		}
	}
	return lines, nil
}

// summary returns the lines of judge, and one that counts what is wrong with a run, or "" if nothing is.
func summary(run *record.Run, lines []string) string {
	var failed, wrong, missed, met, errs int
	for _, r := range run.Results() {
		if len(r.Met) > 0 {
			met++
		}
		switch {
		case r.Failed != "":
			failed++
		case r.Wrong != "":
			wrong++
		case len(r.Missed) > 0:
			missed++
		}
	}
	for _, f := range run.Files {
		if f.Error != "" {
			errs++
		}
	}
	var parts []string
	for _, p := range []struct {
		count int
		text  string
	}{{failed, "failed"}, {wrong, "gave a wrong result"}, {missed, "missed a threshold"}} {
		if p.count > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.count, p.text))
		}
	}
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l + "\n")
	}
	if len(parts) > 0 || len(lines) > 0 || errs > 0 {
		if n := len(run.Results()); n == 1 {
			b.WriteString("1 benchmark")
		} else {
			fmt.Fprintf(&b, "%d benchmarks", n)
		}
		for _, p := range parts {
			b.WriteString(", " + p)
		}
		if met > 0 {
			fmt.Fprintf(&b, ", %d failed a condition of --fail-if", met)
		}
		if errs > 0 {
			fmt.Fprintf(&b, "; %d of %d scripts ended with an error", errs, len(run.Files))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// write writes the output files of a run. The path "-" is stdout.
func (o *Options) write(run *record.Run, c *record.Comparison, stdout io.Writer) error {
	var past *history.History
	if o.History != "" && o.Report != "" {
		past, _ = LoadHistory(o.History) // there is none before the first whole run
	}
	for _, out := range []struct {
		path  string
		write func(w io.Writer) error
	}{
		{o.JSON, run.Write},
		{o.CSV, run.CSV},
		{o.Markdown, func(w io.Writer) error { return run.Markdown(w, c) }},
		{o.GoBench, run.GoBench},
		{o.JUnit, run.JUnit},
		{o.Report, func(w io.Writer) error { return report.Write(w, run, c, past, o.Noise) }},
	} {
		switch out.path {
		case "":
		case "-":
			if err := out.write(stdout); err != nil {
				return err
			}
		default:
			if err := writeFile(out.path, out.write); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeFile writes a file as a whole or not at all.
func writeFile(path string, write func(w io.Writer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	if err := atomicfile.Write(path, b.Bytes()); err != nil {
		if inner := errors.Unwrap(err); inner != nil {
			err = inner
		}
		return &Misuse{fmt.Sprintf("%s cannot be written: %v", path, err), ""}
	}
	return nil
}

// save keeps a run as the baseline o.Save, if that is set. For a run that is partial, or in which a script failed, it prints why it does
// not.
func (o *Options) save(run *record.Run, stderr io.Writer) error {
	if o.Save == "" {
		return nil
	}
	if o.partial() {
		print(stderr, fmt.Sprintf("the baseline %s is not saved, since the filter leaves benchmarks out; --save %[1]s saves it\n", o.Save))
		return nil
	}
	for _, f := range run.Files {
		if f.Error != "" {
			print(stderr, fmt.Sprintf("the baseline %s is not saved, since %s ended with an error\n", o.Save, f.Name))
			return nil
		}
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return &Misuse{fmt.Sprintf("the folder %s cannot be made: %v", folder, errors.Unwrap(err)), ""}
	}
	return writeFile(Path(o.Save), run.Write)
}
