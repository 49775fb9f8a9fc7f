package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/bindings/bench"
	"github.com/orepl/orepl/bindings/testjs/junit"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/spelling"
)

// checkTime is the time limit of scripts that are checked, described or tested without --timeout. It also bounds the check of a
// file, unless --timeout is longer.
const checkTime = 30 * time.Second

// checkReport is a file in the output of orepl check --json.
type checkReport struct {
	File     string          `json:"file"`
	Kind     string          `json:"kind"` // pipeline or script; empty if the file did not load
	Problems []problemReport `json:"problems"`
}

// problemReport is a problem in the output of orepl check --json.
type problemReport struct {
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// settings is a flag name=value that may occur several times.
type settings map[string]any

func (s settings) String() string { return "" }

// Set reads name=1.5, name=true, name=text or name=[480,640], the extents of an array of zeros.
func (s settings) Set(text string) error {
	name, value, ok := strings.Cut(text, "=")
	if !ok || name == "" {
		return errors.New("no value")
	}
	var parsed any
	if err := json.Unmarshal([]byte(value), &parsed); err != nil {
		parsed = value
	}
	if n, err := strconv.ParseInt(value, 10, 64); err == nil {
		parsed = n
	}
	s[name] = parsed
	return nil
}

// data returns the settings as data of a run. A list of extents becomes an array of zeros, whose type is that of the input with
// the setting's name.
func (s settings) data(inputs []orepl.Port) (orepl.Data, error) {
	all := orepl.Data{}
	for name, value := range s {
		all[name] = value
		list, ok := value.([]any)
		if !ok {
			continue
		}
		i := slices.IndexFunc(inputs, func(p orepl.Port) bool { return p.Name == name })
		if i < 0 || zeros[inputs[i].Type] == nil {
			return nil, diag.New("invalid-argument", "--set %s: there is no input %s that an array of zeros fits", name, name).WithHint("orepl describe lists the inputs")
		}
		shape := make([]int, len(list))
		for axis, x := range list {
			n, ok := x.(float64)
			if !ok || n < 0 || n != math.Trunc(n) || n > mostExtent {
				return nil, diag.New("invalid-argument", "--set %s: %v is no extent", name, x).WithHint("write --set %s=[480,640]", name)
			}
			shape[axis] = int(n)
		}
		all[name] = zeros[inputs[i].Type](shape)
	}
	return all, nil
}

// mostExtent is the maximum extent of --set. The product of three such extents does not overflow an int64.
const mostExtent = 1 << 20

// zeros maps the names of element types in scripts to functions that make arrays of zeros.
var zeros = map[string]func(shape []int) any{
	"bool": zerosOf[uint8], "u8": zerosOf[uint8], "i8": zerosOf[int8], "u16": zerosOf[uint16], "i16": zerosOf[int16], "f16": zerosOf[uint16], "bf16": zerosOf[uint16],
	"u32": zerosOf[uint32], "i32": zerosOf[int32], "u64": zerosOf[uint64], "i64": zerosOf[int64], "f32": zerosOf[float32], "f64": zerosOf[float64],
}

func zerosOf[T orepl.Element](shape []int) any {
	n := 1
	for _, extent := range shape {
		n = min(n*extent, 1<<28) // a run refuses the larger array, since its data does not fit its shape
	}
	return orepl.Array[T]{Data: make([]T, n), Shape: shape}
}

// runCheck implements orepl check.
func runCheck(inv *invocation) error {
	asJSON := inv.flags.Bool("json", false, "print JSON")
	set := settings{}
	inv.flags.Var(set, "set", "check with this value of an input or parameter, as in `NAME=2`; may be repeated")
	files, opts, err := inv.pipelineFiles("check")
	if err != nil {
		return err
	}
	rt := inv.open()
	var reports []checkReport
	failed := false
	for _, path := range files {
		kind, found := inv.checked(rt, path, opts, set)
		if inv.ctx.Err() != nil {
			return errors.Join(inv.ctx.Err(), rt.Shutdown(context.Background()))
		}
		failed = failed || len(found) > 0
		report := checkReport{path, kind, []problemReport{}}
		for _, d := range found {
			report.Problems = append(report.Problems, problemReport{d.File, d.Line, d.Column, d.ID, d.Message, d.Hint})
			if !*asJSON {
				diag.Print(inv.Stderr, d, inv.colors(inv.Stderr))
			}
		}
		reports = append(reports, report)
		switch {
		case *asJSON:
		case len(found) > 0:
			inv.printf(inv.Stdout, "%s: %s\n", path, spelling.Count(len(found), "problem"))
		default:
			inv.printf(inv.Stdout, "%s: %s, no problems\n", path, kind)
		}
	}
	if *asJSON {
		enc := json.NewEncoder(inv.Stdout)
		enc.SetIndent("", "  ")
		if err := enc.Encode(reports); err != nil {
			return err
		}
	}
	if err := rt.Shutdown(inv.ctx); err != nil {
		return err
	}
	if failed {
		return &exitError{ExitFailed}
	}
	return nil
}

// checked returns the kind of a script and its problems. The kind is "" for a script that does not load.
func (inv *invocation) checked(rt *orepl.Runtime, path string, opts orepl.EngineOptions, in settings) (kind string, found diag.List) {
	ctx, cancel := context.WithTimeout(bench.Listing(inv.ctx), max(opts.Limits.Time, checkTime))
	defer cancel()
	p, err := rt.LoadPipeline(ctx, path, orepl.PipelineOptions{Instances: 1, Engine: opts})
	if errors.Is(err, orepl.ErrNoPipeline) {
		return "script", nil
	}
	if err != nil {
		return "", diag.All(err)
	}
	data, err := in.data(p.Inputs())
	if err == nil {
		err = p.Check(ctx, data)
	}
	found = diag.All(err)
	if err := p.Close(); err != nil && len(found) == 0 {
		found = diag.All(err)
	}
	return "pipeline", found
}

// pipelineFiles parses the flags of commands that load scripts to look at them. It returns the scripts' files, and options with
// which scripts write no files and start no programs unless flags allow it.
func (inv *invocation) pipelineFiles(command string) ([]string, orepl.EngineOptions, error) {
	limits := inv.limits()
	files, err := inv.parseMixed()
	if err != nil {
		return nil, orepl.EngineOptions{}, err
	}
	usage := fmt.Sprintf("write: orepl %s FILE…", command)
	if len(files) == 0 {
		return nil, orepl.EngineOptions{}, &usageError{"the script's file is missing", usage}
	}
	for _, file := range files {
		if err := checkFile(file, usage); err != nil {
			return nil, orepl.EngineOptions{}, err
		}
	}
	opts, err := inv.harmless(command, limits)
	return files, opts, err
}

// harmless returns the options of engines whose scripts write nothing and start nothing unless flags allow it. Unless flags
// limit them, scripts read all files, load native code and run for at most checkTime.
func (inv *invocation) harmless(command string, limits *limitFlags) (orepl.EngineOptions, error) {
	o, err := limits.options(lang.Options{})
	if err != nil {
		return orepl.EngineOptions{}, err
	}
	if o.Policy.Write == nil {
		o.Policy.Write = func(string) error {
			return fmt.Errorf("orepl %s lets scripts write nothing; --allow-write names a directory", command)
		}
	}
	if o.Policy.Run == nil {
		o.Policy.Run = func(string) error {
			return fmt.Errorf("orepl %s lets scripts start nothing; --allow-run names a program", command)
		}
	}
	if o.Policy.Read == nil {
		o.Policy.Read = lang.AllowAll.Read
		if o.Policy.Native == nil { // setting Write alone would forbid it
			o.Policy.Native = lang.AllowAll.Native
		}
	}
	if o.Limits.Time == 0 {
		o.Limits.Time = checkTime
	}
	return orepl.EngineOptions{Stdout: inv.Stderr, Stderr: inv.Stderr, Env: inv.environ(), Limits: o.Limits, Policy: o.Policy}, nil
}

// runDescribe implements orepl describe.
func runDescribe(inv *invocation) error {
	form := inv.flags.String("format", "text", "write text, json-schema, markdown or typescript, the `kind` of description")
	files, opts, err := inv.pipelineFiles("describe")
	if err != nil {
		return err
	}
	write := map[string]func(*orepl.Pipeline) string{
		"text": (*orepl.Pipeline).Describe, "markdown": (*orepl.Pipeline).Markdown, "typescript": (*orepl.Pipeline).TypeScript,
		"json-schema": func(p *orepl.Pipeline) string { return string(p.Schema()) },
	}[*form]
	if write == nil {
		return &usageError{fmt.Sprintf("--format %s is none that orepl describe knows", *form), "write --format text, json-schema, markdown or typescript"}
	}
	rt := inv.open()
	var failed error
	for _, path := range files {
		p, err := rt.LoadPipeline(inv.ctx, path, orepl.PipelineOptions{Instances: 1, Engine: opts})
		if err != nil {
			failed = err
			break
		}
		inv.printf(inv.Stdout, "%s", write(p))
		if failed = p.Close(); failed != nil {
			break
		}
	}
	return errors.Join(failed, rt.Shutdown(inv.ctx))
}

// runTest implements orepl test.
func runTest(inv *invocation) error {
	update := inv.flags.Bool("update", false, "write the golden files instead of comparing with them")
	pattern := inv.flags.String("run", "", "run only the tests whose names match this regular `expression`")
	xml := inv.flags.String("junit", "", "write the results to this `file` in the XML format of JUnit")
	limits := inv.limits()
	paths, err := inv.parseMixed()
	if err != nil {
		return err
	}
	opts := orepl.TestOptions{Update: *update}
	if opts.Run, err = regexp.Compile(*pattern); err != nil {
		return &usageError{fmt.Sprintf("--run: %v", err), "write a regular expression of Go"}
	}
	files, err := testFiles(paths)
	if err != nil {
		return err
	}
	if opts.Engine, err = inv.harmless("test", limits); err != nil {
		return err
	}
	rt := inv.open()
	var all []junit.File
	passed, failed := 0, 0
	for _, file := range files {
		f := junit.File{Name: file}
		f.Results, f.Err = rt.Test(inv.ctx, file, opts)
		if inv.ctx.Err() != nil {
			return errors.Join(inv.ctx.Err(), rt.Shutdown(context.Background()))
		}
		ok, wrong := inv.printTests(&f)
		passed, failed = passed+ok, failed+wrong
		all = append(all, f)
	}
	inv.printf(inv.Stdout, "%d passed, %d failed\n", passed, failed)
	if *xml != "" {
		var text bytes.Buffer
		if err := errors.Join(junit.Write(&text, all), os.WriteFile(*xml, text.Bytes(), 0o666)); err != nil {
			return err
		}
	}
	if err := rt.Shutdown(inv.ctx); err != nil {
		return err
	}
	if failed > 0 {
		return &exitError{ExitFailed}
	}
	return nil
}

// testFiles returns the files to test: those named, and the files *.test.js and *.test.ts below the folders named. Without
// paths it searches the current folder. It is an error if there are none.
func testFiles(paths []string) (files []string, err error) {
	if len(paths) == 0 {
		paths = []string{"."}
	}
	for _, path := range paths {
		if info, err := os.Stat(path); err != nil || !info.IsDir() {
			if err := checkFile(path, "write: orepl test [FILE or FOLDER…]"); err != nil {
				return nil, err
			}
			files = append(files, path)
			continue
		}
		err := filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && (strings.HasSuffix(name, ".test.js") || strings.HasSuffix(name, ".test.ts")) {
				files = append(files, name)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	if len(files) == 0 {
		return nil, &usageError{"there are no files *.test.js or *.test.ts in " + strings.Join(paths, ", "), "docs/embedding.md#tests explains them"}
	}
	return files, nil
}

// printTests prints the results of a file and returns the numbers of tests that passed and failed. An error of the file itself
// counts as one failed test.
func (inv *invocation) printTests(f *junit.File) (passed, failed int) {
	inv.printf(inv.Stdout, "%s\n", f.Name)
	for _, r := range f.Results {
		word := "ok  "
		if r.Err != nil {
			word = "FAIL"
			failed++
		}
		inv.printf(inv.Stdout, "  %s  %s (%d ms)\n", word, r.Name, r.Duration.Milliseconds())
		for _, d := range diag.All(r.Err) {
			diag.Print(inv.Stderr, d, inv.colors(inv.Stderr))
		}
	}
	passed = len(f.Results) - failed
	if f.Err != nil {
		failed++
		for _, d := range diag.All(f.Err) {
			diag.Print(inv.Stderr, d, inv.colors(inv.Stderr))
		}
	}
	return passed, failed
}
