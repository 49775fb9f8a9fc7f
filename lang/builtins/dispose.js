"use strict"; (global => {
	const { defineProperty, getPrototypeOf, setPrototypeOf } = Object, { apply, construct } = Reflect, { dispose, asyncDispose, toStringTag } = Symbol
	const NativeError = Error
	const isObject = v => typeof v === 'object' && v !== null || typeof v === 'function'
	const hidden = (o, name, value, writable = true) => defineProperty(o, name, { __proto__: null, value, writable, enumerable: false, configurable: true })
	const callable = (f, name) => {
		if (typeof f !== 'function') throw new TypeError(name + ': the disposer must be a function')
		return f
	}
	const open = (list, name) => {
		if (list === undefined) throw new ReferenceError(name + ': the stack is already disposed')
		return list
	}
	const method = (v, key) => {
		const m = v[key]
		if (m === undefined || m === null) return undefined
		if (typeof m !== 'function') throw new TypeError('the method ' + key.toString() + ' of a resource is not a function')
		return m
	}

	function SuppressedError(error, suppressed, message) {
		const target = new.target === undefined ? SuppressedError : new.target
		const o = construct(NativeError, message === undefined ? [] : [message], target)
		if (getPrototypeOf(o) === NativeError.prototype) setPrototypeOf(o, SuppressedError.prototype)
		hidden(o, 'error', error)
		hidden(o, 'suppressed', suppressed)
		return o
	}
	setPrototypeOf(SuppressedError, NativeError)
	setPrototypeOf(SuppressedError.prototype, NativeError.prototype)
	defineProperty(SuppressedError, 'prototype', { writable: false })
	hidden(SuppressedError.prototype, 'name', 'SuppressedError')
	hidden(SuppressedError.prototype, 'message', '')

	class DisposableStack {
		#list = []
		get disposed() { return this.#list === undefined }
		use(value) {
			const list = open(this.#list, 'DisposableStack.prototype.use')
			if (value === null || value === undefined) return value
			if (!isObject(value)) throw new TypeError('DisposableStack.prototype.use: the resource must be an object, null or undefined')
			const m = method(value, dispose)
			if (m === undefined) throw new TypeError('DisposableStack.prototype.use: the resource has no method Symbol.dispose')
			hidden(list, list.length, () => apply(m, value, []))
			return value
		}
		adopt(value, onDispose) {
			const list = open(this.#list, 'DisposableStack.prototype.adopt')
			callable(onDispose, 'DisposableStack.prototype.adopt')
			hidden(list, list.length, () => onDispose(value))
			return value
		}
		defer(onDispose) {
			const list = open(this.#list, 'DisposableStack.prototype.defer')
			callable(onDispose, 'DisposableStack.prototype.defer')
			hidden(list, list.length, () => onDispose())
		}
		move() {
			const list = open(this.#list, 'DisposableStack.prototype.move'), s = new DisposableStack()
			s.#list = list
			this.#list = undefined
			return s
		}
		dispose() {
			const list = this.#list
			if (list === undefined) return
			this.#list = undefined
			let failed = false, error
			for (let i = list.length - 1; i >= 0; i--) try {
				const f = list[i]
				f()
			} catch (e) {
				error = failed ? new SuppressedError(e, error) : e
				failed = true
			}
			if (failed) throw error
		}
	}
	hidden(DisposableStack.prototype, dispose, DisposableStack.prototype.dispose)
	hidden(DisposableStack.prototype, toStringTag, 'DisposableStack', false)

	class AsyncDisposableStack {
		#list = []
		get disposed() { return this.#list === undefined }
		use(value) {
			const list = open(this.#list, 'AsyncDisposableStack.prototype.use')
			if (value === null || value === undefined) {
				hidden(list, list.length, undefined)
				return value
			}
			if (!isObject(value)) throw new TypeError('AsyncDisposableStack.prototype.use: the resource must be an object, null or undefined')
			const m = method(value, asyncDispose), n = m === undefined ? method(value, dispose) : undefined
			if (m === undefined && n === undefined) throw new TypeError('AsyncDisposableStack.prototype.use: the resource has neither Symbol.asyncDispose nor Symbol.dispose')
			hidden(list, list.length, m !== undefined ? () => apply(m, value, []) : () => { apply(n, value, []) })
			return value
		}
		adopt(value, onDisposeAsync) {
			const list = open(this.#list, 'AsyncDisposableStack.prototype.adopt')
			callable(onDisposeAsync, 'AsyncDisposableStack.prototype.adopt')
			hidden(list, list.length, () => onDisposeAsync(value))
			return value
		}
		defer(onDisposeAsync) {
			const list = open(this.#list, 'AsyncDisposableStack.prototype.defer')
			callable(onDisposeAsync, 'AsyncDisposableStack.prototype.defer')
			hidden(list, list.length, () => onDisposeAsync())
		}
		move() {
			const list = open(this.#list, 'AsyncDisposableStack.prototype.move'), s = new AsyncDisposableStack()
			s.#list = list
			this.#list = undefined
			return s
		}
		async disposeAsync() {
			const list = this.#list
			if (list === undefined) return
			this.#list = undefined
			let failed = false, error, empty = false, awaited = false
			for (let i = list.length - 1; i >= 0; i--) try {
				const f = list[i]
				if (f === undefined) empty = true
				else {
					const r = f()
					awaited = true
					await r
				}
			} catch (e) {
				error = failed ? new SuppressedError(e, error) : e
				failed = true
			}
			if (empty && !awaited) await undefined
			if (failed) throw error
		}
	}
	hidden(AsyncDisposableStack.prototype, asyncDispose, AsyncDisposableStack.prototype.disposeAsync)
	hidden(AsyncDisposableStack.prototype, toStringTag, 'AsyncDisposableStack', false)
	for (const C of [DisposableStack, AsyncDisposableStack]) defineProperty(C.prototype, 'disposed', { enumerable: false })

	hidden(global, 'SuppressedError', SuppressedError)
	hidden(global, 'DisposableStack', DisposableStack)
	hidden(global, 'AsyncDisposableStack', AsyncDisposableStack)
	const iterators = getPrototypeOf(getPrototypeOf([][Symbol.iterator]()))
	hidden(iterators, dispose, {
		[dispose]() {
			const f = this.return
			if (f !== undefined && f !== null) apply(f, this, [])
		},
	}[dispose])
	defineProperty(iterators[dispose], 'name', { value: '[Symbol.dispose]', configurable: true })
})
