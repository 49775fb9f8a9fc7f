(function (setTimeout) {
  'use strict'
  class DOMException extends Error {
    #name
    constructor(message = '', name = 'Error') {
      super(message)
      this.#name = name
    }
    get name() { return this.#name }
  }
  const secret = {}
  const inspect = Symbol.for('nodejs.util.inspect.custom')
  class AbortSignal {
    #aborted = false
    #reason
    #listeners = []
    #onabort = null
    constructor(key) {
      if (key !== secret) throw new TypeError('an AbortSignal comes from an AbortController')
    }
    get aborted() { return this.#aborted }
    [inspect]() { return Object.create(AbortSignal.prototype, { aborted: { value: this.#aborted, enumerable: true } }) }
    get reason() { return this.#reason }
    get onabort() { return this.#onabort }
    set onabort(listener) { this.#onabort = typeof listener === 'function' ? listener : null }
    throwIfAborted() { if (this.#aborted) throw this.#reason }
    addEventListener(type, listener, options) {
      if (type !== 'abort' || this.#listeners.some(l => l.listener === listener)) return
      this.#listeners.push({ listener, once: options?.once === true })
    }
    removeEventListener(type, listener) {
      if (type === 'abort') this.#listeners = this.#listeners.filter(l => l.listener !== listener)
    }
    static abort(reason) {
      const c = new AbortController()
      c.abort(reason)
      return c.signal
    }
    static timeout(milliseconds) {
      const c = new AbortController()
      setTimeout(() => c.abort(new DOMException('The operation timed out', 'TimeoutError')), milliseconds)
      return c.signal
    }
    static any(signals) {
      const c = new AbortController()
      for (const s of signals) {
        if (s.aborted) c.abort(s.reason)
        else s.addEventListener('abort', () => c.abort(s.reason), { once: true })
      }
      return c.signal
    }
    static fire(key, signal, reason) {
      if (key !== secret || signal.#aborted) return
      signal.#aborted = true
      signal.#reason = reason
      const event = { type: 'abort', target: signal }
      const listeners = signal.#listeners
      signal.#listeners = listeners.filter(l => !l.once)
      if (typeof signal.onabort === 'function') signal.onabort(event)
      for (const { listener } of listeners) {
        if (typeof listener === 'function') listener.call(signal, event)
        else listener?.handleEvent?.(event)
      }
    }
  }
  const fire = AbortSignal.fire
  delete AbortSignal.fire
  class AbortController {
    #signal = new AbortSignal(secret)
    get signal() { return this.#signal }
    [inspect]() { return Object.create(AbortController.prototype, { signal: { value: this.#signal, enumerable: true } }) }
    abort(reason = new DOMException('The operation was aborted', 'AbortError')) {
      fire(secret, this.#signal, reason)
    }
  }
  return { AbortController, AbortSignal, DOMException }
})
