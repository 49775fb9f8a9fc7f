// Runs the programs of a JSON file on the devices of the command line, and compares what they read with the file's digests. With
// MIXTURE_LOSS=1 a device may be lost: then a program may read other values if the loss is reported before the program's end.
import { device, kernel, collective, u32, args } from 'offload'
import { readJSONSync } from 'fs'

const devices = args.slice(1).map(id => device(id))
const queues = devices.flatMap(d => [d.queue, d.createQueue({ label: 'further' }), d.createQueue({ label: 'without waits', hazards: 'off' })])
const mix = kernel((g, x, y) => { const i = g.x; x[i] = ((x[i] << 5) | (x[i] >>> 27)) ^ y[i] })
const slow = kernel((g, x) => {
  let v = x[g.x]
  for (let r = u32(0); r < 20000; r++) v = ((v << 5) | (v >>> 27)) ^ r
  x[g.x] = v
})

const valuesOf = (v, n) => {
  const a = new Uint32Array(n)
  for (let i = 0; i < n; i++) a[i] = v ^ Math.imul(i, 0x9e3779b1)
  return a
}
const hash = a => {
  const step = Math.floor((a.length + 999) / 1000)
  let h = 0x811c9dc5
  for (let i = 0; i < a.length; i += step) h = Math.imul(h ^ a[i], 0x01000193)
  return Math.imul(h ^ a[a.length - 1], 0x01000193) >>> 0
}
const loss = process.env.MIXTURE_LOSS === '1'
let checks = 0, wrong = 0, lost = 0
const verify = (program, step, want, differences) => values => {
  checks++
  if (hash(values) === want) return
  differences.push(`program ${program.seed}, step ${step}: wrong, the first of ${values.length} elements are ${values.slice(0, 8).join(' ')}`)
}

async function run(program, buffers, reads, gates, differences) {
  const later = read => { // a loss may reject it before the program awaits it
    read.catch(() => {})
    reads.push(read)
  }
  const view = v => buffers[v.b].view(v.s, v.n)
  const create = (d, n, o) => {
    if (!o.kind) return d.buffer(u32, n, { label: o.label })
    try {
      return d.buffer(u32, n, { kind: o.kind, label: o.label })
    } catch (e) {
      if (e.code !== 'unsupported') throw e
      return d.buffer(u32, n, { label: o.label })
    }
  }
  for (const [step, o] of program.ops.entries()) {
    const queue = queues[o.q ?? 0], options = o.q % 3 ? { queue } : {}, list = o.list?.map(view)
    const box = o.box && { origin: o.box.o, extent: o.box.e, queue }
    const matrix = v => buffers[v.b].view(v.s, [v.n / o.box.c, o.box.c])
    if (queue.device !== devices[Math.floor((o.q ?? 0) / 3)]) throw new Error('the table of queues is wrong')
    switch (o.do) {
      case 'zeros': buffers[o.dst.b] = create(devices[o.dev ?? 0], o.dst.n, { kind: o.kind, label: `b${o.dst.b}` }); break
      case 'init': buffers[o.dst.b] = devices[o.dev ?? 0].buffer(u32, o.dst.n, i => i ^ 0x5bd1e995); break
      case 'values': buffers[o.dst.b] = devices[o.dev ?? 0].buffer(valuesOf(o.v ?? 0, o.dst.n)); break
      case 'copy': view(o.src).copyTo(view(o.dst), { queue }); break
      case 'write': { // a write has copied the values when it returns
        const values = valuesOf(o.v ?? 0, o.dst.n)
        view(o.dst).write(values, 0, options)
        values.fill(0)
        break
      }
      case 'fill': view(o.dst).fill(o.v ?? 0, options); break
      case 'mix': mix.launch({ size: o.dst.n, ...options }, view(o.dst), view(o.src)); break
      case 'slow': slow.launch({ size: o.dst.n, ...options }, view(o.dst)); break
      case 'read': later(view(o.src).read(0, o.src.n, options).then(verify(program, step, o.hash ?? 0, differences))); break
      case 'readRect': later(matrix(o.src).readRect(box).then(verify(program, step, o.hash ?? 0, differences))); break
      case 'writeRect': matrix(o.dst).writeRect(valuesOf(o.v ?? 0, o.box.e[0] * o.box.e[1]), box); break
      case 'broadcast': collective.broadcast(view(o.src), list); break
      case 'scatter': collective.scatter(view(o.src), list); break
      case 'gather': collective.gather(view(o.dst), list); break
      case 'allReduce': collective.allReduce(list, o.name); break
      case 'host': queue.host(o.v ? () => new Promise(done => setTimeout(done, o.v - 1)) : () => {}); break
      case 'gate': { // the queue stands until the program opens its gates
        const gate = Promise.withResolvers()
        gates.push(gate)
        queue.host(() => gate.promise)
        break
      }
      case 'open':
        await 0
        for (const gate of gates.splice(0)) gate.resolve()
        break
      case 'wait': queue.wait(queues[o.v ?? 0].record()); break
      case 'fence': for (const q of queues) if (q !== queue) queue.wait(q.record()); break
      case 'sync': await queue.sync(); break
      case 'settle': await Promise.all(reads); break
      case 'free': buffers[o.dst.b].free(); break
      default: throw new Error(`no operation ${o.do}`)
    }
  }
  await Promise.all(reads)
}

const programs = readJSONSync(args[0])
for (const p of programs) {
  if (loss) console.log(`program ${p.seed} begins`)
  const buffers = [], reads = [], gates = [], differences = [], errors = []
  try {
    await run(p, buffers, reads, gates, differences)
  } catch (e) {
    errors.push(e)
  }
  for (const gate of gates) gate.resolve()
  await Promise.allSettled(reads)
  for (const b of buffers) if (b && !b.freed) b.free()
  if (loss) await Promise.allSettled(queues.map(q => q.sync().catch(e => errors.push(e))))
  if (loss && errors.length > 0 && errors.every(e => e.code === 'device-lost')) {
    lost++
    continue
  }
  for (const e of errors) differences.push(`program ${p.seed}: ${e.code ?? e.name}: ${e.message}`)
  for (const d of differences) console.log(d)
  wrong += differences.length
}
console.log(`${programs.length} programs, ${checks} reads, ${wrong} wrong${loss ? `, ${lost} with a lost device` : ''}`)
