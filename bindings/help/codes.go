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

// lookupCode returns the entry of a code, which may be in brackets.
func lookupCode(name string) (Code, bool) {
	name = strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")
	i := slices.IndexFunc(codes, func(c Code) bool { return c.ID == name })
	if i < 0 {
		return Code{}, false
	}
	return codes[i], true
}

func writeCode(w io.Writer, c Code) {
	fmt.Fprintf(w, "%s, a code of errors at run time\n  %s\n", c.ID, c.Meaning)
	if len(c.Causes) > 0 {
		fmt.Fprintln(w, "\nUsual causes:")
		for _, cause := range c.Causes {
			fmt.Fprintf(w, "  - %s\n", cause)
		}
	}
	fmt.Fprintf(w, "\nWhat to do:\n  %s\n", c.Do)
}

// ErrorsPage returns the documentation page of error codes in Markdown.
func ErrorsPage() string {
	var b strings.Builder
	b.WriteString(`# Codes of errors

An error at run time ends with its code in brackets: ` + "`index 10 is outside x … [out-of-bounds]`" + `. Scripts find it as ` + "`error.code`" + `, Go
programs by ` + "`diag.Code(err)`" + `. ` + "`orepl help out-of-bounds`" + ` and, at the prompt, ` + "`?out-of-bounds`" + ` print what stands here. What the kernel
compiler says is in [diagnostics.md](diagnostics.md).

This page is written by a test: ` + "`OREPL_UPDATE=1 go test ./bindings/help`" + `.
`)
	for _, c := range codes {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", c.ID, c.Meaning)
		if len(c.Causes) > 0 {
			b.WriteString("\nUsual causes:\n\n")
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
	{"out-of-bounds", "A kernel's access left its array. The work-item ended there; the launch failed.",
		[]string{"the launch has more work-items than the buffer has elements", "a neighbour at the edge, as in `x[g.x + 1]`", "the size of a launch goes x first, a shape outermost first: `size: m.shape` swaps them"},
		"guard the access, as in `if (g.x < x.length) …`, or launch fewer work-items; `size: m` means an item for each element of m. k.debug shows how an item came there."},
	{"division-by-zero", "A kernel divided an integer by zero, with / or %.",
		[]string{"a count or stride that is 0 for some items"},
		"test the divisor before, or divide floats, which gives Infinity or NaN."},
	{"assertion", "A g.assert in a kernel did not hold.", nil,
		"read its message; k.debug({ item: [x, y, z], size: … }, …) shows how the work-item came there."},
	{"overflow", "A launch with checks: 'overflow' computed an integer that is beyond its type, where JavaScript goes on with the greater number.",
		[]string{"a product of coordinates, as in `g.x * g.x`", "a sum that began with an integer, as in `let s = 0`, and is stored as a float"},
		"convert an operand, as in `f64(g.x) * g.x`, or begin with `let s = f64(0)`; write `(…) | 0` or Math.imul where it is to wrap."},
	{"divergence", "A value in g.uniform was not the same for all work-items of a group.",
		[]string{"it depends on g.x, g.local or data that differs from item to item"},
		"leave g.uniform out and put barriers outside of what depends on the value."},
	{"race", "checks: 'races' found two work-items that access one element, one of them writing, with nothing that orders them.",
		[]string{"a sum into one element without Atomics", "a shared array that is read before a barrier"},
		"let one item do it, use Atomics, or put g.barrier() between the accesses; items of different groups are ordered by a second launch only."},
	{"uninitialized", "checks: 'races' found a read of a shared array's element that no work-item had written.",
		[]string{"the last group is ragged: the launch's size is no multiple of its groupSize"},
		"write the element before the barrier, or launch with { groups, groupSize } and compare g.x with the length."},
	{"compile-error", "A kernel was refused by the compiler of a device.",
		[]string{"an image of another compiler that the device cannot translate"},
		"read the message of the compiler, which follows. Mistakes in a script's own kernels have codes of their own: see diagnostics.md."},

	// Errors of launches, buffers and queues.
	{"invalid-argument", "A function was called with something that it does not take.",
		[]string{"a misspelt option", "arguments of a launch in another order than the kernel's parameters", "a typed array where a buffer is needed"},
		"compare the call with help of the function; the hint says what was expected."},
	{"invalid-size", "A size, extent or range does not fit: it is negative, too large, or beyond a buffer.",
		[]string{"a read or copy beyond the end of a buffer", "a dimension beyond 2³¹−1", "the shape of a buffer as the size of a launch, which goes x first"},
		"compare it with the buffer's .shape and .length, or device().limits."},
	{"invalid-device", "An object belongs to another device or session than the call is for.",
		[]string{"buffers of two devices in one launch", "a queue of another device"},
		"copy the buffer with copyTo, or make all of them on one device."},
	{"invalid-queue", "A queue cannot do this: it is of another device, or the default queue, which is not closed.", nil,
		"close only what createQueue made, and use it on its own device."},
	{"invalid-event", "An event cannot be used like this.",
		[]string{"elapsedSince of an event that was not reached yet", "events of two devices"},
		"await both events first, and compare events of one device."},
	{"invalid-binary", "An image is damaged, or of a version that is not known.",
		[]string{"a file that is no offload binary, ELF object, PTX, cubin, SPIR-V or kernel IR"},
		"build it again with the compiler that made it."},
	{"invalid-image", "A picture cannot be read.", []string{"a format other than PNG and JPEG", "a file that was cut off"},
		"convert it to PNG or JPEG."},
	{"invalid-file", "A file does not have the format that the function reads.",
		[]string{"a CSV column that begins with numbers and holds text", "an NPY file of objects"},
		"the message names the line or field; readCSV's option types says what a column holds."},
	{"invalid-url", "A text is no absolute URL.", nil, "begin with the scheme, as in https://, or give a base as the second argument."},
	{"symbol-kind", "A name in an image is of another kind: a variable was asked for as a kernel, or a kernel as a variable.", nil,
		"library.kernels lists the kernels; library.global(name) gives a variable."},
	{"not-found", "Something that was named does not exist: a file, a module, a device, a kernel, a name to explain.",
		[]string{"a typing error", "a path that begins somewhere else than thought", "a plugin that is not available: platforms() says why"},
		"the message names it; paths begin at the script's directory in imports, and at the process's everywhere else."},
	{"unsupported", "The device, or orepl, cannot do this at all.", []string{"f16 or 64-bit atomics on a device without them"},
		"device().features says what a device can do."},
	{"unimplemented", "The plugin does not do this yet.", nil, "use another device, or another way."},
	{"out-of-resources", "The device, or a limit, has no room for it: memory, launches, programs.",
		[]string{"buffers that are not freed", "a limit of the host program, or of orepl run"},
		"free what is done with (live() lists it), use smaller pieces, or raise the limit."},
	{"closed", "An object was used after it was freed or closed.",
		[]string{"a using declaration that ended", "free() before a later launch"},
		"keep it for longer, or make another one."},
	{"timeout", "It took longer than it may: a launch its timeout, a script the time limit, a program its option.", nil,
		"raise the limit, or do less at once."},
	{"cancelled", "It was ended from outside, before it was done: by Ctrl-C, an AbortSignal, a context of the host program.",
		[]string{"another part of the script failed, and its commands were dropped with it"},
		"nothing, if that was wanted; what came before it may have happened."},
	{"interrupted", "Ctrl-C ended what ran at the prompt.", nil, "nothing: names and buffers are as they were."},
	{"device-lost", "The device does not answer any more.", []string{"a driver that was reset, or a device that was taken away"},
		"start again; its buffers are gone."},
	{"backend-failure", "The driver or engine of a device failed, or a service of the host program.", nil,
		"the message has the driver's words. If it is a kernel of the CPU, please report it: it is a defect."},
	{"host-io", "A file could not be read or written for the runtime, such as an image.", nil, "see the message of the system."},
	{"host-tool-not-found", "A program that a device needs, such as an assembler, is not installed.", nil, "install it, or put it on the PATH."},
	{"assemble-failure", "The assembler of a device refused its input.", nil, "report it with the message, if the kernel is a script's own."},
	{"link-failure", "The linker of a device failed.", []string{"a symbol that no image defines"}, "link the images together before, or register all of them."},

	// Errors of the script.
	{"syntax", "The text is no JavaScript or TypeScript.", nil, "look at the marked place and just before it."},
	{"syntax-incomplete", "The text ends in the middle: a bracket, string or comment is open.", nil, "close it; at the prompt, go on in the next line."},
	{"exception", "The script threw something that is no Error.", nil, "throw new Error('…'), which has a place and calls."},
	{"never-settles", "The script awaits a promise that nothing can settle any more.", []string{"a promise whose resolve is never called", "a timer with unref"},
		"see that each branch settles the promise."},
	{"import-ring", "Modules await each other's code, and none can begin.", nil, "move what both need to a third module, or import it inside of a function."},
	{"stack-overflow", "Calls, or a value, are nested too deep.", []string{"a recursion without an end", "text with thousands of nested brackets"},
		"write a loop, or limit the depth."},
	{"out-of-memory", "The script needs more memory than its limit or the machine allows.", []string{"an array of host values as large as the data of a device"},
		"keep data in typed arrays and buffers, read in parts, or raise the limit."},
	{"permission-denied", "The script may not touch this file, start this program or run native code.", []string{"the permissions of the file", "the policy of the host program, or --allow-read and --allow-write"},
		"ask the owner of the file, or run with the permission."},
	{"io-error", "The system could not read, write or start something.", []string{"a full disk", "a directory in the place of a file"}, "see the message of the system."},
	{"reentrant", "A Go function that a script runs called the engine that runs it, which would wait for itself.", nil,
		"call values that were passed as arguments, or another engine."},
	{"crashed", "The process of an isolated engine ended.", []string{"no memory", "a signal"}, "the next call starts a new one; give it less at once."},
	{"internal", "A defect of orepl or of the program around it.", nil, "please report it, with the script."},
}
