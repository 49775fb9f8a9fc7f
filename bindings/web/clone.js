(function (DOMException) {
  'use strict'
  const tag = v => Object.prototype.toString.call(v).slice(8, -1)
  const errors = { Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError }
  const fail = what => { throw new DOMException(`${what} cannot be cloned`, 'DataCloneError') }
  function clone(v, seen, moved) {
    if (typeof v === 'symbol') fail('a symbol')
    if (typeof v === 'function') fail(`the function ${v.name || '(anonymous)'}`)
    if (v === null || typeof v !== 'object') return v
    if (seen.has(v)) return seen.get(v)
    const keep = copy => (seen.set(v, copy), copy)
    if (ArrayBuffer.isView(v)) {
      const buffer = clone(v.buffer, seen, moved)
      if (v instanceof DataView) return keep(new DataView(buffer, v.byteOffset, v.byteLength))
      return keep(new v.constructor(buffer, v.byteOffset, v.length))
    }
    switch (tag(v)) {
      case 'ArrayBuffer': return keep(v.slice(0))
      case 'Date': return keep(new Date(v.getTime()))
      case 'RegExp': return keep(new RegExp(v.source, v.flags))
      case 'Boolean': case 'Number': case 'String': case 'BigInt': return keep(Object(v.valueOf()))
      case 'Map': {
        const copy = keep(new Map())
        for (const [k, x] of [...v]) copy.set(clone(k, seen), clone(x, seen))
        return copy
      }
      case 'Set': {
        const copy = keep(new Set())
        for (const x of [...v]) copy.add(clone(x, seen))
        return copy
      }
      case 'Error': {
        const make = Object.hasOwn(errors, v.name) ? errors[v.name] : Error
        const copy = keep(new make(v.message))
        Object.defineProperty(copy, 'stack', { value: v.stack, writable: true, configurable: true })
        if (Object.hasOwn(v, 'cause')) Object.defineProperty(copy, 'cause', { value: clone(v.cause, seen), writable: true, configurable: true })
        return copy
      }
      case 'Promise': case 'WeakMap': case 'WeakSet': fail(`a ${tag(v)}`)
    }
    if (Object.getOwnPropertySymbols(v).some(s => s.description === 'orepl.hidden')) fail(`an object of the host (${tag(v)})`)
    const copy = keep(Array.isArray(v) ? new Array(v.length) : {})
    for (const key of Object.keys(v)) copy[key] = clone(v[key], seen)
    return copy
  }
  return value => clone(value, new Map())
})
