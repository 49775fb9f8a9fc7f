// Package testjs implements the module 'test', with which scripts test pipelines and other scripts.
package testjs

import (
	"time"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings"
	"github.com/orepl/orepl/lang"
)

// Suite collects the tests of a file, for a program that runs them.
type Suite struct {
	Dir    string // the folder of the file, which golden files are relative to
	Update bool   // write golden files instead of comparing with them
	Tests  []Test
}

// Test is a test that a file declares.
type Test struct {
	Name string
	Func goja.Callable
}

// Result is the end of a test.
type Result struct {
	Name     string
	Err      error // a diagnostic with the place in the script, or nil
	Duration time.Duration
}

// Module returns the module 'test'. Without a suite, a test runs when it is declared.
func Module(s *Suite) bindings.Module {
	return bindings.Module{
		Module:  lang.Module{Name: "test", Instantiate: func(e *lang.Engine) (*goja.Object, error) { return instantiate(e, s) }},
		Help:    "Tests of scripts and pipelines, which orepl test runs: assertions, golden files and stand-ins for the program's modules.",
		Entries: entries,
	}
}

func entries() []bindings.Entry {
	return []bindings.Entry{
		bindings.NewFunction("test", "Declares a test: a name and a function, which fails by an exception or a rejected promise. orepl test runs the tests of a file in order, after the file has run. In other scripts the test runs immediately, and the promise rejects if it fails.",
			"import { test, equal } from 'test'\nawait test('adds', () => { equal(1 + 1, 2) })", "(name: string, fn: () => unknown): Promise<void>"),
		bindings.NewFunction("equal", "Fails unless two values are equal in depth: numbers, texts, arrays, objects, maps, sets, dates. A typed array or a set equals an array of the same elements in order, and NaN equals NaN. Functions cannot be compared, nor different objects of modules such as buffers.",
			"import { equal } from 'test'\nequal(new Float32Array([1, 2]), [1, 2])", "(actual: unknown, expected: unknown): void"),
		bindings.NewFunction("near", "Fails unless numbers, or the numbers in equal structures, differ by at most a tolerance, 1e-6 if it is omitted. If the expected number's absolute value exceeds 1, the tolerance is relative to it.",
			"import { near } from 'test'\nnear([0.1 + 0.2], [0.3])", "(actual: unknown, expected: unknown, tolerance?: number): void"),
		bindings.NewFunction("throws", "Calls a function and returns a promise of the message of its exception, or of the rejection of the promise that it returns. Fails without an exception. If a text is passed, also fails unless the message contains the text or the error's code equals it.",
			"import { throws } from 'test'\nawait throws(() => { throw new RangeError('too wide') }, 'too wide')", "(fn: () => unknown, text?: string): Promise<string>"),
		bindings.NewFunction("golden", "Compares a value with a file in the folder of the test: a text with the file's text, anything else with its JSON. Numbers may differ by a tolerance, as for near, 0 if it is omitted. orepl test --update writes the files. Outside of orepl test it throws unsupported.",
			"", "(value: unknown, file: string, tolerance?: number): void"),
		bindings.NewFunction("run", "Runs a pipeline: the default export of a script. The inputs, which include the parameters, are numbers, BigInts, booleans, texts, typed arrays or arrays; arrays of two or three dimensions have the form { data, shape }. Returns a promise of the outputs: typed arrays, or arrays of records, with a property shape.",
			"import { run, equal } from 'test'\nimport { pipeline, kernel, f32 } from 'offload'\nconst twice = kernel((g, x, y) => { y[g.x] = 2 * x[g.x] })\nconst p = pipeline({\n  inputs: { x: [f32] }, outputs: { y: [f32, ({ x }) => x.shape] },\n  run({ x, y }) { twice.launch({ size: x.length }, x, y) },\n})\nconst { y } = await run(p, { x: [1, 2] })\nequal(y, [2, 4])",
			"(pipeline: import('offload').Pipeline, inputs: Record<string, unknown>): Promise<Record<string, any>>"),
		bindings.NewFunction("fake", "Replaces the exports of a module by those of an object, for imports after the call. A module that is already in use is an error. fake is for tests of scripts that import a module of the program; load such scripts by import().",
			"import { fake } from 'test'\nfake('album', { photos: () => ['a.png'] })", "(name: string, exports: object): void"),
	}
}

func instantiate(e *lang.Engine, s *Suite) (*goja.Object, error) {
	x := bindings.NewExports(e)
	m := &module{e, s, map[any]bool{}}
	x.Add("test", m.test)
	x.Add("equal", m.equal)
	x.Add("near", m.near)
	x.AddAsync("throws", m.throws)
	x.Add("golden", m.golden)
	x.AddAsync("run", m.run)
	x.Add("fake", m.fake)
	return x.Done()
}

// module is the module in one engine.
type module struct {
	*lang.Engine
	suite   *Suite
	running map[any]bool // pipelines
}

func (m *module) test(call goja.FunctionCall) (goja.Value, error) {
	a := m.Args("test", call)
	name, fn := a.String(0, "name"), a.Function(1, "fn")
	if a.Err() != nil {
		return nil, a.Err()
	}
	if m.suite != nil {
		m.suite.Tests = append(m.suite.Tests, Test{name, fn})
		return goja.Undefined(), nil
	}
	promise, settle := m.Promise("the test " + name)
	v, err := fn(goja.Undefined())
	if err != nil {
		settle.Reject(err)
		return promise, nil
	}
	m.Settled(v, func(err error) {
		if err != nil {
			settle.Reject(err)
			return
		}
		settle.Resolve(nil)
	})
	return promise, nil
}

func (m *module) fake(call goja.FunctionCall) (goja.Value, error) {
	a := m.Args("fake", call)
	name, exports := a.String(0, "name"), a.Object(1, "exports")
	if a.Err() != nil {
		return nil, a.Err()
	}
	return goja.Undefined(), m.Stand(name, exports)
}
