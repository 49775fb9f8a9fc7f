"use strict"; ((classes, species) => {
	// Methods of typed arrays whose callbacks, conversions or constructors may resize the buffer. They read the length once, and
	// elements behind the end are undefined.
	const { getPrototypeOf, getOwnPropertyDescriptor } = Object, { apply } = Reflect, { trunc, min, max } = Math
	const proto = getPrototypeOf(Int8Array.prototype)
	const tagOf = getOwnPropertyDescriptor(proto, Symbol.toStringTag).get, lengthGetter = getOwnPropertyDescriptor(proto, 'length').get
	const valid = getOwnPropertyDescriptor(proto, 'entries').value
	const lengthOf = o => apply(lengthGetter, o, [])
	const integer = v => (v = +v, v !== v ? 0 : trunc(v) + 0)
	const index = (v, n) => (v = integer(v), v < 0 ? max(v + n, 0) : min(v, n))
	const validate = o => {
		apply(valid, o, []) // throws where the buffer is detached or the array out of bounds
		return lengthOf(o)
	}
	const callback = (f, name) => {
		if (typeof f !== 'function') throw new TypeError('TypedArray.prototype.' + name + ': the first argument must be a function')
	}
	const box = new BigInt64Array(1)
	const toBigInt = v => (box[0] = v, box[0]) // refuses numbers
	const isBig = o => apply(tagOf, o, [])[0] === 'B'
	const create = (o, ...args) => {
		const standard = classes[apply(tagOf, o, [])], C = o.constructor
		let made = standard
		if (C !== undefined) {
			if (typeof C !== 'object' && typeof C !== 'function' || C === null) throw new TypeError('the property constructor is not an object')
			made = C[species] ?? standard
		}
		const r = new made(...args)
		const n = validate(r)
		if (n < args[0]) throw new TypeError('the constructor returned an array that is too short')
		if (isBig(r) !== isBig(o)) throw new TypeError('the constructor returned an array of another kind of numbers')
		return r
	}
	const find = (o, f, that, name, from, step) => {
		const n = validate(o)
		callback(f, name)
		for (let k = step > 0 ? 0 : n - 1; k >= 0 && k < n; k += step) {
			const v = o[k]
			if (apply(f, that, [v, k, o])) return [k, v]
		}
		return [-1, undefined]
	}
	const reduce = (o, args, name, step) => {
		const n = validate(o), f = args[0]
		callback(f, name)
		let k = step > 0 ? 0 : n - 1, acc
		if (args.length > 1) acc = args[1]
		else {
			if (n === 0) throw new TypeError('Reduce of empty array with no initial value')
			acc = o[k], k += step
		}
		for (; k >= 0 && k < n; k += step) acc = f(acc, o[k], k, o)
		return acc
	}
	const join = (o, n, separator, text) => {
		let r = ''
		for (let k = 0; k < n; k++) {
			const v = o[k]
			if (k > 0) r += separator
			if (v !== undefined) r += text(v)
		}
		return r
	}
	return {
		at(i) {
			const n = validate(this), k = integer(i)
			return k < -n || k >= n ? undefined : this[k < 0 ? n + k : k]
		},
		every(f, that) {
			const n = validate(this)
			callback(f, 'every')
			for (let k = 0; k < n; k++) if (!apply(f, that, [this[k], k, this])) return false
			return true
		},
		some(f, that) {
			const n = validate(this)
			callback(f, 'some')
			for (let k = 0; k < n; k++) if (apply(f, that, [this[k], k, this])) return true
			return false
		},
		forEach(f, that) {
			const n = validate(this)
			callback(f, 'forEach')
			for (let k = 0; k < n; k++) apply(f, that, [this[k], k, this])
		},
		find(f, that) { return find(this, f, that, 'find', 0, 1)[1] },
		findIndex(f, that) { return find(this, f, that, 'findIndex', 0, 1)[0] },
		findLast(f, that) { return find(this, f, that, 'findLast', 0, -1)[1] },
		findLastIndex(f, that) { return find(this, f, that, 'findLastIndex', 0, -1)[0] },
		filter(f, that) {
			const n = validate(this), kept = []
			callback(f, 'filter')
			let m = 0
			for (let k = 0; k < n; k++) {
				const v = this[k]
				if (apply(f, that, [v, k, this])) m = kept.push(v)
			}
			const r = create(this, m)
			for (let k = 0; k < m; k++) r[k] = kept[k]
			return r
		},
		map(f, that) {
			const n = validate(this)
			callback(f, 'map')
			const r = create(this, n)
			for (let k = 0; k < n; k++) r[k] = apply(f, that, [this[k], k, this])
			return r
		},
		reduce(...args) { return reduce(this, args, 'reduce', 1) },
		reduceRight(...args) { return reduce(this, args, 'reduceRight', -1) },
		join(separator) {
			const n = validate(this)
			return join(this, n, separator === undefined ? ',' : `${separator}`, v => `${v}`)
		},
		toLocaleString() { return join(this, validate(this), ',', v => `${v.toLocaleString()}`) },
		slice(start, end) {
			const n = validate(this), from = index(start, n)
			const to = end === undefined ? n : index(end, n)
			const count = max(to - from, 0), r = create(this, count)
			if (count === 0) return r
			const until = min(to, validate(this), from + lengthOf(r))
			for (let k = from, i = 0; k < until; k++, i++) r[i] = this[k]
			return r
		},
		with(i, value) {
			const n = validate(this), at = integer(i), k = at < 0 ? n + at : at
			const v = isBig(this) ? toBigInt(value) : +value
			if (!(k >= 0 && k < lengthOf(this))) throw new RangeError('TypedArray.prototype.with: the index is outside of the array')
			const r = new classes[apply(tagOf, this, [])](n)
			for (let j = 0; j < n; j++) r[j] = j === k ? v : this[j]
			return r
		},
		copyWithin(target, start, end) {
			let n = validate(this)
			const to = index(target, n), from = index(start, n), until = end === undefined ? n : index(end, n)
			let count = min(until - from, n - to)
			if (count <= 0) return this
			n = validate(this)
			count = min(count, n - from, n - to)
			if (from < to) for (let k = count - 1; k >= 0; k--) this[to + k] = this[from + k]
			else for (let k = 0; k < count; k++) this[to + k] = this[from + k]
			return this
		},
		set(source, offset) {
			const at = integer(offset)
			if (at < 0) throw new RangeError('TypedArray.prototype.set: the offset is negative')
			const n = validate(this), typed = typeof source === 'object' && source !== null && apply(tagOf, source, []) !== undefined
			const from = Object(source), m = typed ? validate(source) : min(max(integer(from.length), 0), 2 ** 53 - 1)
			if (typed && isBig(source) !== isBig(this)) throw new TypeError('TypedArray.prototype.set: the source has another kind of numbers')
			if (m + at > n) throw new RangeError('TypedArray.prototype.set: the source is too long')
			const list = []
			for (let k = 0; typed && k < m; k++) list[k] = from[k] // the arrays may overlap
			for (let k = 0; k < m; k++) this[at + k] = (typed ? list : from)[k]
		},
	}
})
