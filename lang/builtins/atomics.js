"use strict"; (global => {
	const { defineProperty, getOwnPropertyDescriptor, getPrototypeOf } = Object, { apply } = Reflect
	const typed = getPrototypeOf(Int8Array.prototype)
	const nameOf = getOwnPropertyDescriptor(typed, Symbol.toStringTag).get, lengthOf = getOwnPropertyDescriptor(typed, 'length').get
	const bufferOf = getOwnPropertyDescriptor(typed, 'buffer').get, offsetOf = getOwnPropertyDescriptor(typed, 'byteOffset').get
	const detached = buffer => apply(getOwnPropertyDescriptor(ArrayBuffer.prototype, 'detached').get, buffer, [])
	const { trunc, min, max } = Math, toNumber = Number, { asIntN } = BigInt
	const integers = new Set(['Int8Array', 'Uint8Array', 'Int16Array', 'Uint16Array', 'Int32Array', 'Uint32Array', 'BigInt64Array', 'BigUint64Array'])
	const waitable = new Set(['Int32Array', 'BigInt64Array'])
	const has = Function.prototype.call.bind(Set.prototype.has)
	const integer = v => {
		const n = +v
		return n !== n ? 0 : trunc(n) + 0
	}
	const check = array => {
		if (detached(apply(bufferOf, array, []))) throw new TypeError('Atomics: the buffer of the array is detached')
	}
	const validate = (array, wait) => {
		const name = typeof array === 'object' && array !== null ? apply(nameOf, array, []) : undefined
		if (name === undefined || !has(wait ? waitable : integers, name)) throw new TypeError('Atomics: the array must be a typed array of integers' + (wait ? ' of 32 or 64 bits' : '') + '; buffers have atomic operations in kernels only')
		check(array)
		return name
	}
	const indexOf = (array, index) => {
		const length = apply(lengthOf, array, [])
		const i = integer(index)
		if (i < 0 || i >= length) throw new RangeError('Atomics: the index is outside of the array')
		return i
	}
	const big = name => name === 'BigInt64Array' || name === 'BigUint64Array'
	const modify = op => (array, index, value) => {
		const name = validate(array, false)
		const i = indexOf(array, index)
		const v = big(name) ? asIntN(64, value) : integer(value)
		check(array)
		const old = array[i]
		array[i] = op(old, big(name) || v > -4294967296 && v < 4294967296 ? v : v % 4294967296)
		return old
	}
	const Atomics = {}
	const methods = {
		add: modify((a, b) => a + b),
		and: modify((a, b) => a & b),
		compareExchange(array, index, expected, replacement) {
			const name = validate(array, false)
			const i = indexOf(array, index)
			const e = big(name) ? asIntN(64, expected) : integer(expected), r = big(name) ? asIntN(64, replacement) : integer(replacement)
			check(array)
			const old = array[i]
			array[i] = big(name) ? e : e % 4294967296 // as the array stores it
			const equal = array[i] === old
			array[i] = equal ? big(name) ? r : r % 4294967296 : old
			return old
		},
		exchange: modify((a, b) => b),
		isLockFree(size) {
			const n = integer(size)
			return n === 1 || n === 2 || n === 4 || n === 8
		},
		load(array, index) {
			validate(array, false)
			const i = indexOf(array, index)
			check(array)
			return array[i]
		},
		notify(array, index, count) {
			validate(array, true)
			indexOf(array, index)
			if (count !== undefined) max(integer(count), 0)
			return 0 // nothing waits: no memory is shared
		},
		or: modify((a, b) => a | b),
		pause(n) {
			if (n !== undefined && (typeof n !== 'number' || trunc(n) !== n)) throw new TypeError('Atomics.pause: the argument must be an integer')
		},
		store(array, index, value) {
			const name = validate(array, false)
			const i = indexOf(array, index)
			const v = big(name) ? asIntN(9007199254740991, value) : integer(value) // all bits
			check(array)
			array[i] = big(name) ? v : v % 4294967296
			return v
		},
		sub: modify((a, b) => a - b),
		wait(array, index, value, timeout) {
			validate(array, true)
			throw new TypeError('Atomics.wait: the array has no shared memory')
		},
		xor: modify((a, b) => a ^ b),
	}
	const lengths = { add: 3, and: 3, exchange: 3, or: 3, sub: 3, xor: 3, pause: 0 }
	for (const name of Object.keys(methods)) {
		const f = { [name]: (...args) => methods[name](...args) }[name]
		defineProperty(f, 'length', { value: lengths[name] ?? methods[name].length, configurable: true })
		defineProperty(Atomics, name, { value: f, writable: true, configurable: true })
	}
	defineProperty(Atomics, Symbol.toStringTag, { value: 'Atomics', configurable: true })
	defineProperty(global, 'Atomics', { value: Atomics, writable: true, enumerable: false, configurable: true })
})
