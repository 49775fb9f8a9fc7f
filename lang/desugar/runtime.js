// The functions that lowered code calls. They use only what the engine passes, because scripts may replace globals.
((apply, setPrototypeOf, getPrototypeOf, defineProperty, getOwnPropertyDescriptor, create, freeze, next, throwInto, returnInto,
  symbols, NativePromise, NativeTypeError, suppressedError) => {
  'use strict'
  const { asyncIterator, iterator, toStringTag, dispose: disposeSymbol, asyncDispose: asyncDisposeSymbol } = symbols
  const isObject = v => typeof v === 'object' && v !== null || typeof v === 'function'
  const textOf = v => {
    try { return typeof v === 'string' ? '"' + v + '"' : `${typeof v === 'symbol' ? 'a symbol' : v}` } catch { return 'the value' }
  }
  const method = (o, key) => {
    const m = o[key]
    if (m === undefined || m === null) return undefined
    if (typeof m !== 'function') throw new NativeTypeError('a method of the iterator is not a function')
    return m
  }

  // settle awaits a value and calls one of two functions in the same turn.
  const settle = async (value, fulfilled, rejected) => {
    try { value = await value } catch (error) { rejected(error); return }
    fulfilled(value)
  }
  const capability = () => {
    const c = { promise: undefined, resolve: undefined, reject: undefined }
    c.promise = new NativePromise((resolve, reject) => { c.resolve = resolve; c.reject = reject })
    return c
  }

  // Iterators of synchronous iterables for loops with await, by %AsyncFromSyncIteratorPrototype%.
  class FromSync {
    #iterator; #next
    constructor(it) { this.#iterator = it; this.#next = it.next }
    #close() {
      try {
        const m = method(this.#iterator, 'return')
        if (m !== undefined) apply(m, this.#iterator, [])
      } catch { }
    }
    #wait(cap, result, close) {
      let done, value
      try {
        done = !!result.done
        value = result.value
      } catch (error) { cap.reject(error); return cap.promise }
      let constructorFailed = true
      const failed = error => { if (!done && close) this.#close(); cap.reject(error) }
      try {
        if (isObject(value) && value instanceof NativePromise) value.constructor
        constructorFailed = false
      } catch (error) { failed(error) }
      if (!constructorFailed) settle(value, v => cap.resolve({ value: v, done }), failed)
      return cap.promise
    }
    next(v) {
      const cap = capability()
      let result
      try {
        result = apply(this.#next, this.#iterator, [v])
        if (!isObject(result)) throw new NativeTypeError('iterator result ' + textOf(result) + ' is not an object')
      } catch (error) { cap.reject(error); return cap.promise }
      return this.#wait(cap, result, true)
    }
    return(...args) {
      const cap = capability()
      let result
      try {
        const m = method(this.#iterator, 'return')
        if (m === undefined) { cap.resolve({ value: args[0], done: true }); return cap.promise }
        result = apply(m, this.#iterator, args)
        if (!isObject(result)) throw new NativeTypeError('iterator result ' + textOf(result) + ' is not an object')
      } catch (error) { cap.reject(error); return cap.promise }
      return this.#wait(cap, result, false)
    }
    throw(...args) {
      const cap = capability()
      let result
      try {
        const m = method(this.#iterator, 'throw')
        if (m === undefined) {
          const r = method(this.#iterator, 'return')
          if (r !== undefined && !isObject(apply(r, this.#iterator, []))) throw new NativeTypeError('iterator result is not an object')
          throw new NativeTypeError('The iterator does not provide a throw method')
        }
        result = apply(m, this.#iterator, args)
        if (!isObject(result)) throw new NativeTypeError('iterator result ' + textOf(result) + ' is not an object')
      } catch (error) { cap.reject(error); return cap.promise }
      return this.#wait(cap, result, true)
    }
  }
  setPrototypeOf(FromSync.prototype, null)

  const asyncIteratorOf = (value, what) => {
    let make = value === undefined || value === null ? undefined : value[asyncIterator]
    if (make !== undefined && make !== null) {
      if (typeof make !== 'function') throw new NativeTypeError('Symbol.asyncIterator of the value is not a function')
      const it = apply(make, value, [])
      if (!isObject(it)) throw new NativeTypeError('Result of the Symbol.asyncIterator method is not an object')
      return it
    }
    make = value === undefined || value === null ? undefined : value[iterator]
    if (typeof make !== 'function') throw new NativeTypeError(textOf(value) + ' is not ' + what)
    const it = apply(make, value, [])
    if (!isObject(it)) throw new NativeTypeError('Result of the Symbol.iterator method is not an object')
    return new FromSync(it)
  }

  // Marks that a lowered asynchronous generator yields; they are read at once.
  const awaiting = { value: undefined }, delegating = { iterator: undefined, next: undefined }

  class Identity { constructor(o) { return o } }
  class State extends Identity {
    #state
    constructor(generator) {
      super(generator)
      this.#state = { generator, queue: [], running: false, done: false, started: false, inner: undefined }
    }
    static of(generator) { return #state in generator ? generator.#state : undefined }
  }

  const NEXT = 0, THROW = 1, RETURN = 2
  const rejecting = (state, kind, error) => run(state, THROW, error)

  const shift = state => {
    const first = state.queue[0]
    for (let i = 1; i < state.queue.length; i++) state.queue[i - 1] = state.queue[i]
    state.queue.length--
    return first
  }

  const run = (state, kind, value) => {
    let result
    try {
      result = apply(kind === NEXT ? next : kind === THROW ? throwInto : returnInto, state.generator, [value])
    } catch (error) { finish(state, false, error); return }
    if (result.done) { finish(state, true, result.value); return }
    const yielded = result.value
    if (yielded === awaiting) {
      const v = awaiting.value
      awaiting.value = undefined
      settle(v, v => run(state, NEXT, v), error => run(state, THROW, error))
    } else if (yielded === delegating) {
      state.inner = { iterator: delegating.iterator, next: delegating.next }
      delegating.iterator = delegating.next = undefined
      delegate(state, NEXT, undefined)
    } else {
      settle(yielded, v => yieldOut(state, v), error => run(state, THROW, error))
    }
  }

  const yieldOut = (state, value) => {
    shift(state).cap.resolve({ value, done: false })
    if (state.queue.length > 0) resume(state, state.queue[0])
    else state.running = false
  }

  // resume continues at a yield with a request.
  const resume = (state, request) => {
    const { kind, value } = request
    const go = state.inner === undefined ? run : delegate
    if (kind === RETURN && state.started) settle(value, v => go(state, RETURN, v), error => go(state, THROW, error))
    else {
      state.started = true
      go(state, kind, value)
    }
  }

  const finish = (state, fulfilled, value) => {
    state.done = true
    const { cap } = shift(state)
    if (fulfilled) cap.resolve({ value, done: true })
    else cap.reject(value)
    drain(state)
  }

  // drain answers the requests to a generator that has ended.
  const drain = state => {
    while (state.queue.length > 0) {
      const { kind, value } = state.queue[0]
      if (kind === RETURN) {
        settle(value, v => { shift(state).cap.resolve({ value: v, done: true }); drain(state) },
          error => { shift(state).cap.reject(error); drain(state) })
        return
      }
      const { cap } = shift(state)
      if (kind === NEXT) cap.resolve({ value: undefined, done: true })
      else cap.reject(value)
    }
    state.running = false
  }

  // delegate passes a request on to the iterator of yield*.
  const delegate = (state, kind, value) => {
    const inner = state.inner, it = inner.iterator
    const stop = (kind, value) => { state.inner = undefined; run(state, kind, value) }
    let answer
    try {
      if (kind === NEXT) answer = apply(inner.next, it, [value])
      else {
        const m = method(it, kind === THROW ? 'throw' : 'return')
        if (m !== undefined) answer = apply(m, it, [value])
        else if (kind === RETURN) { stop(RETURN, value); return }
        else {
          const missing = () => stop(THROW, new NativeTypeError('The iterator does not provide a throw method'))
          const shut = method(it, 'return')
          if (shut === undefined) { missing(); return }
          settle(apply(shut, it, []), r => isObject(r) ? missing() : stop(THROW, new NativeTypeError('iterator result is not an object')),
            error => stop(THROW, error))
          return
        }
      }
    } catch (error) { stop(THROW, error); return }
    settle(answer, result => {
      let done, v
      try {
        if (!isObject(result)) throw new NativeTypeError('iterator result ' + textOf(result) + ' is not an object')
        done = !!result.done
        v = result.value
      } catch (error) { stop(THROW, error); return }
      if (done) stop(kind === RETURN ? RETURN : NEXT, v)
      else yieldOut(state, v)
    }, error => stop(THROW, error))
  }

  const request = (generator, kind, value) => {
    const cap = capability()
    if (!isObject(generator) || !isAsyncGenerator(generator)) {
      cap.reject(new NativeTypeError('next, return and throw need an asynchronous generator'))
      return cap.promise
    }
    let state = State.of(generator)
    if (state === undefined) { new State(generator); state = State.of(generator) }
    const r = { kind, value, cap }
    defineProperty(state.queue, state.queue.length, { value: r, writable: true, enumerable: true, configurable: true })
    if (state.running) return cap.promise
    state.running = true
    if (!state.done && !state.started && kind !== NEXT) state.done = true
    if (state.done) drain(state)
    else resume(state, r)
    return cap.promise
  }

  // The prototypes of asynchronous generators.
  const define = (o, key, value, writable) => defineProperty(o, key, { value, writable, enumerable: false, configurable: true })
  const AsyncIteratorPrototype = {}
  define(AsyncIteratorPrototype, asyncIterator, { [asyncIterator]() { return this } }[asyncIterator], true)
  defineProperty(AsyncIteratorPrototype[asyncIterator], 'name', { value: '[Symbol.asyncIterator]', configurable: true })
  const disposeAsync = async o => {
    const f = o.return
    if (f !== undefined && f !== null) await apply(f, o, [])
  }
  define(AsyncIteratorPrototype, asyncDisposeSymbol, { [asyncDisposeSymbol]() { return disposeAsync(this) } }[asyncDisposeSymbol], true)
  defineProperty(AsyncIteratorPrototype[asyncDisposeSymbol], 'name', { value: '[Symbol.asyncDispose]', configurable: true })
  const AsyncGeneratorPrototype = create(AsyncIteratorPrototype)
  const methods = {
    next(value) { return request(this, NEXT, value) },
    return(value) { return request(this, RETURN, value) },
    throw(value) { return request(this, THROW, value) },
  }
  define(AsyncGeneratorPrototype, 'next', methods.next, true)
  define(AsyncGeneratorPrototype, 'return', methods.return, true)
  define(AsyncGeneratorPrototype, 'throw', methods.throw, true)
  define(AsyncGeneratorPrototype, toStringTag, 'AsyncGenerator', false)
  const functions = getPrototypeOf(function () { })
  const AsyncGeneratorFunctionPrototype = create(functions)
  define(AsyncGeneratorFunctionPrototype, 'prototype', AsyncGeneratorPrototype, false)
  define(AsyncGeneratorFunctionPrototype, toStringTag, 'AsyncGeneratorFunction', false)
  define(AsyncGeneratorPrototype, 'constructor', AsyncGeneratorFunctionPrototype, false)
  const GeneratorFunctionPrototype = getPrototypeOf(function* () { })
  const isAsyncGenerator = generator => {
    for (let o = getPrototypeOf(generator); o !== null; o = getPrototypeOf(o)) if (o === AsyncGeneratorPrototype) return true
    return false
  }

  const asyncGenerator = (f, name) => {
    if (typeof f !== 'function' || getPrototypeOf(f) !== GeneratorFunctionPrototype) return f
    setPrototypeOf(f, AsyncGeneratorFunctionPrototype)
    const { value } = getOwnPropertyDescriptor(f, 'prototype')
    if (isObject(value)) setPrototypeOf(value, AsyncGeneratorPrototype)
    if (name !== undefined) defineProperty(f, 'name', { value: name, writable: false, enumerable: false, configurable: true })
    return f
  }

  // Scopes of using declarations.
  const suppress = (scope, error) => {
    scope.error = scope.failed ? suppressedError(error, scope.error) : error
    scope.failed = true
  }
  const add = (scope, value, hint) => {
    if (value === null || value === undefined) {
      if (hint) { scope.resources[scope.count++] = { async: true, method: undefined, value: undefined } }
      return value
    }
    if (!isObject(value)) throw new NativeTypeError('A resource of using must be an object, null or undefined')
    let m, async = false
    if (hint) {
      m = value[asyncDisposeSymbol]
      async = true
    }
    let sync = false
    if (m === undefined || m === null) {
      m = value[disposeSymbol]
      sync = hint
    }
    if (typeof m !== 'function') throw new NativeTypeError(hint ? 'The resource of await using has neither Symbol.asyncDispose nor Symbol.dispose' : 'The resource of using has no method Symbol.dispose')
    scope.resources[scope.count++] = { async, sync, method: m, value }
    return value
  }

  const runtime = {
    await(value) { awaiting.value = value; return awaiting },
    delegate(value) {
      const it = asyncIteratorOf(value, 'async iterable')
      delegating.next = it.next
      delegating.iterator = it
      return delegating
    },
    key: k => typeof k === 'symbol' ? k : `${k}`,
    asyncGenerator,
    asyncGenerators(object, ...keys) {
      for (let i = 0; i < keys.length; i++) {
        const d = getOwnPropertyDescriptor(object, keys[i])
        if (d !== undefined) asyncGenerator(d.value)
      }
      return object
    },
    // A class with a hidden name gets the name that it has for scripts.
    className(c, hidden, name) {
      const d = getOwnPropertyDescriptor(c, 'name')
      if (d !== undefined && d.value === hidden) defineProperty(c, 'name', { value: name, writable: false, enumerable: false, configurable: true })
    },
    loop(value) {
      const it = asyncIteratorOf(value, 'async iterable')
      return { iterator: it, nextMethod: it.next, value: undefined, open: false, closeMethod: undefined }
    },
    next(loop) { loop.open = false; return apply(loop.nextMethod, loop.iterator, []) },
    step(loop, result) {
      if (!isObject(result)) throw new NativeTypeError('iterator result ' + textOf(result) + ' is not an object')
      if (result.done) return false
      loop.value = result.value
      loop.open = true
      return true
    },
    mayClose(loop) { loop.closeMethod = method(loop.iterator, 'return'); return loop.closeMethod !== undefined },
    close(loop) { return apply(loop.closeMethod, loop.iterator, []) },
    closed(result) { if (!isObject(result)) throw new NativeTypeError('iterator result ' + textOf(result) + ' is not an object') },
    scope: () => ({ __proto__: null, resources: { __proto__: null }, count: 0, failed: false, error: undefined, needs: false, awaited: false, pending: undefined }),
    use: (scope, value) => add(scope, value, false),
    useAsync: (scope, value) => add(scope, value, true),
    failed(scope, error) { scope.failed = true; scope.error = error },
    dispose(scope) {
      while (scope.count > 0) {
        const r = scope.resources[--scope.count]
        try { apply(r.method, r.value, []) } catch (error) { suppress(scope, error) }
      }
      if (scope.failed) throw scope.error
    },
    // disposing calls disposers until one returns a value to await, and reports whether there is one.
    disposing(scope) {
      while (scope.count > 0) {
        const r = scope.resources[scope.count - 1]
        if (!r.async && scope.needs) { scope.needs = false; scope.pending = undefined; return true }
        scope.count--
        if (r.method === undefined) { scope.needs = !scope.awaited; continue }
        try {
          const result = apply(r.method, r.value, [])
          if (r.async) {
            scope.awaited = true
            scope.needs = false
            scope.pending = r.sync ? undefined : result
            return true
          }
        } catch (error) { suppress(scope, error) }
      }
      scope.pending = undefined
      const { needs } = scope
      scope.needs = false
      return needs
    },
    suppress,
    disposed(scope) { if (scope.failed) throw scope.error },
  }
  return [freeze(setPrototypeOf(runtime, null)), AsyncGeneratorFunctionPrototype]
})
