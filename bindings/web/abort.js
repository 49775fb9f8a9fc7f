(function (after) {
  'use strict'
  const inspect = Symbol.for('nodejs.util.inspect.custom')
  const tag = (c, name) => Object.defineProperty(c.prototype, Symbol.toStringTag, { value: name, configurable: true })
  // legacy error codes by name
  const codes = {
    IndexSizeError: 1, HierarchyRequestError: 3, WrongDocumentError: 4, InvalidCharacterError: 5, NoModificationAllowedError: 7,
    NotFoundError: 8, NotSupportedError: 9, InUseAttributeError: 10, InvalidStateError: 11, SyntaxError: 12, InvalidModificationError: 13,
    NamespaceError: 14, InvalidAccessError: 15, TypeMismatchError: 17, SecurityError: 18, NetworkError: 19, AbortError: 20,
    URLMismatchError: 21, QuotaExceededError: 22, TimeoutError: 23, InvalidNodeTypeError: 24, DataCloneError: 25,
  }
  class DOMException extends Error {
    #name
    constructor(message = '', options = 'Error') {
      super(message)
      const named = options !== null && typeof options === 'object'
      this.#name = String(named ? options.name ?? 'Error' : options)
      Object.defineProperty(this, 'name', { value: this.#name, configurable: true }) // readable without running a getter
      if (named && 'cause' in options) Object.defineProperty(this, 'cause', { value: options.cause, writable: true, configurable: true })
    }
    get name() { return this.#name }
    get code() { return codes[this.#name] ?? 0 }
    static copy(v) { return #name in v ? new DOMException(v.message, v.#name) : undefined }
  }
  const { copy } = DOMException // of a DOMException, for structuredClone
  delete DOMException.copy
  tag(DOMException, 'DOMException')
  const fail = (message, name, hint) => {
    const e = new DOMException(message, name)
    if (hint) Object.defineProperty(e, 'hint', { value: hint, configurable: true })
    throw e
  }
  const secret = {}
  class AbortSignal {
    #aborted = false
    #reason
    #listeners = []
    #onabort = null
    #dependents = []
    constructor(key) {
      if (key !== secret) throw new TypeError('an AbortSignal comes from an AbortController')
    }
    get aborted() { return this.#aborted }
    [inspect]() { return Object.create(AbortSignal.prototype, { aborted: { value: this.#aborted, enumerable: true } }) }
    get reason() { return this.#reason }
    get onabort() { return this.#onabort }
    set onabort(listener) {
      const callable = listener !== null && (typeof listener === 'function' || typeof listener === 'object')
      if (callable && this.#onabort === null) this.#listeners.push({ on: true }) // in order with the other listeners
      if (!callable) this.#listeners = this.#listeners.filter(l => !l.on)
      this.#onabort = callable ? listener : null
    }
    throwIfAborted() { if (this.#aborted) throw this.#reason }
    addEventListener(type, listener, options) {
      const signal = options?.signal
      if (String(type) !== 'abort' || listener == null || signal?.aborted || this.#listeners.some(l => l.listener === listener)) return
      if (typeof listener !== 'function' && typeof listener !== 'object') throw new TypeError('a listener must be a function or an object with handleEvent')
      this.#listeners.push({ listener, once: Boolean(options?.once) })
      signal?.addEventListener('abort', () => this.removeEventListener(type, listener), { once: true })
    }
    removeEventListener(type, listener) {
      if (String(type) === 'abort') this.#listeners = this.#listeners.filter(l => l.listener !== listener)
    }
    static abort(reason) {
      const c = new AbortController()
      c.abort(reason)
      return c.signal
    }
    static timeout(milliseconds) {
      const ms = Number(milliseconds)
      if (!(ms >= 0 && ms <= Number.MAX_SAFE_INTEGER)) throw new RangeError(`AbortSignal.timeout: expected milliseconds from 0 on, not ${String(milliseconds)}`)
      const c = new AbortController()
      after(() => c.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError')), ms)
      return c.signal
    }
    static any(signals) {
      const c = new AbortController()
      const all = [...signals]
      for (const s of all) if (!(s !== null && typeof s === 'object' && #dependents in s)) throw new TypeError('AbortSignal.any: each element must be an AbortSignal')
      const aborted = all.find(s => s.#aborted)
      if (aborted) c.abort(aborted.#reason)
      else for (const s of all) s.#dependents.push(c.signal)
      return c.signal
    }
    static fire(key, signal, reason) {
      if (key !== secret || signal.#aborted) return
      const told = [signal]
      for (const s of told) { // abort all signals before the first listener runs
        s.#aborted = true
        s.#reason = reason
        told.push(...s.#dependents.filter(d => !d.#aborted && !told.includes(d)))
        s.#dependents = []
      }
      for (const s of told) s.#tell()
    }
    #tell() {
      const event = { type: 'abort', target: this, currentTarget: this, isTrusted: true }
      Object.defineProperty(event, Symbol.toStringTag, { value: 'Event' })
      for (const l of [...this.#listeners]) {
        if (!this.#listeners.includes(l)) continue // removed by an earlier listener
        if (l.once) this.#listeners = this.#listeners.filter(other => other !== l)
        const listener = l.on ? this.#onabort : l.listener
        try {
          if (typeof listener === 'function') listener.call(this, event)
          else listener?.handleEvent?.(event)
        } catch (e) { // report the exception and call the remaining listeners
          queueMicrotask(() => { throw e })
        }
      }
    }
  }
  const fire = AbortSignal.fire
  delete AbortSignal.fire
  class AbortController {
    #signal = new AbortSignal(secret)
    get signal() { return this.#signal }
    [inspect]() { return Object.create(AbortController.prototype, { signal: { value: this.#signal, enumerable: true } }) }
    abort(reason = new DOMException('This operation was aborted', 'AbortError')) {
      fire(secret, this.#signal, reason)
    }
  }
  tag(AbortSignal, 'AbortSignal')
  tag(AbortController, 'AbortController')
  return { AbortController, AbortSignal, DOMException, fail, copy }
})
