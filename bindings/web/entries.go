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

func entries() []bindings.Entry {
	return []bindings.Entry{
		{Name: "performance", Kind: bindings.Object, Signature: "performance: { now(): number; readonly timeOrigin: number }", Help: "A monotonic clock.",
			Example: "const t = performance.now()\nconsole.log(performance.now() >= t)",
			Members: []bindings.Entry{
				method("now", "(): number", "Returns the time since timeOrigin in milliseconds, with fractions. The clock is monotonic."),
				property("timeOrigin", "number", "The start of the clock, in milliseconds since 1970-01-01 UTC."),
			}},
		{Name: "structuredClone", Kind: bindings.Function, Signature: "structuredClone<T>(value: T, options?: { transfer?: Iterable<ArrayBuffer> }): T", Help: "Returns a deep copy of a value, including cycles, maps, sets, dates, regular expressions, errors and typed arrays. Objects of a script's classes become plain objects. The ArrayBuffers in transfer are moved to the copy, and the originals are detached. A function, a symbol, a host object, a detached ArrayBuffer, and a value in transfer that is no ArrayBuffer are a DataCloneError. So is an object with hidden state, such as a promise or a WeakMap. A value nested more than 2000 deep is a RangeError.",
			Example: "const a = { n: [1] }\nconst b = structuredClone(a)\nb.n.push(2)\nconsole.log(a.n.length)"},
		{Name: "AbortController", Kind: bindings.Class, Signature: "class AbortController", Help: "Aborts operations through its signal.",
			Example: "const c = new AbortController()\nc.signal.addEventListener('abort', () => console.log('stopped'))\nc.abort()",
			Members: []bindings.Entry{
				constructor("()", "Creates a controller with a new signal."),
				property("signal", "AbortSignal", "The signal to pass to operations."),
				method("abort", "(reason?: unknown): void", "Aborts the signal, by default with an AbortError as the reason. Later calls have no effect."),
			}},
		{Name: "AbortSignal", Kind: bindings.Class, Signature: "class AbortSignal", Help: "A signal that asks operations to stop.",
			Members: []bindings.Entry{
				property("aborted", "boolean", "Whether the signal has been aborted."),
				property("reason", "unknown", "The reason of the abort; undefined before it."),
				property("onabort", "((event: { type: 'abort'; target: AbortSignal }) => void) | null", "A function that is called when the signal is aborted, or null, the default."),
				method("throwIfAborted", "(): void", "Throws the reason if the signal has been aborted."),
				method("addEventListener", "(type: 'abort', listener: (event: { type: 'abort'; target: AbortSignal }) => void, options?: { once?: boolean; signal?: AbortSignal }): void", "Registers a function that is called when the signal is aborted. Aborting the option signal removes it. If the signal has been aborted already, the function is not called."),
				method("removeEventListener", "(type: 'abort', listener: Function): void", "Removes a function that addEventListener registered."),
			},
			Static: []bindings.Entry{
				method("abort", "(reason?: unknown): AbortSignal", "Returns a signal that is already aborted, by default with an AbortError as the reason."),
				method("timeout", "(milliseconds: number): AbortSignal", "Returns a signal that aborts after a time in milliseconds, with a TimeoutError as the reason. It does not keep the script running."),
				method("any", "(signals: Iterable<AbortSignal>): AbortSignal", "Returns a signal that aborts when the first of several signals aborts, with the same reason. If one of them has been aborted already, so is the signal."),
			}},
		{Name: "DOMException", Kind: bindings.Class, Signature: "class DOMException extends Error", Help: "The error of aborted or invalid operations of the web platform.",
			Members: []bindings.Entry{
				constructor("(message?: string, name?: string | { name?: string; cause?: unknown })", "Creates an error with a message, by default empty, and a name, by default 'Error'."),
				property("name", "string", "The kind of error, such as AbortError."),
				property("code", "number", "The legacy numeric code of the error, or 0."),
			}},
		{Name: "TextEncoder", Kind: bindings.Class, Signature: "class TextEncoder", Help: "Encodes text as UTF-8.",
			Example: "console.log(new TextEncoder().encode('hé'))",
			Members: []bindings.Entry{
				constructor("()", "Creates an encoder."),
				property("encoding", "string", "The encoding, always 'utf-8'."),
				method("encode", "(text?: string): Uint8Array", "Returns the bytes of a text; without one, an empty array."),
				method("encodeInto", "(text: string, destination: Uint8Array): { read: number; written: number }", "Writes as many whole characters as fit in the destination, and returns the numbers of UTF-16 units read and bytes written."),
			}},
		{Name: "TextDecoder", Kind: bindings.Class, Signature: "class TextDecoder", Help: "Decodes bytes to text. The encodings are utf-8, utf-16le, utf-16be and windows-1252 (latin1), with all labels of the Encoding Standard.",
			Example: "console.log(new TextDecoder().decode(new Uint8Array([104, 105])))",
			Members: []bindings.Entry{
				constructor("(encoding?: string, options?: { fatal?: boolean; ignoreBOM?: boolean })", "Creates a decoder, by default of utf-8. Throws a RangeError for an unknown encoding. With fatal, decode throws a TypeError for malformed bytes; otherwise they become U+FFFD. With ignoreBOM, a byte order mark at the start stays in the text."),
				property("encoding", "string", "The encoding."),
				property("fatal", "boolean", "Whether malformed bytes throw."),
				property("ignoreBOM", "boolean", "Whether a byte order mark stays in the text."),
				method("decode", "(input?: ArrayBufferView | ArrayBuffer, options?: { stream?: boolean }): string", "Returns the text of the input, by default of no bytes. With stream, the bytes of an incomplete character at the end are kept for the next call."),
			}},
		{Name: "URL", Kind: bindings.Class, Signature: "class URL", Help: "An absolute URL and its parts, by the WHATWG standard.",
			Example: "console.log(new URL('../b?x=1', 'https://example.org/a/c').href)",
			Members: []bindings.Entry{
				constructor("(url: string, base?: string | URL)", "Parses a URL, relative to a base if one is passed. Throws a TypeError for an invalid URL."),
				property("href", "string", "The whole URL."), property("origin", "string", "Scheme, host and port; 'null' for schemes such as file and data."),
				property("protocol", "string", "The scheme, with a colon."), property("username", "string", "The user name."),
				property("password", "string", "The password."), property("host", "string", "The host name, with a colon and the port unless it is the default port of the scheme."),
				property("hostname", "string", "The host name."), property("port", "string", "The port, empty for the default port of the scheme."),
				property("pathname", "string", "The path."), property("search", "string", "The query, with a question mark; empty if there is none."),
				property("searchParams", "URLSearchParams", "The query as pairs. Changes update the URL."),
				property("hash", "string", "The fragment, with a number sign; empty if there is none."),
				method("toString", "(): string", "Returns href."), method("toJSON", "(): string", "Returns href."),
			},
			Static: []bindings.Entry{
				method("canParse", "(url: string, base?: string | URL): boolean", "Reports whether the URL is valid, relative to the base if one is passed."),
				method("parse", "(url: string, base?: string | URL): URL | null", "Returns a URL, relative to the base if one is passed, or null for an invalid one."),
			}},
		{Name: "URLSearchParams", Kind: bindings.Class, Signature: "class URLSearchParams", Help: "The name-value pairs of a query.",
			Members: []bindings.Entry{
				constructor("(init?: string | Record<string, string> | Iterable<[string, string]>)", "Creates a list of pairs from an object, an iterable of pairs, or a query string with or without its question mark."),
				property("size", "number", "The number of pairs."),
				method("append", "(name: string, value: string): void", "Adds a pair."),
				method("delete", "(name: string, value?: string): void", "Removes the pairs with a name, or only those that also have the value."),
				method("get", "(name: string): string | null", "Returns the first value of a name, or null."),
				method("getAll", "(name: string): string[]", "Returns all values of a name."),
				method("has", "(name: string, value?: string): boolean", "Reports whether a pair has the name and, if passed, the value."),
				method("set", "(name: string, value: string): void", "Sets the first value of a name, or adds the pair if there is none, and removes the name's other pairs."),
				method("sort", "(): void", "Sorts the pairs by name. Pairs of one name keep their order."),
				method("forEach", "(fn: (value: string, name: string, params: URLSearchParams) => void, self?: unknown): void", "Calls a function for each pair, with self as its this."),
				method("entries", "(): IterableIterator<[string, string]>", "Returns an iterator over the pairs."),
				method("keys", "(): IterableIterator<string>", "Returns an iterator over the names."),
				method("values", "(): IterableIterator<string>", "Returns an iterator over the values."),
				method("toString", "(): string", "Returns the encoded query, without a question mark."),
			}},
		{Name: "crypto", Kind: bindings.Object, Signature: "crypto: { getRandomValues<T extends ArrayBufferView>(array: T): T; randomUUID(): string }", Help: "Cryptographically secure random numbers.",
			Example: "console.log(crypto.randomUUID().length)",
			Members: []bindings.Entry{
				method("getRandomValues", "<T extends ArrayBufferView>(array: T): T", "Fills a typed array of integers with random values and returns it. Throws a QuotaExceededError for more than 65536 bytes, and a TypeMismatchError for any other array."),
				method("randomUUID", "(): string", "Returns a random UUID of version 4."),
			}},
		{Name: "btoa", Kind: bindings.Function, Signature: "btoa(text: string): string", Help: "Returns the base64 encoding of a string of bytes, U+0000 to U+00FF. Throws an InvalidCharacterError for another character."},
		{Name: "atob", Kind: bindings.Function, Signature: "atob(text: string): string", Help: "Returns the string of bytes that a base64 text encodes. White space is skipped, and = at the end may be missing. Throws an InvalidCharacterError for any other text that is no base64."},
	}
}
