// Package benchmark implements the parts of orepl bench around its scripts: options from three sources, baselines,
// comparisons, conditions, output files and the display of progress.
package benchmark

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/orepl/orepl/bindings/bench/record"
	"github.com/orepl/orepl/lang/later"
)

// Misuse is an error in the command line, in the environment or in the settings of a script.
type Misuse struct{ Message, Hint string }

func (e *Misuse) Error() string { return e.Message }

// Options are the options of orepl bench. Scripts set them by the names in the JSON tags, with configure of the module 'bench'.
type Options struct {
	Time      float64 `json:"time"` // milliseconds
	Precision float64 `json:"precision"`
	Noise     float64 `json:"noise"`
	Quick     bool    `json:"quick"`
	Filter    string  `json:"filter"`
	Shuffle   uint32  `json:"shuffle"` // 0 for none
	List      bool    `json:"-"`
	Save      string  `json:"save"`
	Compare   string  `json:"compare"`
	History   string  `json:"history"`
	Unlike    bool    `json:"unlike"`
	FailIf    list    `json:"failIf"`
	Against   string  `json:"-"` // another program
	Outputs

	chosen map[string]bool    // the flags that the command line or the environment sets
	pairs  *record.Comparison // of the runs of two programs
	bare   bool               // scripts decide nothing about files and baselines
	script bool               // messages name settings of a script, not flags
}

// Outputs are the names of files to write; "-" is standard output.
type Outputs struct {
	Report   string `json:"report"`
	JSON     string `json:"json"`
	CSV      string `json:"csv"`
	Markdown string `json:"markdown"`
	GoBench  string `json:"gobench"`
	JUnit    string `json:"junit"`
}

// defaultNoise is the relative change below which comparisons report no difference, unless the option noise sets another.
const defaultNoise = 0.01

// Define defines the flags and returns the options that they set.
func Define(f *flag.FlagSet) *Options {
	o := &Options{Noise: defaultNoise}
	f.Var((*duration)(&o.Time), "time", "measure each benchmark for this `time`, such as 500ms, in place of a number of samples")
	f.Var((*part)(&o.Precision), "precision", "take samples until the interval is within this `share` of the median, such as 1%")
	f.Var((*share)(&o.Noise), "noise", "call no smaller `change` a difference; default 1%")
	f.BoolVar(&o.Quick, "quick", false, "take a few short samples")
	f.StringVar(&o.Filter, "filter", "", "measure the benchmarks whose name matches this `pattern`, a regular expression")
	f.BoolVar(&o.List, "list", false, "print the names of the benchmarks and measure nothing")
	f.Var((*seed)(&o.Shuffle), "shuffle", "measure the points of sweeps in a random order, or in that of a seed: --shuffle=7")
	f.StringVar(&o.Save, "save", "", "keep the results as the baseline of this `name`, below .orepl/bench")
	f.StringVar(&o.Compare, "compare", "", "compare the results with the `baseline` of a name, in a file that --json wrote, or with the newest ten runs of a history, as history:NAME")
	f.StringVar(&o.History, "history", "", "keep the results of each run under this `name`, below .orepl/bench, and show how each benchmark's time changed; without scripts, only show it")
	f.StringVar(&o.Against, "against", "", "compare with another orepl `program`, such as one of an older commit: both run the scripts in turn")
	f.BoolVar(&o.Unlike, "unlike", false, "compare with results of another machine, too")
	f.Var(&o.FailIf, "fail-if", "fail if a result meets this `condition`, such as 'median > 5%' or 'gigabytesPerSecond < 10'; may be repeated")
	f.StringVar(&o.Report, "report", "", "write a report with charts to this `file.html`")
	f.StringVar(&o.JSON, "json", "", "write the results as JSON to this `file`; - is standard output, and what scripts print then goes to standard error")
	f.StringVar(&o.CSV, "csv", "", "write the results as comma-separated values to this `file` or to -")
	f.StringVar(&o.Markdown, "markdown", "", "write the results as tables of Markdown to this `file` or to -")
	f.StringVar(&o.GoBench, "gobench", "", "write the samples in the format of Go's benchmarks, which benchstat reads, to this `file` or to -")
	f.StringVar(&o.JUnit, "junit", "", "write the results as test cases for CI to this `file` or to -")
	return o
}

// settings are the flags that scripts and the environment can set, and their names in scripts.
var settings = later.Value[map[string]string]{Make: func() map[string]string {
	return map[string]string{
		"time": "time", "precision": "precision", "noise": "noise", "quick": "quick", "filter": "filter", "shuffle": "shuffle", "save": "save", "compare": "compare", "history": "history",
		"unlike": "unlike", "fail-if": "failIf", "report": "report", "json": "json", "csv": "csv", "markdown": "markdown", "gobench": "gobench", "junit": "junit",
	}
}}

// Variable returns the environment variable of a flag.
func Variable(name string) string {
	return "OREPL_BENCH_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// Resolve completes options whose flags are parsed: values of the environment replace those that no flag set. It fails for invalid
// values.
func (o *Options) Resolve(f *flag.FlagSet, env func(name string) string) error {
	o.chosen, o.bare = map[string]bool{}, env(bare) != ""
	f.Visit(func(f *flag.Flag) { o.chosen[f.Name] = true })
	for name := range settings.Get() {
		value := env(Variable(name))
		if value == "" || o.chosen[name] {
			continue
		}
		if err := f.Set(name, value); err != nil {
			return &Misuse{fmt.Sprintf("%s cannot be %q", Variable(name), value), fmt.Sprintf("it stands for --%s: %s", name, strings.ReplaceAll(f.Lookup(name).Usage, "`", ""))}
		}
		o.chosen[name] = true
	}
	return o.check()
}

// Overrides returns the settings of measurements that take precedence over those of scripts, by their names in scripts.
func (o *Options) Overrides() map[string]any {
	all := map[string]any{"time": o.Time, "precision": o.Precision, "noise": o.Noise, "quick": o.Quick, "filter": o.Filter, "shuffle": o.Shuffle}
	set := map[string]any{}
	for name, value := range all {
		if o.chosen[name] {
			set[name] = value
		}
	}
	if o.List {
		set["list"] = true
	}
	return set
}

// bare is the environment variable that RunAgainst sets for the programs that it runs: their scripts measure only.
var bare = Variable("bare")

// Adopt adds the settings of a script for which there is neither a flag nor a variable. The first script that has a setting
// decides. Settings that are invalid, or would fail after the measurement of run, leave the options as they were.
func (o *Options) Adopt(script Options, run *record.Run) error {
	before := *o
	before.FailIf = slices.Clone(o.FailIf)
	o.script = true
	err := o.adopt(script)
	if err == nil {
		err = o.Ready(run)
	}
	if err != nil {
		*o = before
	}
	o.script = false
	return err
}

// adopt adds the settings of a script and checks them. It does nothing if o.bare is set.
func (o *Options) adopt(script Options) error {
	if o.bare {
		return nil
	}
	adopt := func(name string, mine, theirs *string) {
		if !o.chosen[name] && *mine == "" {
			*mine = *theirs
		}
	}
	adopt("save", &o.Save, &script.Save)
	adopt("compare", &o.Compare, &script.Compare)
	adopt("history", &o.History, &script.History)
	mine, theirs := o.files(), script.files()
	for i := range mine {
		adopt(mine[i].flag, mine[i].name, theirs[i].name)
	}
	if !o.chosen["fail-if"] {
		for _, text := range script.FailIf {
			if !slices.Contains(o.FailIf, text) { // each call of configure has the settings of those before
				o.FailIf = append(o.FailIf, text)
			}
		}
	}
	if !o.chosen["unlike"] {
		o.Unlike = o.Unlike || script.Unlike
	}
	if !o.chosen["noise"] && script.Noise > 0 {
		o.Noise = script.Noise
	}
	return o.check()
}

// named returns a flag as the user writes it: that of the command line, or the setting of a script.
func (o *Options) named(flag string) string {
	if o.script {
		return settings.Get()[flag]
	}
	return "--" + flag
}

// with returns a flag with a value as the user writes it.
func (o *Options) with(flag, value string) string {
	if o.script {
		return fmt.Sprintf("%s: '%s'", settings.Get()[flag], value)
	}
	if strings.ContainsAny(value, " ()$<>") {
		value = "'" + value + "'"
	}
	return fmt.Sprintf("--%s %s", flag, value)
}

// output is an option that names a file to write.
type output struct {
	flag string
	name *string
}

func (o *Options) files() []output {
	return []output{{"report", &o.Report}, {"json", &o.JSON}, {"csv", &o.CSV}, {"markdown", &o.Markdown}, {"gobench", &o.GoBench}, {"junit", &o.JUnit}}
}

// Printed reports whether standard output holds a file's content in place of tables.
func (o *Options) Printed() bool {
	for _, f := range o.files() {
		if *f.name == "-" {
			return true
		}
	}
	return false
}

// Paths returns the paths of the files to write, and of the baseline to read or "". A history is represented by one file in its
// folder.
func (o *Options) Paths() (write []string, read string) {
	for _, f := range o.files() {
		if *f.name != "" && *f.name != "-" {
			write = append(write, *f.name)
		}
	}
	if o.Save != "" {
		write = append(write, Path(o.Save))
	}
	if o.History != "" {
		write = append(write, filepath.Join(historyPath(o.History), "run.json"))
	}
	if o.Compare != "" {
		read = Path(o.Compare)
	}
	return write, read
}

// check returns an error for invalid options, and for those that exclude each other.
func (o *Options) check() error {
	printed, writers := 0, map[string]string{}
	for _, f := range o.files() {
		name := *f.name
		if name == "-" {
			printed++
		} else if name != "" {
			path := filepath.Clean(name)
			if other := writers[path]; other != "" {
				return &Misuse{fmt.Sprintf("%s and %s would write the same file %s", o.named(other), o.named(f.flag), name), "name two files"}
			}
			writers[path] = f.flag
		}
		if IsScript(name) {
			return &Misuse{fmt.Sprintf("%s would overwrite the script %s", o.named(f.flag), name), fmt.Sprintf("write %s, or %s for standard output", o.with(f.flag, "FILE"), o.with(f.flag, "-"))}
		}
	}
	if printed > 1 {
		return &Misuse{"standard output can hold one format only", "write the others to files"}
	}
	if o.Report == "-" {
		return &Misuse{"a report is no text for a terminal", "write " + o.with("report", "FILE.html")}
	}
	for _, name := range []string{o.Save, o.History} {
		if name != "" && !baselineName.Get().MatchString(name) {
			return &Misuse{fmt.Sprintf("%q cannot be the name of a baseline", name), "a name has letters, digits, dots, hyphens and underscores; " + o.with("json", "FILE") + " writes to a file of any name"}
		}
	}
	if _, err := regexp.Compile(o.Filter); err != nil {
		return &Misuse{fmt.Sprintf("%s is no regular expression", o.with("filter", o.Filter)),
			fmt.Sprintf("write part of a name, as in %s, or a pattern, as in %s", o.with("filter", "copy"), o.with("filter", "^copy/n=(64|128)$"))}
	}
	if o.Against != "" && (o.Compare != "" || o.List) {
		return &Misuse{"--against compares with a program, and with nothing else", "leave --compare and --list out"}
	}
	_, err := o.conditions()
	return err
}

// conditions parses the conditions of --fail-if.
func (o *Options) conditions() ([]record.Condition, error) {
	var parsed []record.Condition
	for _, text := range o.FailIf {
		c, err := record.ParseCondition(text)
		if err != nil {
			return nil, &Misuse{o.named("fail-if") + ": " + err.Error(), fmt.Sprintf("write %s against a baseline, or %s", o.with("fail-if", "median > 5%"), o.with("fail-if", "gigabytesPerSecond < 10"))}
		}
		if c.Relative() && o.Compare == "" && o.Against == "" {
			return nil, &Misuse{fmt.Sprintf("%s needs results to compare with", o.with("fail-if", c.String())), fmt.Sprintf("add %s or %s", o.with("compare", "NAME"), o.with("compare", "FILE.json"))}
		}
		parsed = append(parsed, c)
	}
	return parsed, nil
}

// scriptExtensions are the endings of the names of scripts.
var scriptExtensions = []string{".js", ".mjs", ".cjs", ".ts", ".mts", ".cts"}

// IsScript reports whether a name has the ending of a script, or the prefix of a suite.
func IsScript(name string) bool {
	ext := filepath.Ext(name)
	for _, e := range scriptExtensions {
		if ext == e {
			return true
		}
	}
	return strings.HasPrefix(name, SuitePrefix)
}

// SuitePrefix is the prefix of the names of the suites.
const SuitePrefix = "suite:"

// Split divides what follows the flags into scripts and their arguments. The first word is a script, and so are those that
// IsScript accepts. The others are arguments.
func Split(words []string) (scripts, args []string) {
	for i, w := range words {
		if i == 0 || IsScript(w) {
			scripts = append(scripts, w)
		} else {
			args = append(args, w)
		}
	}
	return scripts, args
}

// Types of the values of flags.
type (
	duration float64 // milliseconds
	share    float64
	part     float64 // a share above 0 and below 1
	seed     uint32
	list     []string
)

func (d *duration) String() string { return "" }
func (d *duration) Set(text string) error {
	v, err := time.ParseDuration(text)
	if err != nil || v <= 0 {
		return fmt.Errorf("a time such as 500ms or 2s is needed")
	}
	*d = duration(float64(v) / 1e6)
	return nil
}

// Get implements [flag.Getter]: by the result's type, messages about wrong values name a time.
func (d *duration) Get() any { return time.Duration(float64(*d) * 1e6) }

func (s *share) String() string { return "" }
func (s *share) Set(text string) error {
	number, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		v /= 100
	}
	if err != nil || !(v >= 0 && v < 1) {
		return fmt.Errorf("a share such as 1%% or 0.01 is needed")
	}
	*s = share(v)
	return nil
}

// Wants returns what the flag takes, and a format of examples, whose argument is the flag.
func (s *share) Wants() (kind, examples string) {
	return "a share from 0% to less than 100%", "write a percentage or a fraction, as in %[1]s 2%% or %[1]s 0.02"
}

func (p *part) String() string { return "" }
func (p *part) Set(text string) error {
	var s share
	if err := s.Set(text); err != nil || s == 0 {
		return fmt.Errorf("a share such as 1%% or 0.01 is needed")
	}
	*p = part(s)
	return nil
}

// Wants returns what the flag takes, and a format of examples, whose argument is the flag.
func (p *part) Wants() (kind, examples string) {
	return "a share between 0% and 100%", "write a percentage or a fraction, as in %[1]s 1%% or %[1]s 0.01"
}

func (s *seed) String() string   { return "" }
func (s *seed) IsBoolFlag() bool { return true }
func (s *seed) Set(text string) error {
	if text == "true" {
		*s = seed(rand.Uint32() | 1)
		return nil
	}
	v, err := strconv.ParseUint(text, 10, 32)
	if err != nil || v == 0 {
		return fmt.Errorf("a positive integer is needed")
	}
	*s = seed(v)
	return nil
}

// Wants returns what the flag takes, and a format of an example, whose argument is the flag.
func (s *seed) Wants() (kind, examples string) {
	return "a positive integer", "write it behind an equals sign, as in %s=7"
}

func (l *list) String() string { return "" }
func (l *list) Set(text string) error {
	if text == "" { // no condition, not even those of scripts
		*l = nil
		return nil
	}
	*l = append(*l, text)
	return nil
}
