(function (fail, exception, kindOf, detach, tooDeep) {
  'use strict'
  // Scripts can modify every global and prototype. Capture the classes now and distinguish values by their internal slots.
  const getter = (proto, name) => Object.getOwnPropertyDescriptor(proto, name).get
  const { slice } = ArrayBuffer.prototype
  const views = getter(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag)
  const typed = Object.fromEntries([
    Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, Float32Array, Float64Array, BigInt64Array, BigUint64Array,
  ].map(c => [c.name, c]))
  const length = getter(Object.getPrototypeOf(Uint8Array.prototype), 'length')
  const errors = { Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError }
  const { forEach: eachOfMap } = Map.prototype
  const { forEach: eachOfSet } = Set.prototype
  const { getTime } = Date.prototype
  const source = getter(RegExp.prototype, 'source')
  const wrapped = [Number, String, Boolean, BigInt, Symbol].map(c => c.prototype.valueOf)
  const { toString } = Object.prototype
  const stateful = [
    'WeakMap', 'WeakSet', 'WeakRef', 'FinalizationRegistry', 'Generator', 'AsyncGenerator', 'DisposableStack', 'AsyncDisposableStack',
    'Array Iterator', 'Map Iterator', 'Set Iterator', 'String Iterator', 'RegExp String Iterator', 'Iterator Helper',
  ]
  const refuse = what => fail(`${what} could not be cloned`, 'DataCloneError', 'leave it out, or put what it holds into plain objects, arrays, maps and sets')

  // put defines a property of copy without running a setter of its prototype, such as __proto__.
  const put = (copy, key, value) => Object.defineProperty(copy, key, { value, writable: true, enumerable: true, configurable: true })

  function primitive(v) {
    for (const valueOf of wrapped) {
      try { return [valueOf.call(v)] } catch { /* another type */ }
    }
  }

  function view(v, name, clone) {
    const buffer = clone(v.buffer)
    return name ? new typed[name](buffer, v.byteOffset, length.call(v)) : new DataView(buffer, v.byteOffset, v.byteLength)
  }

  function error(v, keep, clone) {
    const make = Object.hasOwn(errors, v.name) ? errors[v.name] : Error
    const special = exception(v)
    const copy = keep(special ?? new make())
    const hide = (name, value) => Object.defineProperty(copy, name, { value, writable: true, configurable: true })
    if (special) {
      hide('stack', v.stack)
      return copy
    }
    if (Object.hasOwn(v, 'message')) hide('message', String(v.message))
    else delete copy.message
    hide('stack', v.stack)
    if (Object.hasOwn(v, 'cause')) hide('cause', clone(v.cause))
    return copy
  }

  // maxDepth limits the recursion of copyOf.
  const maxDepth = 2000

  function copyOf(v, seen, depth) {
    const clone = v => copyOf(v, seen, depth + 1)
    if (typeof v === 'symbol') refuse(String(v))
    if (typeof v === 'function') refuse(`the function ${v.name || '(anonymous)'}`)
    if (v === null || typeof v !== 'object') return v
    if (seen.has(v)) return seen.get(v)
    if (depth > maxDepth) tooDeep(maxDepth)
    const keep = copy => (seen.set(v, copy), copy)
    const kind = kindOf(v)
    switch (kind) {
      case 'ArrayBuffer':
        return keep(slice.call(v, 0))
      case 'TypedArray':
        return keep(view(v, views.call(v), clone))
      case 'Date':
        return keep(new Date(getTime.call(v)))
      case 'RegExp':
        return keep(new RegExp(source.call(v), v.flags))
      case 'Map': {
        const [copy, pairs] = [keep(new Map()), []]
        eachOfMap.call(v, (x, k) => { pairs.push([k, x]) })
        for (const [k, x] of pairs) copy.set(clone(k), clone(x))
        return copy
      }
      case 'Set': {
        const [copy, list] = [keep(new Set()), []]
        eachOfSet.call(v, x => { list.push(x) })
        for (const x of list) copy.add(clone(x))
        return copy
      }
      case 'Error':
        return error(v, keep, clone)
      case 'detached':
        refuse('a detached ArrayBuffer')
      case 'Array': case 'Object': case 'Number': case 'String': case 'Boolean': case 'BigInt': case 'Symbol':
        break
      default:
        refuse(`a ${kind}`)
    }
    if (ArrayBuffer.isView(v)) return keep(view(v, '', clone))
    const tag = toString.call(v).slice(8, -1)
    // primitive is slow because it catches exceptions, so call it only for possible wrapper objects.
    const inner = kind !== 'Array' && (kind !== 'Object' || tag === 'Symbol') && primitive(v)
    if (inner) return typeof inner[0] === 'symbol' ? refuse('a Symbol object') : keep(Object(inner[0]))
    if (stateful.includes(tag) && !Object.hasOwn(v, Symbol.toStringTag)) refuse(`a ${tag}`)
    const copy = keep(kind === 'Array' ? new Array(v.length) : {})
    for (const key of Object.keys(v)) {
      if (Object.hasOwn(v, key)) put(copy, key, clone(v[key])) // a getter may have removed it
    }
    return copy
  }

  return (value, options) => {
    const moved = options?.transfer === undefined ? [] : [...options.transfer]
    for (const [i, v] of moved.entries()) {
      const kind = kindOf(v)
      if (kind !== 'ArrayBuffer' || moved.indexOf(v) !== i) {
        fail(kind === 'ArrayBuffer' ? 'an ArrayBuffer stands twice in transfer' : `${kind === 'detached' ? 'a detached ArrayBuffer' : 'what stands in transfer'} cannot be transferred`,
          'DataCloneError', 'transfer is a list of ArrayBuffers, such as { transfer: [array.buffer] }')
      }
    }
    const copy = copyOf(value, new Map(), 1)
    moved.forEach(detach)
    return copy
  }
})
