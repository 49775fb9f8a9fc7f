// In what order things run: the script, microtasks, timers.
const log = (...what) => console.log(...what)
const later = () => new Promise(resolve => setTimeout(resolve, 1))
setTimeout((a, b) => { log('timer', a, b); queueMicrotask(() => log('its microtask')); Promise.resolve().then(() => log('its promise')) }, 1, 1, 'x')
setTimeout(() => log('second timer'), 1)
queueMicrotask(() => { log('microtask'); queueMicrotask(() => log('inner microtask')) })
Promise.resolve().then(() => log('then 1')).then(() => log('then 2'))
;(async () => { log('async begins'); await null; log('async goes on') })()
new Promise(resolve => { log('executor'); resolve() }).finally(() => log('finally'))
Promise.resolve().then(() => { Promise.resolve().then(() => log('behind')); structuredClone({}); log('before') })
log('script')
await later()
log('a turn later')
let n = 0
await new Promise(resolve => { const every = setInterval(() => { if (++n === 3) { clearInterval(every); resolve() } }, 1) })
log('three times')
const stopped = setTimeout(() => log('never'), 1); clearTimeout(stopped); clearTimeout(undefined); clearTimeout(null)
const t = setTimeout(() => log('never'), 1e6)
log(t.hasRef(), t.unref() === t, t.hasRef(), t.ref().hasRef()); clearTimeout(t)
for (const wrong of [() => setTimeout('code'), () => setTimeout(), () => queueMicrotask(1), () => setInterval({})]) {
  try { wrong(); log('taken') } catch (e) { log(e.name) }
}
try { await Promise.any([Promise.reject(1), Promise.reject(2)]) } catch (e) { log(e.name, e.errors) }
log(JSON.stringify(await Promise.allSettled([1, Promise.reject('no')])))
log(await Promise.race([new Promise(() => {}), later().then(() => 'settled')]))
const at = performance.now(); await later(); log(performance.now() > at, performance.timeOrigin > 1e12)
for await (const x of [1, Promise.resolve(2)]) log('for await', x)
let refreshed = 0
const again = setTimeout(() => { if (++refreshed < 3) again.refresh(); else log('refreshed') }, 1)
