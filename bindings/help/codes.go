package help

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Code documents an error code. Messages end with their code in brackets.
type Code struct {
	ID      string
	Meaning string
	Causes  []string // common causes
	Do      string
}

// Codes returns all codes in the order of the manual.
func Codes() []Code { return slices.Clone(codes) }

// lookupCode returns the entry of a code, which may be in brackets, or false if there is none.
func lookupCode(name string) (Code, bool) {
	name = strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")
	i := slices.IndexFunc(codes, func(c Code) bool { return c.ID == name })
	if i < 0 {
		return Code{}, false
	}
	return codes[i], true
}

func writeCode(w io.Writer, c Code) {
	fmt.Fprintf(w, "%s, an error code at run time\n  %s\n", c.ID, c.Meaning)
	if len(c.Causes) > 0 {
		fmt.Fprintln(w, "\nCommon causes:")
		for _, cause := range c.Causes {
			fmt.Fprintf(w, "  - %s\n", cause)
		}
	}
	fmt.Fprintf(w, "\nWhat to do:\n  %s\n", c.Do)
}

// ErrorsPage returns the documentation page of error codes in Markdown.
func ErrorsPage() string {
	var b strings.Builder
	b.WriteString(`# Error codes

An error at run time ends with its code in brackets: ` + "`index 10 is outside x … [out-of-bounds]`" + `. Scripts find it as ` + "`error.code`" + `, Go
programs by ` + "`diag.Code(err)`" + `. ` + "`orepl help out-of-bounds`" + ` and, at the prompt, ` + "`?out-of-bounds`" + ` print the entries of this page. The kernel
compiler's diagnostics are in [diagnostics.md](diagnostics.md).

A test generates this page: ` + "`OREPL_UPDATE=1 go test ./bindings/help`" + `.
`)
	for _, c := range codes {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", c.ID, c.Meaning)
		if len(c.Causes) > 0 {
			b.WriteString("\nCommon causes:\n\n")
			for _, cause := range c.Causes {
				fmt.Fprintf(&b, "- %s\n", cause)
			}
		}
		fmt.Fprintf(&b, "\nWhat to do: %s\n", c.Do)
	}
	return b.String()
}

var codes = []Code{
	// Faults in kernels.
	{"out-of-bounds", "A work-item of a kernel accessed an array out of bounds. The access ended the work-item and failed the launch.",
		[]string{"the launch has more work-items than the buffer has elements", "a neighbour at the edge, as in `x[g.x + 1]`", "`size: m.shape`, which swaps the axes: the size of a launch has x first, a shape has the outermost extent first"},
		"guard the access, as in `if (g.x < x.length) …`, or launch fewer work-items; `size: m` launches one work-item per element of m. k.debug shows the steps of a work-item."},
	{"division-by-zero", "A kernel divided an integer by zero, with / or %.",
		[]string{"a count or stride that is 0 in some work-items"},
		"test the divisor first, or divide floats, which returns Infinity or NaN."},
	{"assertion", "The condition of a g.assert in a kernel was false, or a comparison of the module 'test' failed.", nil,
		"read the message. For a kernel k, k.debug({ item: [x, y, z], size: … }, …) shows the steps of the work-item; the message of a test has the first difference."},
	{"overflow", "A launch with checks: 'overflow' computed an integer outside the range of its type, where a JavaScript number would not wrap.",
		[]string{"a product of coordinates, as in `g.x * g.x`", "a sum that starts as an integer, as in `let s = 0`, and is stored as a float"},
		"convert an operand, as in `f64(g.x) * g.x`, or start with `let s = f64(0)`; write `(…) | 0` or Math.imul where wrapping is intended."},
	{"divergence", "The argument of g.uniform differed between work-items of a group.",
		[]string{"a value that depends on g.x, g.local or data of the work-item"},
		"remove g.uniform, and move barriers out of the code that depends on the value."},
	{"race", "A launch with checks: 'races' found unordered accesses of two work-items to one element, at least one of them a write.",
		[]string{"a sum into one element without Atomics", "a read of a shared array without a barrier after the write"},
		"let one work-item do the access, use Atomics, or put g.barrier() between the accesses. The barrier orders the work-items of one group only; for those of different groups use a second launch. The check does not take g.fence() into account."},
	{"uninitialized", "A launch with checks: 'races' found a read of an element of a shared array that no work-item had written.",
		[]string{"a partial last group, because the size of the launch is not a multiple of groupSize"},
		"write the element before the barrier, or launch with { groups, groupSize } and compare g.x with the length."},
	{"compile-error", "The compiler of a device rejected a kernel.",
		[]string{"an image of another compiler that the device cannot translate"},
		"read the compiler's message in the error. Errors in kernels of scripts have other codes; see diagnostics.md."},

	// Errors of launches, buffers and queues.
	{"invalid-argument", "A function was called with an invalid argument or option.",
		[]string{"a misspelled option", "launch arguments in another order than the kernel's parameters", "a typed array instead of a buffer"},
		"compare the call with the function's help; the hint states the expected argument."},
	{"invalid-size", "A size, extent or range is negative, too large, or out of a buffer's bounds.",
		[]string{"a read or copy beyond the end of a buffer", "an extent above 2³¹−1", "the shape of a buffer as the size of a launch, which has x first"},
		"compare it with the buffer's .shape and .length, or device().limits."},
	{"invalid-device", "An object belongs to another device or session than the call.",
		[]string{"buffers of two devices in one launch", "a queue of another device"},
		"copy the buffer with copyTo, or create all objects on one device."},
	{"invalid-queue", "The operation does not apply to the queue: the queue belongs to another device than the kernel or the buffer, or it is a default queue, which cannot be closed.", nil,
		"close only queues from createQueue, and use a queue only with its own device."},
	{"invalid-event", "The operation does not apply to the event.",
		[]string{"elapsedSince of events that are not both done, or of two devices", "a wait for an event of another session"},
		"for elapsedSince await both events first, and use events of one device. Wait for events of the same session only."},
	{"invalid-binary", "A device image or a recording is corrupt, or has an unknown format.",
		[]string{"a file in another format than offload binary, ELF, PTX, cubin, fat binary, SPIR-V, LLVM bitcode, OpenCL C, kernel IR or an ar archive of these", "a file that was not copied to its end"},
		"rebuild the image with its compiler, or record again."},
	{"invalid-image", "A picture could not be decoded.", []string{"a format other than PNG and JPEG", "a truncated file", "more than 2²⁸ pixels"},
		"convert the file to PNG or JPEG, or divide it into smaller pictures."},
	{"invalid-file", "A file does not have the expected format.",
		[]string{"a CSV column with numbers in the first row and text in another", "an NPY file of objects"},
		"see the line or column in the message; the option types of readCSV sets the types of columns."},
	{"invalid-url", "A text is not an absolute URL.", nil, "start with the scheme, as in https://, or pass a base as the second argument."},
	{"symbol-kind", "A name in an image denotes another kind of symbol: a variable instead of a kernel, or a kernel instead of a variable.", nil,
		"library.kernels lists the kernels; library.global(name) returns a variable."},
	{"not-found", "A file, module, device, kernel, service or name does not exist.",
		[]string{"a misspelled name", "a path relative to another directory", "an unavailable plugin: platforms() returns the reason"},
		"check the name in the message. Paths of imports are relative to the file that has the import, all others to the working directory of the script."},
	{"unsupported", "The device, or orepl, does not support the operation.", []string{"f64 or 64-bit atomics on a device without them", "a kernel on a device whose arithmetic is not exact", "an image in a format that the device does not load"},
		"see device().features for the optional features of a device. kernel(fn, { exact: false }) accepts arithmetic that is not exact."},
	{"unimplemented", "The plugin does not implement the operation yet.", nil, "use another device or another operation."},
	{"out-of-resources", "The device lacks memory or other resources, or a limit has been reached, such as one of memory, launches or the output of a program.",
		[]string{"buffers that are never freed", "a limit of the host program or of orepl run"},
		"free unused buffers (live() lists them), process smaller pieces, or raise the limit."},
	{"closed", "An object was used after it was freed or closed.",
		[]string{"a using declaration that went out of scope", "free() before a later launch"},
		"free or close the object later, or create another one."},
	{"timeout", "An operation exceeded its time limit: the timeout of a launch or program, the deadline of a service, or the time limit of a script.", nil,
		"raise the limit, or do less work per operation."},
	{"cancelled", "An operation was stopped before its end: by Ctrl-C, an AbortSignal, or a context of the host program.",
		[]string{"a failure elsewhere in the script, after which its pending commands are dropped"},
		"nothing, if it was intended. Earlier commands may have taken effect."},
	{"interrupted", "Ctrl-C stopped a script or command of orepl, or the running input of the prompt.", nil, "nothing. At the prompt, variables and buffers stay usable."},
	{"device-lost", "The device no longer responds.", []string{"a reset of the driver", "a removed device", "a worker process that ended"},
		"run the script again; the contents of the device's buffers are lost."},
	{"backend-failure", "The driver or plugin of a device failed, or a service threw an exception.", nil,
		"read the text of the driver or the exception in the message. If a kernel of a script failed on the CPU, please report a defect."},
	{"host-io", "The runtime could not read or write a file, such as an image or a recording.", []string{"a directory or a pipe instead of a file", "a file that became shorter while it was read"},
		"see the system's error in the message."},
	{"host-tool-not-found", "A library or program of the system that an image or a device needs was not found.", []string{"an image with OpenMP regions without LLVM's library libomp"},
		"install it. A library must be known to the loader, as by LD_LIBRARY_PATH, and a program's directory must be in PATH."},
	{"assemble-failure", "The assembler that a plugin uses rejected its input.", nil, "report the message, if the kernel belongs to a script."},
	{"link-failure", "The system's loader, or the linker of a device, refused an image.", []string{"a symbol that no image or library defines"}, "link the image with all that it needs, or install the missing library."},

	// Errors of the script.
	{"syntax", "A text is not valid: the source of a script, JSON, or a regular expression.", []string{"a typing error", "a file that is not UTF-8"}, "check the marked position and the text just before it."},
	{"syntax-incomplete", "The source ends inside a bracket, string or comment.", nil, "close it; at the prompt, continue on the next line."},
	{"error", "The error has no code of its own, such as one of the operating system. Only spans and metrics of a Go program show this code.",
		nil,
		"read the error's message."},
	{"exception", "The script threw an exception without a code of its own: an Error, such as a TypeError, or another value. Only Go programs see this code.", nil,
		"read the message and the place. If the value was no Error, throw new Error('…') instead, which records the position and the call stack."},
	{"never-settles", "The script awaits a promise that can no longer settle.", []string{"a promise whose resolve is never called", "a promise that only a timer after unref would settle"},
		"settle the promise in every branch."},
	{"import-ring", "A module awaits, at its top level, the import of a module that waits for the first one.", nil, "move the shared code to a third module, or import without await, as in import('./file.js').then(…)."},
	{"stack-overflow", "Calls or values are nested too deeply.", []string{"an endless recursion", "data that is nested thousands deep, as for JSON.stringify"},
		"use a loop, or limit the depth."},
	{"out-of-memory", "The script needs more memory than its limit or the machine allows.", []string{"an array of JavaScript values for the data of a device"},
		"keep data in typed arrays and buffers, read in parts, or raise the limit."},
	{"permission-denied", "The script is not permitted to access the file or device, start the program, run native code, or read standard input.", []string{"the permissions of the file", "the policy of the host program, or the flags --allow-read, --allow-write, --allow-run and --allow-native"},
		"change the file's permissions, or run the script with the required permission."},
	{"io-error", "The system could not read, write or remove a file, or start a program.", []string{"a full disk", "a directory instead of a file", "a directory that is not empty, for remove without recursive"}, "see the system's error in the message."},
	{"reentrant", "A Go function called by a script called the script's engine, which would deadlock.", nil,
		"call functions that were passed as arguments, or use another engine."},
	{"crashed", "The process of an isolated engine ended unexpectedly.", []string{"lack of memory", "a signal"}, "make a new engine, which starts another process, and pass less data per call; pipelines replace the process themselves."},
	{"internal", "A defect in orepl or in the host program.", nil, "please report it with the script."},
}
