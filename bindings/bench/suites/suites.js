import { collective, device as deviceOf, devices as allDevices, kernel, f32, f64, i32, u32 } from 'offload'
import { sweep, powers } from 'bench'

// chosen returns the devices with these ids, or all devices.
const chosen = list => list === undefined || list.length === 0 ? allDevices() : list.map(d => typeof d === 'string' ? deviceOf(d) : d)

// widest returns the widest float type that all devices have.
const widest = list => list.every(d => d.features.f64) ? f64 : f32

// all fails if elements of a buffer differ from a value: floats by more than a millionth of it, integers at all.
const differs = kernel((g, x, want, tolerance, count) => { if (!(Math.abs(x[g.x] - want) <= tolerance)) Atomics.add(count, 0, 1) })
const unequal = kernel((g, x, want, count) => { if (x[g.x] !== want) Atomics.add(count, 0, 1) })
async function all(x, want) {
  const count = x.device.buffer(u32, 1)
  if (Number.isInteger(want)) unequal.launch({ size: x.length }, x, want, count)
  else differs.launch({ size: x.length }, x, want, 1e-6 * Math.abs(want), count)
  const [wrong] = await count.read()
  count.free()
  if (wrong > 0) throw new Error(`${wrong} of ${x.length} elements differ from ${want}`)
  return true
}

// BabelStream's kernels, with its names, initial values and scalar.
const initial = { a: 0.1, b: 0.2, c: 0 }, scalar = 0.4
const dotItems = 256
// dotGroups returns the number of groups of Dot, by BabelStream's rule for OpenCL.
const dotGroups = d => 4 * Math.max(d.computeUnits, 1)
const babel = {
  Copy: { kernel: kernel((g, a, b, c) => { c[g.x] = a[g.x] }), arrays: 2, result: 'c', want: 0.1 },
  Mul: { kernel: kernel((g, a, b, c) => { b[g.x] = 0.4 * c[g.x] }), arrays: 2, result: 'b', want: 0 },
  Add: { kernel: kernel((g, a, b, c) => { c[g.x] = a[g.x] + b[g.x] }), arrays: 3, result: 'c', want: 0.1 + 0.2 },
  Triad: { kernel: kernel((g, a, b, c) => { a[g.x] = b[g.x] + 0.4 * c[g.x] }), arrays: 3, result: 'a', want: 0.2 },
  Dot: {
    kernel: kernel((g, a, b, partial) => {
      let sum = a[0] * 0
      for (let i = g.x; i < a.length; i += g.size.x) sum += a[i] * b[i]
      sum = g.reduce.add(sum)
      if (g.local.x === 0) partial[g.group.x] = sum
    }),
    arrays: 2, result: 'partial',
  },
}

// streams measures BabelStream's kernels on arrays of n elements.
async function streams(list, n, options) {
  const type = widest(list), width = type === f64 ? 8 : 4
  return await sweep('BabelStream', {
    axes: { device: list, kernel: Object.keys(babel) },
    setup: ({ device: d, kernel: name }) => {
      const array = value => d.buffer(type, n).fill(value)
      const state = { a: array(initial.a), b: array(initial.b), c: array(name === 'Mul' ? 0.1 : initial.c) }
      if (name === 'Dot') state.partial = d.buffer(type, dotGroups(d))
      return state
    },
    run: ({ a, b, c, partial }, { kernel: name }) => name === 'Dot'
      ? babel.Dot.kernel.launch({ groups: partial.length, groupSize: dotItems }, a, b, partial)
      : babel[name].kernel.launch({ size: n }, a, b, c),
    verify: async (state, { kernel: name }) => {
      if (name !== 'Dot') return await all(state[babel[name].result], name === 'Mul' ? scalar * 0.1 : babel[name].want)
      const sum = (await state.partial.read()).reduce((s, v) => s + v, 0), want = initial.a * initial.b * n
      if (!(Math.abs(sum - want) <= (type === f64 ? 1e-8 : 1e-4) * want)) throw new Error(`the sum is ${sum}, not ${want}`)
    },
    bytes: ({ kernel: name }) => babel[name].arrays * width * n,
    ...options,
  })
}

// copies measures nvbandwidth's copies between the host and each device, and between devices, with its names.
async function copies(list, options) {
  const sizes = powers(2 ** 16, options.bytes ?? 2 ** 26, 4)
  const done = async d => { await d.queue.record() }
  const rows = await sweep('nvbandwidth', {
    axes: { test: ['host_to_device_memcpy_ce', 'device_to_host_memcpy_ce', 'device_local_copy'], device: list, bytes: sizes },
    setup: ({ device: d, bytes }) => ({ x: d.buffer(u32, bytes / 4), y: d.buffer(u32, bytes / 4).fill(7), host: new Uint32Array(bytes / 4).fill(5), place: new Uint32Array(bytes / 4) }),
    run: async ({ x, y, host, place }, { test, device: d }) => {
      if (test === 'device_to_host_memcpy_ce') return void await y.read(0, host.length, { into: place })
      if (test === 'host_to_device_memcpy_ce') x.write(host)
      else y.copyTo(x)
      await done(d)
    },
    verify: async ({ x, place }, { test }) => test === 'device_to_host_memcpy_ce' ? place[0] === 7 && place.indexOf(0) < 0 : await all(x, test === 'device_local_copy' ? 7 : 5),
    bytes: ({ bytes, test }) => test === 'device_local_copy' ? 2 * bytes : bytes,
    clock: 'host', ...options.bench,
  })
  if (list.length < 2) return rows
  return rows.concat(await sweep('nvbandwidth', {
    axes: { test: ['device_to_device_memcpy_write_ce'], from: list, to: list, bytes: sizes.slice(-1) },
    filter: ({ from, to }) => from !== to,
    setup: ({ from, to, bytes }) => ({ x: from.buffer(u32, bytes / 4).fill(7), y: to.buffer(u32, bytes / 4) }),
    run: async ({ x, y }, { to }) => { x.copyTo(y); await done(to) },
    verify: ({ y }) => all(y, 7),
    bytes: ({ bytes }) => bytes, clock: 'host', ...options.bench,
  }))
}

export async function memory(options = {}) {
  const list = chosen(options.devices)
  const most = Math.min(...list.map(d => Math.min(d.limits.allocationBytes, d.memory.total / 8) / 8))
  const n = options.elements ?? 2 ** Math.min(24, Math.floor(Math.log2(most)))
  const rows = await streams(list, n, options.bench)
  return rows.concat(await copies(list, { bytes: Math.min(2 ** 26, 8 * n), bench: options.bench }))
}

const nothing = kernel((g, x) => { if (g.x > 1e9) x[0] = 1 })

export async function launches(options = {}) {
  return await sweep('launch', {
    axes: { device: chosen(options.devices), test: ['latency', 'latency_bound', 'throughput_100', 'throughput_100_bound', 'event_wait'] },
    setup: ({ device: d }) => {
      const x = d.buffer(u32, 1)
      return { x, bound: nothing.bind({ size: 1 }, x), free: () => x.free() }
    },
    run: async ({ x, bound }, { device: d, test }) => {
      if (test === 'event_wait') return void await d.queue.record()
      let last
      for (let i = test.startsWith('latency') ? 1 : 100; i > 0; i--) last = test.endsWith('bound') ? bound.launch() : nothing.launch({ size: 1 }, x)
      await last
    },
    clock: 'host', ...options.bench,
  })
}

const adds = {
  one: kernel((g, x) => { Atomics.add(x, 0, 1) }),
  group: kernel((g, x) => { Atomics.add(x, g.group.x % x.length, 1) }),
  each: kernel((g, x) => { Atomics.add(x, g.x % x.length, 1) }),
}

export async function atomics(options = {}) {
  const n = options.elements ?? 2 ** 20
  return await sweep('atomics', {
    axes: { device: chosen(options.devices), type: [i32, u32], address: Object.keys(adds) },
    setup: ({ device: d, type }) => ({ x: d.buffer(type, 1024) }),
    run: ({ x }, { address }) => adds[address].launch({ size: n }, x),
    verify: async ({ x }) => {
      const sum = (await x.read()).reduce((s, v) => s + v, 0)
      if (sum !== n) throw new Error(`the sum is ${sum}, not ${n}`)
    },
    flops: n, ...options.bench,
  })
}

// chains computes eight independent chains of multiplications and additions.
const turns = 256
const chains = kernel((g, x, f, h) => {
  let a = x[g.x], b = a + f, c = b + f, d = c + f, e = d + f, p = e + f, q = p + f, r = q + f
  for (let i = 0; i < 256; i++) {
    a = a * f + h; b = b * f + h; c = c * f + h; d = d * f + h
    e = e * f + h; p = p * f + h; q = q * f + h; r = r * f + h
  }
  x[g.x] = a + b + c + d + e + p + q + r
})
const fused = kernel((g, x, f, h) => {
  let a = x[g.x], b = a + f, c = b + f, d = c + f, e = d + f, p = e + f, q = p + f, r = q + f
  for (let i = 0; i < 256; i++) {
    a = Math.fma(a, f, h); b = Math.fma(b, f, h); c = Math.fma(c, f, h); d = Math.fma(d, f, h)
    e = Math.fma(e, f, h); p = Math.fma(p, f, h); q = Math.fma(q, f, h); r = Math.fma(r, f, h)
  }
  x[g.x] = a + b + c + d + e + p + q + r
})

export async function peak(options = {}) {
  const n = options.elements ?? 2 ** 16
  return await sweep('peak', {
    axes: { device: chosen(options.devices), type: [f32, f64, i32], op: ['mul_add', 'fma'] },
    filter: ({ device: d, type, op }) => (type !== f64 || d.features.f64) && (type !== i32 || op === 'mul_add'),
    setup: ({ device: d, type }) => ({ x: d.buffer(type, n).fill(1) }),
    run: ({ x }, { type, op }) => (op === 'fma' ? fused : chains).launch({ size: n }, x, type === i32 ? 1 : 0.5, 1),
    verify: async ({ x }, { type }) => {
      // With a factor of 0.5 every chain tends to 2; with a factor of 1 it grows by 1 in each turn.
      const want = type === i32 ? 8 * (1 + turns) + 28 : 16
      const [first] = await x.read(0, 1)
      if (!(Math.abs(first - want) <= 1e-4 * want)) throw new Error(`the sum of the chains is ${first}, not ${want}`)
    },
    flops: n * (turns * 16), ...options.bench,
  })
}

export async function roofline(id, options = {}) {
  const d = typeof id === 'string' || id === undefined ? deviceOf(id) : id
  const short = { repeats: 10, ...options.bench }
  const streamed = await streams([d], options.elements ?? 2 ** 22, short)
  const computed = await peak({ devices: [d], elements: Math.min(2 ** 16, options.elements ?? 2 ** 16), bench: short })
  const single = computed.filter(r => r.params.type === 'f32')
  // The filter and the list of orepl bench also leave these benchmarks out.
  if ([...streamed, ...single].some(r => r.skipped)) return { gigabytesPerSecond: NaN, gigaflops: NaN }
  const best = (rows, key) => Math.max(...rows.map(r => r[key] ?? 0))
  return { gigabytesPerSecond: best(streamed, 'gigabytesPerSecond'), gigaflops: best(single, 'gigaflops') }
}

// messageSizes are the sizes of the messages of all tests, in bytes.
const messageSizes = [8, 1024, 65536, 2 ** 20]

// messageWindow is the number of messages that osu_bw sends before it waits.
const messageWindow = 64

// pointToPoint measures OSU's exchanges between the host and a device. A message is a write of the host, or a read.
async function pointToPoint(list, options) {
  return await sweep('OSU', {
    axes: { test: ['osu_latency', 'osu_bw'], device: list, bytes: messageSizes },
    setup: ({ device: d, bytes }) => ({ x: d.buffer(u32, bytes / 4), host: new Uint32Array(bytes / 4).fill(5), place: new Uint32Array(bytes / 4) }),
    run: async ({ x, host, place }, { test, device: d }) => {
      if (test === 'osu_latency') return void (x.write(host), await x.read(0, host.length, { into: place }))
      for (let i = 0; i < messageWindow; i++) x.write(host)
      await d.queue.record()
    },
    verify: ({ x }) => all(x, 5),
    bytes: ({ test, bytes }) => test === 'osu_latency' ? 2 * bytes : messageWindow * bytes,
    clock: 'host', ...options.bench,
  })
}

// groupResults has, for each operation on n devices, the elements of all buffers after it. Before it, those of device i are i + 1.
const groupResults = { osu_bcast: () => 1, osu_allreduce: n => n * (n + 1) / 2 }

// collectives measures OSU's operations on all devices together.
async function collectives(list, options) {
  return await sweep('OSU', {
    axes: { test: Object.keys(groupResults), devices: [list.length], bytes: messageSizes },
    setup: ({ bytes }) => {
      const buffers = list.map((d, i) => d.buffer(i32, bytes / 4).fill(i + 1))
      return { buffers, reset: () => buffers.forEach((b, i) => b.fill(i + 1)), free: () => buffers.forEach(b => b.free()) }
    },
    before: ({ reset }) => reset(), isolate: true,
    run: async ({ buffers }, { test }) => {
      if (test === 'osu_bcast') collective.broadcast(buffers[0], buffers.slice(1))
      else collective.allReduce(buffers)
      for (const b of buffers) await b.device.queue.record()
    },
    verify: async ({ buffers }, { test }) => { for (const b of buffers) await all(b, groupResults[test](list.length)) },
    bytes: ({ bytes }) => bytes,
    clock: 'host', ...options.bench,
  })
}

export async function messages(options = {}) {
  const list = chosen(options.devices)
  const rows = await pointToPoint(list, options)
  return list.length < 2 ? rows : rows.concat(await collectives(list, options))
}
