"use strict"; ((defineProperty, getOwnPropertyDescriptor, getPrototypeOf, ownKeys, proto) => {
	// The methods of objects for accessors, by annex B of the standard.
	const object = o => {
		if (o === undefined || o === null) throw new TypeError('Cannot convert undefined or null to object')
		return Object(o)
	}
	const check = (f, name) => {
		if (typeof f !== 'function') throw new TypeError('Object.prototype.' + name + ': the second argument must be a function')
	}
	const toKey = k => ownKeys({ [k]: 0 })[0]
	const find = (o, k, name) => {
		for (o = object(o), k = toKey(k); o !== null; o = getPrototypeOf(o)) {
			const d = getOwnPropertyDescriptor(o, k)
			if (d !== undefined) return d[name]
		}
	}
	const methods = {
		__defineGetter__(k, get) {
			const o = object(this)
			check(get, '__defineGetter__')
			defineProperty(o, k, { __proto__: null, get, enumerable: true, configurable: true })
		},
		__defineSetter__(k, set) {
			const o = object(this)
			check(set, '__defineSetter__')
			defineProperty(o, k, { __proto__: null, set, enumerable: true, configurable: true })
		},
		__lookupGetter__(k) { return find(this, k, 'get') },
		__lookupSetter__(k) { return find(this, k, 'set') },
	}
	for (const name of ['__defineGetter__', '__defineSetter__', '__lookupGetter__', '__lookupSetter__']) {
		defineProperty(proto, name, { __proto__: null, value: methods[name], writable: true, configurable: true })
	}
})(Object.defineProperty, Object.getOwnPropertyDescriptor, Object.getPrototypeOf, Reflect.ownKeys, Object.prototype)
