package lang

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// A habit is a name from another system with a hint to its equivalent here. The hint applies only if the builtin module exists;
// an empty module means always.
type habit struct{ module, hint string }

// nodeModules maps Node modules to their equivalents here.
var nodeModules = sync.OnceValue(func() map[string]habit {
	return map[string]habit{
		"assert":         {"", "write: if (!condition) throw new Error('…')"},
		"buffer":         {"fs", "bytes are a Uint8Array, as fs.readBytes gives"},
		"child_process":  {"process", "process.run(program, args) starts programs; process is global"},
		"console":        {"console", "console is global"},
		"crypto":         {"web", "crypto.getRandomValues is global"},
		"module":         {"", "import(path) loads a module when it is needed"},
		"os":             {"process", "process.platform and process.arch name the system; process is global"},
		"path":           {"", "paths are text, as in import.meta.dirname + '/data.csv'"},
		"perf_hooks":     {"web", "performance is global"},
		"url":            {"web", "URL and URLSearchParams are global"},
		"util":           {"console", "console.log prints any value, and structuredClone copies it; both are global"},
		"worker_threads": {"offload", "what runs in parallel is a kernel, as in kernel((g, x) => { x[g.x] = … })"},
	}
})

// foreignNames maps functions and globals of Node, of other kernel languages and of other ECMAScript engines to their
// equivalents.
var foreignNames = sync.OnceValue(func() map[string]habit {
	return map[string]habit{
		"require":       {"", "write: import name from 'module'"},
		"module":        {"", "write export before what other files may import"},
		"exports":       {"", "write export before what other files may import"},
		"__dirname":     {"", "write import.meta.dirname"},
		"__filename":    {"", "write import.meta.filename"},
		"global":        {"", "write globalThis"},
		"window":        {"", "write globalThis"},
		"Buffer":        {"", "bytes are a Uint8Array; a device's buffer is made by device().buffer(f32, n)"},
		"readFile":      {"fs", "readText gives text and readBytes bytes; import them from 'fs'"},
		"readFileSync":  {"fs", "readTextSync gives text and readBytesSync bytes; import them from 'fs'"},
		"writeFile":     {"fs", "writeText takes text and writeBytes bytes; import them from 'fs'"},
		"writeFileSync": {"fs", "writeTextSync takes text and writeBytesSync bytes; import them from 'fs'"},
		"appendFile":    {"fs", "it is called appendText; import it from 'fs'"},
		"readdir":       {"fs", "it is called list; import it from 'fs'"},
		"readdirSync":   {"fs", "it is called listSync; import it from 'fs'"},
		"unlink":        {"fs", "it is called remove; import it from 'fs'"},
		"unlinkSync":    {"fs", "it is called removeSync; import it from 'fs'"},
		"rm":            {"fs", "it is called remove; import it from 'fs'"},
		"rmSync":        {"fs", "it is called removeSync; import it from 'fs'"},
		"execSync":      {"process", "write: await process.run(program, args)"},
		"spawn":         {"process", "write: process.run(program, args)"},
		"spawnSync":     {"process", "write: await process.run(program, args)"},

		"Atomics":  {"offload", "it exists in kernels only"},
		"bits":     {"offload", "it exists in kernels only; on the host a DataView reads the bits of a number"},
		"fromBits": {"offload", "it exists in kernels only; on the host a DataView writes the bits of a number"},

		"Intl":                 {"", "this JavaScript has no Intl: numbers and dates print in one form"},
		"WeakRef":              {"", "this JavaScript has no WeakRef; a WeakMap keeps data for objects"},
		"FinalizationRegistry": {"", "this JavaScript has no FinalizationRegistry; using frees at the end of a block"},
		"SharedArrayBuffer":    {"", "this JavaScript has no SharedArrayBuffer: scripts run on one thread, kernels on many"},
		"Iterator":             {"", "this JavaScript has no Iterator; spread into an array first: [...iterator].map(f)"},
		"Float16Array":         {"", "this JavaScript has no Float16Array; buffers of f16 take and give Float32Array"},
		"DisposableStack":      {"", "this JavaScript has no DisposableStack; using frees at the end of a block"},
		"Temporal":             {"", "this JavaScript has no Temporal; Date and performance.now() tell the time"},
	}
})

// foreignTypes maps names of element types in other languages to the names here.
var foreignTypes = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"float": "f32", "float32": "f32", "single": "f32", "fp32": "f32", "Float32Array": "f32", "double": "f64", "float64": "f64", "fp64": "f64",
		"half": "f16", "float16": "f16", "fp16": "f16", "bfloat16": "bf16", "int": "i32", "int32": "i32", "uint": "u32", "uint32": "u32", "long": "i64", "int64": "i64",
		"ulong": "u64", "uint64": "u64", "short": "i16", "int16": "i16", "ushort": "u16", "uint16": "u16", "int8": "i8", "byte": "u8", "uint8": "u8", "boolean": "bool",
	}
})

// ForeignType returns the element type for its name in another language, such as f32 for "float", and "" for other names.
func ForeignType(name string) string { return foreignTypes()[name] }

// typeHabit returns a hint that names the element type, or "".
func (e *Engine) typeHabit(name string) string {
	if own := ForeignType(name); own != "" && e.esm.builtins["offload"] != nil {
		return fmt.Sprintf("the type is called %s: import { %[1]s } from 'offload'", own)
	}
	return ""
}

// A maker is a pattern of expressions whose value has a class of the module 'offload'.
type maker struct {
	made  *regexp.Regexp
	class string
}

// makers are tried in order, because the arguments of a launch may create a buffer.
var makers = sync.OnceValue(func() (list []maker) {
	for _, m := range [][2]string{
		{`^[\p{L}\w$.]*\.(?:launch|record)\(`, "Event"}, {`^[\p{L}\w$.]*\.bind\(`, "BoundLaunch"}, {`^(?:offload\.)?pool\(`, "Pool"}, {`^(?:offload\.)?kernel\(`, "Kernel"}, {`\.createQueue\([^()]*\)$|\.queue$`, "Queue"},
		{`\.(?:buffer|view)\((?:[^()]|\([^()]*\))*\)(?:\.(?:fill|write)\((?:[^()]|\([^()]*\))*\))?$`, "Buffer"}, {`^(?:offload\.)?(?:device\([^()]*\)|devices\(\)\[\d+\])$`, "Device"},
	} {
		list = append(list, maker{regexp.MustCompile(m[0]), m[1]})
	}
	return list
})

// givesPromise matches calls of methods that return promises.
var givesPromise = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\.(?:read|readRect|readText|readJSON|readBytes|readCSV|readNPY|readImage|sync|unregister)\([^()]*\)$`)
})

// moduleHabit returns the hint for a Node module, or "".
func (e *Engine) moduleHabit(specifier string) string {
	name := strings.TrimPrefix(specifier, "node:")
	first, _, _ := strings.Cut(name, "/")
	if e.esm.builtins[first] != nil && first != specifier {
		return fmt.Sprintf("write '%s', without the rest; help('%[1]s') lists its names, which are not all those of Node", first)
	}
	if hint := e.habit(nodeModules(), first); hint != "" {
		return hint
	}
	if name != specifier {
		return "this is no Node: the modules are " + strings.Join(e.ModuleNames(), ", ")
	}
	return ""
}

// nameHabit returns the hint for a foreign name, or "".
func (e *Engine) nameHabit(name string) string { return e.habit(foreignNames(), name) }

func (e *Engine) habit(table map[string]habit, name string) string {
	h, known := table[name]
	if !known || h.module != "" && e.esm.builtins[h.module] == nil {
		return ""
	}
	return h.hint
}

// importOf returns the import statement that declares a name, or "".
func (e *Engine) importOf(name string) string {
	for _, module := range e.ModuleNames() {
		b := e.esm.builtins[module]
		switch {
		case slices.Contains(b.Names, name), b.exports != nil && b.exports.Get(name) != nil:
			return fmt.Sprintf("import { %s } from '%s'", name, module)
		case module == name:
			return fmt.Sprintf("import %s from '%[1]s'", name)
		}
	}
	return ""
}
