// Package orepltest runs tests of scripts, files *.test.js that use the module 'test', as tests of Go.
package orepltest

import (
	"path/filepath"
	"testing"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/lang/diag"
)

// Run runs each file that matches a pattern of [filepath.Glob] as a subtest, and each of its tests as a subtest of that. The
// options may offer the modules of the program. No match fails the test.
func Run(t *testing.T, rt *orepl.Runtime, pattern string, opts orepl.TestOptions) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no file matches %s: %v", pattern, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			results, err := rt.Test(t.Context(), file, opts)
			for _, r := range results {
				t.Run(r.Name, func(t *testing.T) { report(t, r.Err) })
			}
			report(t, err)
		})
	}
}

// report fails a test with each of the errors in err.
func report(t *testing.T, err error) {
	t.Helper()
	for _, d := range diag.All(err) {
		t.Error("\n" + diag.Format(d, false))
	}
}
