// Serves launches: it reads a line of JSON and writes a line of JSON for each. The runtime precedes it in one program.
const parse = {
  bool: b => b !== '0',
  i32: b => Number(BigInt.asIntN(32, BigInt(b))), u32: b => Number(b),
  i64: b => i64(BigInt(b)), u64: b => BigInt(b),
  f32: b => bitcast(Number(b), 'u32', 'f32'), f64: b => bitcast(BigInt(b), 'u64', 'f64'),
}

// The services of the function Serve.
const services = {
  first: x => x,
  half: n => {
    if (n % 2 != 0) throw new Error(`${n} is odd`)
    return n / 2
  },
}

function serve({ kernel, args, ...launch }) {
  const memories = args.map(a => {
    if (a.type) return parse[a.type](a.bits)
    const bytes = new Uint8Array(Buffer.from(a.data ?? '', 'base64'))
    return new Memory(a.name, bytes, a.dims)
  })
  const { fault, prints } = run(eval(kernel), { ...launch, services, args: memories })
  const data = memories.map(m => m instanceof Memory ? Buffer.from(m.bytes).toString('base64') : null)
  return { data, fault, prints: prints.map(({ site, item, text }) => ({ site, item, text })) }
}

require('readline').createInterface({ input: process.stdin }).on('line', line => {
  let reply
  try {
    reply = serve(JSON.parse(line))
  } catch (e) {
    reply = { error: e.stack }
  }
  process.stdout.write(JSON.stringify(reply) + '\n')
})
