package habits

import (
	"github.com/orepl/orepl/lang/later"
)

// Habit is the hint for a name from another system. It applies only if the builtin module exists; an empty module means always.
type Habit struct{ Module, Hint string }

// NodeModules maps Node modules to their equivalents here.
var NodeModules = later.Value[map[string]Habit]{Make: func() map[string]Habit {
	return map[string]Habit{
		"assert":         {"", "write: if (!condition) throw new Error('…')"},
		"buffer":         {"fs", "bytes are a Uint8Array, as fs.readBytes gives"},
		"child_process":  {"process", "process.run(program, args) starts programs; process is global"},
		"console":        {"console", "console is global"},
		"crypto":         {"web", "crypto.getRandomValues is global"},
		"events":         {"", "keep the functions in an array, and call each: for (const f of listeners) f(value)"},
		"http":           {"", noNetwork},
		"https":          {"", noNetwork},
		"net":            {"", noNetwork},
		"module":         {"", "import(path) loads a module when it is needed"},
		"os":             {"process", "process.platform and process.arch name the system; process is global"},
		"path":           {"", "paths are text, as in import.meta.dirname + '/data.csv'"},
		"perf_hooks":     {"web", "performance is global"},
		"readline":       {"process", "process.stdin.lines() iterates over lines; process is global"},
		"url":            {"web", "URL and URLSearchParams are global"},
		"util":           {"console", "console.log prints any value, and structuredClone copies it; both are global"},
		"worker_threads": {"offload", "what runs in parallel is a kernel, as in kernel((g, x) => { x[g.x] = … })"},
	}
}}

const noNetwork = "scripts open no connections: process.run(program, args) starts a program such as curl"

// Names maps functions and globals of Node, of other kernel languages and of other ECMAScript engines to their
// equivalents.
var Names = later.Value[map[string]Habit]{Make: func() map[string]Habit {
	return map[string]Habit{
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
		"fetch":         {"process", noNetwork},
		"WebSocket":     {"process", noNetwork},
		"Worker":        {"offload", "what runs in parallel is a kernel, as in kernel((g, x) => { x[g.x] = … })"},
		"alert":         {"console", "write console.log(…)"},
		"document":      {"", "there is no page: scripts print, plot and write files"},
		"promises":      {"fs", "the functions of fs return promises themselves: await fs.readText(path)"},
		"nextTick":      {"", "write queueMicrotask(f)"},
		"execSync":      {"process", "write: await process.run(program, args)"},
		"spawn":         {"process", "write: process.run(program, args)"},
		"spawnSync":     {"process", "write: await process.run(program, args)"},

		"bits":     {"offload", "it exists in kernels only; on the host a DataView reads the bits of a number"},
		"fromBits": {"offload", "it exists in kernels only; on the host a DataView writes the bits of a number"},

		"Intl":              {"", "this JavaScript has no Intl: numbers and dates print in one form"},
		"SharedArrayBuffer": {"", "this JavaScript has no SharedArrayBuffer: scripts run on one thread, kernels on many"},
		"Float16Array":      {"", "this JavaScript has no Float16Array; buffers of f16 take and give Float32Array"},
		"Temporal":          {"", "this JavaScript has no Temporal; Date and performance.now() tell the time"},
	}
}}

// Types maps names of element types in other languages to the names here.
var Types = later.Value[map[string]string]{Make: func() map[string]string {
	return map[string]string{
		"float": "f32", "float32": "f32", "single": "f32", "fp32": "f32", "Float32Array": "f32", "double": "f64", "float64": "f64", "fp64": "f64",
		"half": "f16", "float16": "f16", "fp16": "f16", "bfloat16": "bf16", "int": "i32", "int32": "i32", "uint": "u32", "uint32": "u32", "long": "i64", "int64": "i64",
		"ulong": "u64", "uint64": "u64", "short": "i16", "int16": "i16", "ushort": "u16", "uint16": "u16", "int8": "i8", "byte": "u8", "uint8": "u8", "boolean": "bool",
	}
}}
