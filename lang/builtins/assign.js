// Object.assign into an integer array, by assignments of converted numbers.
(function (reduced) {
	'use strict'
	const { ownKeys, getOwnPropertyDescriptor } = Reflect, object = Object, text = String
	return function (target, ...sources) {
		for (let i = 0; i < sources.length; i++) {
			if (sources[i] == null) continue
			const from = object(sources[i]), keys = ownKeys(from)
			for (let k = 0; k < keys.length; k++) {
				const key = keys[k], property = getOwnPropertyDescriptor(from, key)
				if (property === undefined || !property.enumerable) continue
				const value = from[key]
				target[key] = typeof key === 'string' && text(key >>> 0) === key ? reduced(value) : value
			}
		}
		return target
	}
})
