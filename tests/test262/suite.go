// Package test262 runs the tests of ECMAScript's committee, tc39/test262, in engines.
//
// # Design
//
// Scripts are module code, so a test runs as a module, and tests of sloppy code alone are left out. So are those of later
// editions' features that the engine lacks, of Annex B, of other realms and of agents. A test runs in an engine of its own,
// in a process that is started again if the test ends it. The harness runs before, as sloppy global code.
//
// known.txt lists the tests that fail, by reason. Any other failure fails [TestSuite].
package test262

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A test is a file of the suite with what its front matter says.
type test struct {
	path     string // below the checkout, with slashes
	flags    []string
	features []string
	includes []string
	phase    string // of the expected error: parse, resolution or runtime; else empty
	class    string // of the expected error
}

func (t *test) has(flag string) bool { return slices.Contains(t.flags, flag) }

// later names features of editions after ES2024 that the engine has.
var later = strings.Fields(`set-methods import-attributes json-modules explicit-resource-management Error.isError
	uint8array-base64 iterator-helpers promise-try regexp-modifiers error-stack-accessor`)

// lacking names features that are left out: proposals and later editions, Annex B, other realms, agents, tail calls.
var lacking = strings.Fields(`decorators source-phase-imports source-phase-imports-module-source import-defer export-defer
	import-text immutable-arraybuffer import-bytes nonextensible-applies-to-private await-dictionary
	Iterator.prototype.join Array.fromAsync Atomics.pause Float16Array iterator-chunking iterator-includes
	iterator-sequencing joint-iteration json-parse-with-source Math.sumPrecise regexp-duplicate-named-groups RegExp.escape
	upsert ShadowRealm Temporal canonical-tz legacy-regexp __getter__ __setter__ IsHTMLDDA cross-realm host-gc-required
	SharedArrayBuffer Atomics.waitAsync tail-call-optimization`)

// A set says to which part of the table a test belongs.
type set int

const (
	out    set = iota // left out
	es2024            // features up to ES2024
	newer             // features of later editions that the engine has
)

func (t *test) set() set {
	for _, f := range []string{"noStrict", "raw", "CanBlockIsFalse", "CanBlockIsTrue"} {
		if t.has(f) {
			return out
		}
	}
	if slices.Contains(t.includes, "atomicsHelper.js") || strings.Contains(t.path, "built-ins/Atomics/wait") ||
		strings.Contains(t.path, "built-ins/AbstractModuleSource") {
		return out
	}
	s := es2024
	for _, f := range t.features {
		switch {
		case slices.Contains(lacking, f), strings.HasPrefix(strings.ToLower(f), "intl"):
			return out
		case slices.Contains(later, f):
			s = newer
		}
	}
	return s
}

var front = regexp.MustCompile(`(?s)/\*---(.*?)---\*/`)

// parse reads the front matter of a test: YAML of a form that the suite prescribes.
func parse(path, text string) *test {
	t := &test{path: path}
	m := front.FindStringSubmatch(text)
	if m == nil {
		return t
	}
	key := ""
	add := func(items string) {
		for _, v := range strings.Split(strings.Trim(items, "[] "), ",") {
			v = strings.Trim(strings.TrimSpace(v), `"'`)
			if v == "" {
				continue
			}
			switch key {
			case "flags":
				t.flags = append(t.flags, v)
			case "features":
				t.features = append(t.features, v)
			case "includes":
				t.includes = append(t.includes, v)
			}
		}
	}
	for _, line := range strings.FieldsFunc(m[1], func(r rune) bool { return r == '\n' || r == '\r' }) {
		item := strings.TrimSpace(line)
		switch {
		case item == "" || item[0] == '#':
		case !strings.ContainsAny(line[:1], " \t-") && strings.Contains(line, ":"):
			k, rest, _ := strings.Cut(item, ":")
			if key = k; strings.HasPrefix(strings.TrimSpace(rest), "[") {
				add(rest)
			}
		case item[0] == '-':
			v, _, _ := strings.Cut(item[1:], " #")
			add(v)
		case key == "negative" && strings.HasPrefix(item, "phase:"):
			t.phase = strings.TrimSpace(item[len("phase:"):])
		case key == "negative" && strings.HasPrefix(item, "type:"):
			t.class = strings.TrimSpace(item[len("type:"):])
		case key == "flags" || key == "features" || key == "includes": // a list over several lines
			add(item)
		}
	}
	return t
}

// load returns the tests of a checkout that are not left out, in the order of their paths.
func load(root string) (tests []*test, err error) {
	for _, top := range []string{"test/built-ins", "test/language"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(p, ".js") || strings.Contains(p, "_FIXTURE") {
				return err
			}
			data, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			rel, err := filepath.Rel(root, p)
			if err != nil {
				return err
			}
			if t := parse(filepath.ToSlash(rel), string(data)); t.set() != out {
				tests = append(tests, t)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return tests, nil
}
