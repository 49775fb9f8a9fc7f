package web

import "github.com/orepl/orepl/bindings"

func method(name, signature, help string) bindings.Entry {
	return bindings.Entry{Name: name, Kind: bindings.Method, Signature: name + signature, Help: help}
}

func property(name, kind, help string) bindings.Entry {
	return bindings.Entry{Name: name, Kind: bindings.Property, Signature: name + ": " + kind, Help: help}
}

func constructor(signature, help string) bindings.Entry {
	return bindings.Entry{Name: "constructor", Kind: bindings.Method, Signature: "constructor" + signature, Help: help}
}

var entries = []bindings.Entry{
	{Name: "performance", Kind: bindings.Object, Signature: "performance: { now(): number; readonly timeOrigin: number }", Help: "A clock for measuring.",
		Example: "const t = performance.now()\nconsole.log(performance.now() >= t)",
		Members: []bindings.Entry{
			method("now", "(): number", "Milliseconds, with fractions, of a clock that never goes back."),
			property("timeOrigin", "number", "When the clock began, in milliseconds since 1970."),
		}},
	{Name: "structuredClone", Kind: bindings.Function, Signature: "structuredClone<T>(value: T, options?: { transfer?: Iterable<ArrayBuffer> }): T", Help: "Copies a value with everything below it: circles, maps, sets, dates, errors and typed arrays too. ArrayBuffers in transfer are moved: the original has no memory any more. Functions and objects of the host cannot be copied.",
		Example: "const a = { n: [1] }\nconst b = structuredClone(a)\nb.n.push(2)\nconsole.log(a.n.length)"},
	{Name: "AbortController", Kind: bindings.Class, Signature: "class AbortController", Help: "Tells operations to stop.",
		Example: "const c = new AbortController()\nc.signal.addEventListener('abort', () => console.log('stopped'))\nc.abort()",
		Members: []bindings.Entry{
			constructor("()", "Makes a controller with a signal of its own."),
			property("signal", "AbortSignal", "What operations watch."),
			method("abort", "(reason?: unknown): void", "Aborts the signal."),
		}},
	{Name: "AbortSignal", Kind: bindings.Class, Signature: "class AbortSignal", Help: "Says whether to stop.",
		Members: []bindings.Entry{
			property("aborted", "boolean", "Whether the signal was aborted."),
			property("reason", "unknown", "Why."),
			property("onabort", "((event: { type: 'abort'; target: AbortSignal }) => void) | null", "Called when the signal is aborted."),
			method("throwIfAborted", "(): void", "Throws the reason if the signal was aborted."),
			method("addEventListener", "(type: 'abort', listener: (event: { type: 'abort'; target: AbortSignal }) => void, options?: { once?: boolean; signal?: AbortSignal }): void", "Calls a function when the signal is aborted."),
			method("removeEventListener", "(type: 'abort', listener: Function): void", "Forgets a listener."),
		},
		Static: []bindings.Entry{
			method("abort", "(reason?: unknown): AbortSignal", "Gives a signal that is aborted already."),
			method("timeout", "(milliseconds: number): AbortSignal", "Gives a signal that aborts itself after a time. A script does not go on for its sake."),
			method("any", "(signals: Iterable<AbortSignal>): AbortSignal", "Gives a signal that aborts with the first of several."),
		}},
	{Name: "DOMException", Kind: bindings.Class, Signature: "class DOMException extends Error", Help: "The error of aborted and impossible operations of the web platform.",
		Members: []bindings.Entry{
			constructor("(message?: string, name?: string | { name?: string; cause?: unknown })", "Makes an error with a name."),
			property("name", "string", "The kind of error, such as AbortError."),
			property("code", "number", "The number that this kind of error had before names, or 0."),
		}},
	{Name: "TextEncoder", Kind: bindings.Class, Signature: "class TextEncoder", Help: "Turns text into UTF-8 bytes.",
		Example: "console.log(new TextEncoder().encode('hé'))",
		Members: []bindings.Entry{
			constructor("()", "Makes an encoder."),
			property("encoding", "string", "Always utf-8."),
			method("encode", "(text?: string): Uint8Array", "Gives the bytes of a text."),
			method("encodeInto", "(text: string, destination: Uint8Array): { read: number; written: number }", "Writes as many whole characters as fit."),
		}},
	{Name: "TextDecoder", Kind: bindings.Class, Signature: "class TextDecoder", Help: "Turns bytes into text. The encodings are utf-8, utf-16le, utf-16be and windows-1252 (latin1), under all the names that browsers know.",
		Example: "console.log(new TextDecoder().decode(new Uint8Array([104, 105])))",
		Members: []bindings.Entry{
			constructor("(encoding?: string, options?: { fatal?: boolean; ignoreBOM?: boolean })", "Makes a decoder; fatal makes malformed bytes an error."),
			property("encoding", "string", "The encoding."),
			property("fatal", "boolean", "Whether malformed bytes are an error."),
			property("ignoreBOM", "boolean", "Whether a byte order mark stays in the text."),
			method("decode", "(input?: ArrayBufferView | ArrayBuffer, options?: { stream?: boolean }): string", "Gives the text of bytes; with stream, a character may go on in the next call."),
		}},
	{Name: "URL", Kind: bindings.Class, Signature: "class URL", Help: "An absolute URL in parts.",
		Example: "console.log(new URL('../b?x=1', 'https://example.org/a/c').href)",
		Members: []bindings.Entry{
			constructor("(url: string, base?: string | URL)", "Parses a URL, relative to a base if there is one."),
			property("href", "string", "The whole URL."), property("origin", "string", "Scheme, host and port."),
			property("protocol", "string", "The scheme, with a colon."), property("username", "string", "The user."),
			property("password", "string", "The password."), property("host", "string", "Host name and port."),
			property("hostname", "string", "The host name."), property("port", "string", "The port, empty if it is the scheme's own."),
			property("pathname", "string", "The path."), property("search", "string", "The query, with a question mark."),
			property("searchParams", "URLSearchParams", "The query in pairs; changes show in the URL."),
			property("hash", "string", "The fragment, with a number sign."),
			method("toString", "(): string", "Gives href."), method("toJSON", "(): string", "Gives href."),
		},
		Static: []bindings.Entry{
			method("canParse", "(url: string, base?: string | URL): boolean", "Tells whether the constructor would succeed."),
			method("parse", "(url: string, base?: string | URL): URL | null", "Gives a URL, or null instead of an error."),
		}},
	{Name: "URLSearchParams", Kind: bindings.Class, Signature: "class URLSearchParams", Help: "The pairs of a query.",
		Members: []bindings.Entry{
			constructor("(init?: string | Record<string, string> | Iterable<[string, string]>)", "Reads pairs."),
			property("size", "number", "How many pairs there are."),
			method("append", "(name: string, value: string): void", "Adds a pair."),
			method("delete", "(name: string, value?: string): void", "Removes the pairs of a name."),
			method("get", "(name: string): string | null", "Gives the first value of a name."),
			method("getAll", "(name: string): string[]", "Gives all values of a name."),
			method("has", "(name: string, value?: string): boolean", "Tells whether there is such a pair."),
			method("set", "(name: string, value: string): void", "Makes one pair of a name."),
			method("sort", "(): void", "Sorts by name."),
			method("forEach", "(fn: (value: string, name: string, params: URLSearchParams) => void, self?: unknown): void", "Calls a function for each pair."),
			method("entries", "(): IterableIterator<[string, string]>", "Goes over the pairs."),
			method("keys", "(): IterableIterator<string>", "Goes over the names."),
			method("values", "(): IterableIterator<string>", "Goes over the values."),
			method("toString", "(): string", "Gives the encoded query without a question mark."),
		}},
	{Name: "crypto", Kind: bindings.Object, Signature: "crypto: { getRandomValues<T extends ArrayBufferView>(array: T): T; randomUUID(): string }", Help: "Random numbers that nobody can guess.",
		Example: "console.log(crypto.randomUUID().length)",
		Members: []bindings.Entry{
			method("getRandomValues", "<T extends ArrayBufferView>(array: T): T", "Fills a typed array of integers, of at most 65536 bytes."),
			method("randomUUID", "(): string", "Gives a random UUID of version 4."),
		}},
	{Name: "btoa", Kind: bindings.Function, Signature: "btoa(text: string): string", Help: "Encodes a string of bytes, U+0000 to U+00FF, in base64."},
	{Name: "atob", Kind: bindings.Function, Signature: "atob(text: string): string", Help: "Decodes base64 into a string of bytes."},
}
