// Calls each function named by the arguments, some with a time limit as in name@60, and checks after each that the session is as
// before.
import { device, register, i32, kernel } from 'offload'
import fs from 'fs'
const [file, id, limit, ...names] = process.argv.slice(2)
const dev = device(id), o = dev.buffer(i32, 16), host = device('cpu')
const lib = await register(file)
const call = async (name, options = {}) => {
  try {
    await lib.kernel(name, { args: ['buffer'], convention: 'item' }).launch({ size: 1, ...options }, o)
    return `ended ${(await o.read(0, 1))[0]}`
  } catch (e) { return `caught ${e.code}: ${e.message}` }
}
const k = kernel((g, x) => { x[g.x] = g.x * 3 })
const expect = (what, got, want) => { if (!String(got).startsWith(want)) console.log(`AFTERWARDS ${what}: ${got}, not ${want}`) }
for (const word of names) {
  const [name, own = limit] = word.split('@')
  console.log(`calls ${name}`)
  console.log(`${name}: ${await call(name, +own ? { timeout: +own } : {})}`)
  if (id !== 'cpu') continue
  expect('a function', await call('fine'), 'ended 7')
  for (let i = 0; i < 2; i++) expect('a fault', await call('null_write'), 'caught backend-failure')
  expect('roundings', await call('rounding'), 'ended 22369622')
  expect('an endless function', await call('endless', { timeout: 20 }), 'caught timeout')
  await k.launch({ size: 16 }, o)
  expect('a kernel', (await o.read()).join(), '0,3,6,9')
  expect('a file', fs.readTextSync('data.txt'), 'data')
  fs.writeTextSync('new.txt', name)
  expect('a new file', fs.readTextSync('new.txt'), name)
  expect('a program', (await process.run('echo', ['hello'])).stdout, 'hello')
}
if (id !== 'cpu') {
  const x = host.buffer(i32, 16)
  await k.launch({ size: 16 }, x)
  expect('a kernel', (await x.read()).join(), '0,3,6,9')
}
console.log('alive')
