package orepl

import (
	"context"
	"errors"
	"path/filepath"
	"regexp"
	"sync"
	"time"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/testjs"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
)

// TestOptions are the options of [Runtime.Test].
type TestOptions struct {
	Engine EngineOptions  // options of the file's engine, which may read all files unless Policy.Read is set; Limits.Time bounds each test
	Run    *regexp.Regexp // the names of the tests to run; nil: all
	Update bool           // write golden files instead of comparing with them
}

// TestResult is the result of a test: its name, its error or nil, and its duration.
type TestResult = testjs.Result

// ErrNoTests is the error of [Runtime.Test] for a file that declares no test. [errors.Is] finds it.
var ErrNoTests = errors.New("the file declares no test")

// Test runs a script that declares tests with the module 'test', and then the tests, in order and in one engine. A test fails
// with a diagnostic that has the place in the script. When ctx ends, the current test fails, and later ones do not run. The error
// is that of the options, of the script itself, of ctx if tests did not run, of closing the engine, or [ErrNoTests].
func (r *Runtime) Test(ctx context.Context, path string, opts TestOptions) ([]TestResult, error) {
	if err := r.usable(ctx); err != nil {
		return nil, err
	}
	suite := &testjs.Suite{Dir: filepath.Dir(path), Update: opts.Update}
	opts.Engine.suite = suite
	if opts.Engine.Policy.Read == nil && opts.Engine.Files == nil {
		opts.Engine.Policy.Read = lang.AllowAll.Read
	}
	var mu sync.Mutex
	var stray []error // errors outside of the running test's promise, such as unhandled rejections
	report := opts.Engine.OnError
	opts.Engine.OnError = func(err error) {
		mu.Lock()
		stray = append(stray, err)
		mu.Unlock()
		if report != nil {
			report(err)
		}
	}
	e, err := r.Engine(opts.Engine)
	if err != nil {
		return nil, err
	}
	if _, err := e.RunFile(ctx, path); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	var results []TestResult
	var left error // the reason for which tests did not run
	for i := 0; i < len(suite.Tests); i++ {
		test := suite.Tests[i] // it may declare more
		if opts.Run != nil && !opts.Run.MatchString(test.Name) {
			continue
		}
		if ctx.Err() != nil {
			left = diag.New("cancelled", "%s: the run was stopped before the test %q", path, test.Name)
			left.(*diag.Diagnostic).Cause = context.Cause(ctx)
			break
		}
		start := time.Now()
		_, err := e.lang.Await(ctx, func(*goja.Runtime) (goja.Value, error) { return test.Func(goja.Undefined()) })
		_ = e.lang.Do(ctx, func(*goja.Runtime) error { return nil }) // runs what the test left ready, such as a rejection
		mu.Lock()
		if err == nil {
			err = diag.All(errors.Join(stray...)).Err()
		}
		stray = nil
		mu.Unlock()
		results = append(results, TestResult{Name: test.Name, Err: err, Duration: time.Since(start)})
	}
	err = errors.Join(left, e.Close())
	if len(suite.Tests) == 0 && err == nil {
		err = diag.New("invalid-argument", "%s: %v", path, ErrNoTests).WithHint("write: import { test } from 'test', and test('…', () => { … })")
		err.(*diag.Diagnostic).Cause = ErrNoTests
	}
	return results, err
}
