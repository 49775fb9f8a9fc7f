// Cancelling: signals, reasons, listeners, errors of the web platform.
const attempt = fn => { try { console.log(fn()) } catch (e) { console.log(e instanceof RangeError ? 'TypeError' : e.name, e instanceof Error) } }
const c = new AbortController(), s = c.signal
console.log(s.aborted, s.reason, s.onabort, Object.prototype.toString.call(s), Object.prototype.toString.call(c), c.signal === s)
const seen = []
s.addEventListener('abort', function (e) { seen.push('first', e.type, e.target === s, this === s) })
s.onabort = () => seen.push('on')
const twice = () => seen.push('twice')
s.addEventListener('abort', twice); s.addEventListener('abort', twice, { once: true })
s.addEventListener('abort', { handleEvent(e) { seen.push('object', e.type) } })
const gone = () => seen.push('gone')
s.addEventListener('abort', gone); s.removeEventListener('abort', gone)
s.addEventListener('other', gone)
const forget = new AbortController()
s.addEventListener('abort', gone, { signal: forget.signal }); forget.abort()
s.throwIfAborted()
c.abort(); c.abort('again')
console.log(seen.join(' '), s.aborted, s.reason.name, s.reason.code, s.reason instanceof DOMException, s.reason.message)
attempt(() => s.throwIfAborted())
attempt(() => new AbortSignal())
console.log(AbortSignal.abort('why').reason, AbortSignal.abort().reason.name, AbortSignal.abort(null).reason, AbortSignal.abort(undefined).reason.name)
attempt(() => AbortSignal.abort(new RangeError('x')).throwIfAborted())
const a = new AbortController(), b = new AbortController(), any = AbortSignal.any([a.signal, b.signal]), of = AbortSignal.any([any])
any.addEventListener('abort', () => console.log('any', any.reason, a.signal.aborted))
b.abort('b'); a.abort('a')
console.log(any.aborted, any.reason, of.reason, AbortSignal.any([]).aborted, AbortSignal.any([AbortSignal.abort('at once'), a.signal]).reason)
attempt(() => AbortSignal.any([1]))
attempt(() => AbortSignal.any(5))
attempt(() => AbortSignal.timeout(-1))
attempt(() => AbortSignal.timeout('x'))
const t = AbortSignal.timeout(5), hold = setTimeout(() => {}, 10000)
t.onabort = () => { clearTimeout(hold); console.log(t.reason.name, t.reason.code, t.reason.message) }
AbortSignal.timeout(1e6) // does not keep the script
setTimeout(() => console.log('never'), 1e6).unref()
for (const args of [[], ['m'], ['m', 'AbortError'], ['m', 'Own'], ['m', { name: 'DataCloneError', cause: 5 }], ['m', 'NotFoundError']]) {
  const e = new DOMException(...args)
  console.log(e.name, e.message, e.code, e.cause, e instanceof Error, String(e), Object.prototype.toString.call(e))
}
