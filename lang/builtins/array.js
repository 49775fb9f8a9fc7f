"use strict"; (species => {
	const { defineProperty } = Object, { apply } = Reflect, { isArray } = Array, { trunc, min, max } = Math, { is } = Object
	const nativeSort = Array.prototype.sort
	const MOST = 2 ** 53 - 1
	const isObject = v => typeof v === 'object' && v !== null || typeof v === 'function'
	const integer = v => (v = +v, v !== v ? 0 : trunc(v) + 0)
	const lengthOf = o => { const n = integer(o.length); return n > 0 ? min(n, MOST) : 0 }
	const index = (v, n) => { v = integer(v); return v < 0 ? max(v + n, 0) : min(v, n) }
	const define = (o, k, value) => { defineProperty(o, k, { __proto__: null, value, writable: true, enumerable: true, configurable: true }) }
	const callback = (f, name) => {
		if (typeof f !== 'function') throw new TypeError('Array.prototype.' + name + ': the first argument must be a function')
	}
	const short = n => {
		if (n > MOST) throw new TypeError('an array-like object cannot have more than 2 ** 53 - 1 elements')
	}
	const create = n => {
		if (n > 4294967295) throw new RangeError('Invalid array length')
		return new Array(n)
	}
	const like = (o, n) => {
		if (!isArray(o)) return create(n)
		let C = o.constructor
		if (isObject(C) && (C = C[species]) === null) C = undefined
		return C === undefined ? create(n) : new C(n)
	}
	const move = (o, from, to) => {
		if (from in o) o[to] = o[from]
		else delete o[to]
	}
	const flatten = (target, at, source, n, depth, f, that) => {
		for (let k = 0; k < n; k++) if (k in source) {
			let v = source[k]
			if (f !== undefined) v = apply(f, that, [v, k, source])
			if (depth > 0 && isArray(v)) at = flatten(target, at, v, lengthOf(v), depth - 1)
			else {
				short(at + 1)
				define(target, at++, v)
			}
		}
		return at
	}
	const sorted = (list, f) => apply(nativeSort, list, f === undefined ? [] : [f])
	const comparator = (f, name) => {
		if (f !== undefined && typeof f !== 'function') throw new TypeError('Array.prototype.' + name + ': the argument must be a function or undefined')
	}
	const list = (o, n) => {
		const a = create(n)
		for (let k = 0; k < n; k++) define(a, k, o[k])
		return a
	}
	const reduce = (o, args, name, from, step, n) => {
		const f = args[0]
		callback(f, name)
		let k = from, acc
		if (args.length > 1) acc = args[1]
		else {
			while (k >= 0 && k < n && !(k in o)) k += step
			if (k < 0 || k >= n) throw new TypeError('Reduce of empty array with no initial value')
			acc = o[k], k += step
		}
		for (; k >= 0 && k < n; k += step) if (k in o) acc = f(acc, o[k], k, o)
		return acc
	}
	const search = (o, f, that, name, last) => {
		const n = lengthOf(o)
		callback(f, name)
		for (let i = 0; i < n; i++) {
			const k = last ? n - 1 - i : i, v = o[k]
			if (apply(f, that, [v, k, o])) return [k, v]
		}
		return [-1, undefined]
	}
	return {
		every(f, that) {
			const n = lengthOf(this)
			callback(f, 'every')
			for (let k = 0; k < n; k++) if (k in this && !apply(f, that, [this[k], k, this])) return false
			return true
		},
		some(f, that) {
			const n = lengthOf(this)
			callback(f, 'some')
			for (let k = 0; k < n; k++) if (k in this && apply(f, that, [this[k], k, this])) return true
			return false
		},
		forEach(f, that) {
			const n = lengthOf(this)
			callback(f, 'forEach')
			for (let k = 0; k < n; k++) if (k in this) apply(f, that, [this[k], k, this])
		},
		map(f, that) {
			const n = lengthOf(this)
			callback(f, 'map')
			const a = like(this, n)
			for (let k = 0; k < n; k++) if (k in this) define(a, k, apply(f, that, [this[k], k, this]))
			return a
		},
		filter(f, that) {
			const n = lengthOf(this)
			callback(f, 'filter')
			const a = like(this, 0)
			let to = 0
			for (let k = 0; k < n; k++) if (k in this) {
				const v = this[k]
				if (apply(f, that, [v, k, this])) define(a, to++, v)
			}
			return a
		},
		reduce(...args) { return reduce(this, args, 'reduce', 0, 1, lengthOf(this)) },
		reduceRight(...args) { const n = lengthOf(this); return reduce(this, args, 'reduceRight', n - 1, -1, n) },
		find(f, that) { return search(this, f, that, 'find', false)[1] },
		findIndex(f, that) { return search(this, f, that, 'findIndex', false)[0] },
		findLast(f, that) { return search(this, f, that, 'findLast', true)[1] },
		findLastIndex(f, that) { return search(this, f, that, 'findLastIndex', true)[0] },
		includes(v, from) {
			const n = lengthOf(this)
			if (n === 0) return false
			for (let k = index(from, n); k < n; k++) {
				const x = this[k]
				if (x === v || x !== x && v !== v) return true
			}
			return false
		},
		indexOf(v, from) {
			const n = lengthOf(this)
			if (n === 0) return -1
			for (let k = index(from, n); k < n; k++) if (k in this && this[k] === v) return k
			return -1
		},
		lastIndexOf(...args) {
			const n = lengthOf(this)
			if (n === 0) return -1
			let k = args.length > 1 ? integer(args[1]) : n - 1
			k = k < 0 ? n + k : min(k, n - 1)
			for (; k >= 0; k--) if (k in this && this[k] === args[0]) return k
			return -1
		},
		reverse() {
			const n = lengthOf(this)
			for (let lower = 0, middle = trunc(n / 2); lower < middle; lower++) {
				const upper = n - 1 - lower
				let low, high
				const hasLow = lower in this
				if (hasLow) low = this[lower]
				const hasHigh = upper in this
				if (hasHigh) high = this[upper]
				if (hasHigh) this[lower] = high
				else if (hasLow) delete this[lower]
				if (hasLow) this[upper] = low
				else if (hasHigh) delete this[upper]
			}
			return this
		},
		slice(start, end) {
			const n = lengthOf(this)
			let k = index(start, n)
			const last = end === undefined ? n : index(end, n)
			const a = like(this, max(last - k, 0))
			let to = 0
			for (; k < last; k++, to++) if (k in this) define(a, to, this[k])
			a.length = to
			return a
		},
		splice(...args) {
			const n = lengthOf(this), from = index(args[0], n), items = max(args.length - 2, 0)
			const gone = args.length === 0 ? 0 : args.length === 1 ? n - from : min(max(integer(args[1]), 0), n - from)
			short(n + items - gone)
			const a = like(this, gone)
			for (let k = 0; k < gone; k++) if (from + k in this) define(a, k, this[from + k])
			a.length = gone
			if (items < gone) {
				for (let k = from; k < n - gone; k++) move(this, k + gone, k + items)
				for (let k = n; k > n - gone + items; k--) delete this[k - 1]
			} else if (items > gone) {
				for (let k = n - gone; k > from; k--) move(this, k + gone - 1, k + items - 1)
			}
			for (let k = 0; k < items; k++) this[from + k] = args[k + 2]
			this.length = n - gone + items
			return a
		},
		shift() {
			const n = lengthOf(this)
			if (n === 0) {
				this.length = 0
				return
			}
			const first = this[0]
			for (let k = 1; k < n; k++) move(this, k, k - 1)
			delete this[n - 1]
			this.length = n - 1
			return first
		},
		unshift(...args) {
			const n = lengthOf(this), items = args.length
			if (items > 0) {
				short(n + items)
				for (let k = n; k > 0; k--) move(this, k - 1, k + items - 1)
				for (let k = 0; k < items; k++) this[k] = args[k]
			}
			return this.length = n + items
		},
		copyWithin(target, start, end) {
			const n = lengthOf(this)
			let to = index(target, n), from = index(start, n)
			const last = end === undefined ? n : index(end, n)
			let left = min(last - from, n - to), step = 1
			if (from < to && to < from + left) step = -1, from += left - 1, to += left - 1
			for (; left > 0; left--, from += step, to += step) move(this, from, to)
			return this
		},
		fill(v, start, end) {
			const n = lengthOf(this)
			let k = index(start, n)
			const last = end === undefined ? n : index(end, n)
			for (; k < last; k++) this[k] = v
			return this
		},
		concat(...args) {
			const a = like(this, 0)
			let at = 0
			for (let i = -1; i < args.length; i++) {
				const v = i < 0 ? this : args[i]
				let spread = isObject(v)
				if (spread) {
					const s = v[Symbol.isConcatSpreadable]
					spread = s === undefined ? isArray(v) : !!s
				}
				if (spread) {
					const n = lengthOf(v)
					short(at + n)
					for (let k = 0; k < n; k++, at++) if (k in v) define(a, at, v[k])
				} else {
					short(at + 1)
					define(a, at++, v)
				}
			}
			a.length = at
			return a
		},
		flat(depth) {
			const n = lengthOf(this), d = depth === undefined ? 1 : integer(depth), a = like(this, 0)
			flatten(a, 0, this, n, d)
			return a
		},
		flatMap(f, that) {
			const n = lengthOf(this)
			callback(f, 'flatMap')
			const a = like(this, 0)
			flatten(a, 0, this, n, 1, f, that)
			return a
		},
		sort(f) {
			comparator(f, 'sort')
			const n = lengthOf(this), a = []
			for (let k = 0; k < n; k++) if (k in this) define(a, a.length, this[k])
			sorted(a, f)
			const m = a.length
			for (let k = 0; k < m; k++) this[k] = a[k]
			for (let k = m; k < n; k++) if (k in this) delete this[k]
			return this
		},
		toSorted(f) {
			comparator(f, 'toSorted')
			return sorted(list(this, lengthOf(this)), f)
		},
		toReversed() {
			const n = lengthOf(this), a = create(n)
			for (let k = 0; k < n; k++) define(a, k, this[n - 1 - k])
			return a
		},
		toSpliced(...args) {
			const n = lengthOf(this), from = index(args[0], n), items = max(args.length - 2, 0)
			const gone = args.length === 0 ? 0 : args.length === 1 ? n - from : min(max(integer(args[1]), 0), n - from)
			short(n + items - gone)
			const a = create(n + items - gone)
			let to = 0
			for (; to < from; to++) define(a, to, this[to])
			for (let k = 0; k < items; k++) define(a, to++, args[k + 2])
			for (let k = from + gone; k < n; k++) define(a, to++, this[k])
			return a
		},
		with(i, v) {
			const n = lengthOf(this)
			let at = integer(i)
			if (at < 0) at += n
			if (at < 0 || at >= n) throw new RangeError('Array.prototype.with: the index is outside of the array')
			const a = create(n)
			for (let k = 0; k < n; k++) define(a, k, k === at ? v : this[k])
			return a
		},
	}
})
