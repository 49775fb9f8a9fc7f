"use strict"; (global => {
	const { create, defineProperty, getPrototypeOf } = Object, { apply } = Reflect
	const proto = getPrototypeOf(getPrototypeOf([][Symbol.iterator]()))
	const isObject = v => typeof v === 'object' && v !== null || typeof v === 'function'
	const hidden = (o, name, value) => defineProperty(o, name, { value, writable: true, enumerable: false, configurable: true })
	const methods = (o, list) => {
		for (const name of Reflect.ownKeys(list)) hidden(o, name, list[name])
	}
	const object = (v, name) => {
		if (!isObject(v)) throw new TypeError('Iterator.prototype.' + name + ': this is not an object')
		return v
	}
	const direct = iterator => ({ iterator, next: iterator.next })
	const close = iterator => {
		const f = iterator.return
		if (f === undefined || f === null) return
		const r = apply(f, iterator, [])
		if (!isObject(r)) throw new TypeError('the method return of an iterator returned no object')
	}
	const fail = (iterator, error) => {
		try {
			const f = iterator.return
			if (f !== undefined && f !== null) apply(f, iterator, [])
		} catch { }
		throw error
	}
	const DONE = {}
	const step = d => {
		const r = apply(d.next, d.iterator, [])
		if (!isObject(r)) throw new TypeError('the method next of an iterator returned no object')
		return r.done ? DONE : r.value
	}
	const fn = (o, f, name) => {
		if (typeof f !== 'function') fail(o, new TypeError('Iterator.prototype.' + name + ': the argument is not a function'))
	}
	const generatorNext = getPrototypeOf(function* () { }).prototype.next, generatorReturn = getPrototypeOf(function* () { }).prototype.return
	class Made extends (function (o) { return o }) {
		#generator
		#source
		#state = 0 // 1 after the first call, 2 at the end
		constructor(o, generator, source) { super(o); this.#generator = generator; this.#source = source }
		static next(o) {
			o.#generator
			if (o.#state === 0) o.#state = 1
			return apply(generatorNext, o.#generator, [])
		}
		static return(o) {
			o.#generator
			if (o.#state === 0) {
				o.#state = 2
				apply(generatorReturn, o.#generator, [])
				if (o.#source !== undefined) close(o.#source)
				return { value: undefined, done: true }
			}
			return apply(generatorReturn, o.#generator, [undefined])
		}
	}
	const helperProto = create(proto)
	methods(helperProto, {
		next() { return Made.next(this) },
		return() { return Made.return(this) },
	})
	defineProperty(helperProto, Symbol.toStringTag, { value: 'Iterator Helper', configurable: true })
	const helper = (d, generator) => new Made(create(helperProto), generator(), d.iterator)
	const limitOf = (o, limit, name) => {
		let n
		try { n = +limit } catch (e) { fail(o, e) }
		if (n !== n) fail(o, new RangeError('Iterator.prototype.' + name + ': the argument is not a number'))
		n = Math.trunc(n)
		if (n > 9007199254740991 && n !== Infinity) fail(o, new RangeError('Iterator.prototype.' + name + ': the argument is 2 ** 53 or more'))
		if (n < 0) fail(o, new RangeError('Iterator.prototype.' + name + ': the argument is negative'))
		return n
	}
	const flattenable = (v, texts) => {
		if (!isObject(v) && !(texts && typeof v === 'string')) throw new TypeError('the value is neither an iterator nor iterable')
		const f = v[Symbol.iterator]
		const iterator = f === undefined || f === null ? v : apply(f, v, [])
		if (!isObject(iterator)) throw new TypeError('the iterator is not an object')
		return direct(iterator)
	}
	const iteratorMethods = {
		map(mapper) {
			const o = object(this, 'map')
			fn(o, mapper, 'map')
			const d = direct(o)
			return helper(d, function* () {
				for (let i = 0; ; i++) {
					const v = step(d)
					if (v === DONE) return
					let ok = false, mapped
					try { mapped = mapper(v, i) } catch (e) { fail(o, e) }
					try { yield mapped; ok = true } finally { if (!ok) close(o) }
				}
			})
		},
		filter(predicate) {
			const o = object(this, 'filter')
			fn(o, predicate, 'filter')
			const d = direct(o)
			return helper(d, function* () {
				for (let i = 0; ; i++) {
					const v = step(d)
					if (v === DONE) return
					let ok = false, chosen
					try { chosen = predicate(v, i) } catch (e) { fail(o, e) }
					if (chosen) try { yield v; ok = true } finally { if (!ok) close(o) }
				}
			})
		},
		take(limit) {
			const o = object(this, 'take')
			let n = limitOf(o, limit, 'take')
			const d = direct(o)
			return helper(d, function* () {
				for (; ;) {
					if (n === 0) return close(o)
					n--
					const v = step(d)
					if (v === DONE) return
					let ok = false
					try { yield v; ok = true } finally { if (!ok) close(o) }
				}
			})
		},
		drop(limit) {
			const o = object(this, 'drop')
			let n = limitOf(o, limit, 'drop')
			const d = direct(o)
			return helper(d, function* () {
				for (; n > 0; n--) if (step(d) === DONE) return
				for (; ;) {
					const v = step(d)
					if (v === DONE) return
					let ok = false
					try { yield v; ok = true } finally { if (!ok) close(o) }
				}
			})
		},
		flatMap(mapper) {
			const o = object(this, 'flatMap')
			fn(o, mapper, 'flatMap')
			const d = direct(o)
			return helper(d, function* () {
				for (let i = 0; ; i++) {
					const v = step(d)
					if (v === DONE) return
					let inner
					try { inner = flattenable(mapper(v, i), false) } catch (e) { fail(o, e) }
					for (; ;) {
						let w, ok = false
						try { w = step(inner) } catch (e) { fail(o, e) }
						if (w === DONE) break
						try { yield w; ok = true } finally {
							if (!ok) {
								try { close(inner.iterator) } catch (e) { fail(o, e) }
								close(o)
							}
						}
					}
				}
			})
		},
		reduce(reducer) {
			const o = object(this, 'reduce')
			fn(o, reducer, 'reduce')
			const d = direct(o)
			let i = 0, sum = arguments[1]
			if (arguments.length < 2) {
				sum = step(d)
				if (sum === DONE) throw new TypeError('Iterator.prototype.reduce: the iterator is empty and there is no initial value')
				i = 1
			}
			for (; ; i++) {
				const v = step(d)
				if (v === DONE) return sum
				try { sum = reducer(sum, v, i) } catch (e) { fail(o, e) }
			}
		},
		toArray() {
			const d = direct(object(this, 'toArray')), list = []
			for (let i = 0; ; i++) {
				const value = step(d)
				if (value === DONE) return list
				defineProperty(list, i, { value, writable: true, enumerable: true, configurable: true })
			}
		},
		forEach(procedure) {
			const o = object(this, 'forEach')
			fn(o, procedure, 'forEach')
			const d = direct(o)
			for (let i = 0; ; i++) {
				const v = step(d)
				if (v === DONE) return
				try { procedure(v, i) } catch (e) { fail(o, e) }
			}
		},
		some(predicate) {
			const o = object(this, 'some')
			fn(o, predicate, 'some')
			const d = direct(o)
			for (let i = 0; ; i++) {
				const v = step(d)
				if (v === DONE) return false
				let found
				try { found = predicate(v, i) } catch (e) { fail(o, e) }
				if (found) { close(o); return true }
			}
		},
		every(predicate) {
			const o = object(this, 'every')
			fn(o, predicate, 'every')
			const d = direct(o)
			for (let i = 0; ; i++) {
				const v = step(d)
				if (v === DONE) return true
				let found
				try { found = predicate(v, i) } catch (e) { fail(o, e) }
				if (!found) { close(o); return false }
			}
		},
		find(predicate) {
			const o = object(this, 'find')
			fn(o, predicate, 'find')
			const d = direct(o)
			for (let i = 0; ; i++) {
				const v = step(d)
				if (v === DONE) return undefined
				let found
				try { found = predicate(v, i) } catch (e) { fail(o, e) }
				if (found) { close(o); return v }
			}
		},
	}
	class Wrapped extends (function (o) { return o }) {
		#d
		constructor(o, d) { super(o); this.#d = d }
		static of(o) { return o.#d }
	}
	const wrapProto = create(proto)
	methods(wrapProto, {
		next() {
			const d = Wrapped.of(this)
			return apply(d.next, d.iterator, [])
		},
		return() {
			const { iterator } = Wrapped.of(this), f = iterator.return
			return f === undefined || f === null ? { value: undefined, done: true } : apply(f, iterator, [])
		},
	})
	function Iterator() {
		if (new.target === undefined || new.target === Iterator) throw new TypeError('Iterator is abstract: extend it, or call Iterator.from')
	}
	const isPrototypeOf = Object.prototype.isPrototypeOf
	methods(Iterator, {
		from(o) {
			const d = flattenable(o, true)
			if (apply(isPrototypeOf, proto, [d.iterator])) return d.iterator
			return new Wrapped(create(wrapProto), d)
		},
	})
	defineProperty(Iterator, 'prototype', { value: proto, writable: false, enumerable: false, configurable: false })
	// The properties are accessors so that assigning them to objects that inherit from the prototype works.
	const weird = (key, value) => defineProperty(proto, key, {
		...Object.getOwnPropertyDescriptor({
			get [key]() { return value },
			set [key](v) {
				if (!isObject(this)) throw new TypeError('this is not an object')
				if (this === proto) throw new TypeError('Iterator.prototype: the property cannot be assigned')
				if (Object.prototype.hasOwnProperty.call(this, key)) this[key] = v
				else defineProperty(this, key, { value: v, writable: true, enumerable: true, configurable: true })
			},
		}, key),
		enumerable: false,
	})
	weird(Symbol.toStringTag, 'Iterator')
	weird('constructor', Iterator)
	const statics = {
		try(callback, ...args) {
			const C = this
			if (!isObject(C)) throw new TypeError('Promise.try: this is not an object')
			return new C((resolve, reject) => {
				try { resolve(callback(...args)) } catch (e) { reject(e) }
			})
		},
	}
	const isConstructor = f => {
		try { Reflect.construct(Object, [], f); return true } catch { return false }
	}
	const put = (o, key, value) => {
		defineProperty(o, key, { value, writable: true, enumerable: true, configurable: true })
	}
	Object.assign(statics, {
		fromAsync(asyncItems, mapper = undefined, thisArg = undefined) {
			const C = this
			return (async () => {
				if (mapper !== undefined && typeof mapper !== 'function') throw new TypeError('Array.fromAsync: the second argument is not a function')
				let method = asyncItems[Symbol.asyncIterator], sync = false
				if (method === undefined || method === null) {
					method = asyncItems[Symbol.iterator]
					sync = true
				}
				const map = async (v, i) => mapper === undefined ? v : await apply(mapper, thisArg, [v, i])
				if (method === undefined || method === null) {
					const n = Math.min(Math.max(Math.trunc(+asyncItems.length) || 0, 0), Number.MAX_SAFE_INTEGER), from = Object(asyncItems)
					const out = isConstructor(C) ? new C(n) : new Array(n)
					for (let i = 0; i < n; i++) put(out, i, await map(await from[i], i))
					out.length = n
					return out
				}
				if (typeof method !== 'function') throw new TypeError('Array.fromAsync: the iterator method is not a function')
				const out = isConstructor(C) ? new C() : []
				const d = direct(apply(method, asyncItems, []))
				for (let i = 0; ; i++) {
					let r = apply(d.next, d.iterator, [])
					if (!sync) r = await r
					if (!isObject(r)) throw new TypeError('the method next of an iterator returned no object')
					if (r.done) {
						out.length = i
						return out
					}
					try {
						const v = r.value
						put(out, i, await map(sync ? await v : v, i))
					} catch (e) {
						try {
							const f = d.iterator.return
							if (f !== undefined && f !== null) await apply(f, d.iterator, [])
						} catch { }
						throw e
					}
				}
			})()
		},
	})
	methods(proto, iteratorMethods)
	methods(Promise, { try: statics.try })
	methods(Array, { fromAsync: statics.fromAsync })
	defineProperty(statics.try, 'length', { value: 1, configurable: true })
	defineProperty(statics.fromAsync, 'length', { value: 1, configurable: true })
	hidden(global, 'Iterator', Iterator)
})
