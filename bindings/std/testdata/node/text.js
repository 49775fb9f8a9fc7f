// Text and bytes, base64, random numbers. Left out are the bytes 0x80 to 0x9f in latin1, which node 20 does not read as
// the standard says.
const hex = bytes => [...bytes].map(b => b.toString(16).padStart(2, '0')).join(' ')
const attempt = (what, fn) => {
  try { console.log(what, JSON.stringify(fn())) } catch (e) { console.log(what, e.name, e.constructor.name, typeof e.code === 'number' ? e.code : '') }
}
for (const label of ['utf-8', ' UTF8\t', 'utf-16', 'utf-16le', 'utf-16be', 'unicode', 'latin1', 'ascii', 'iso-8859-1', 'windows-1252', 'l1', 'x-cp1252', 'nope', '', 'utf 8', null]) {
  attempt(`label ${label}`, () => new TextDecoder(label).encoding)
}
attempt('properties', () => { const d = new TextDecoder('utf8', { fatal: 1, ignoreBOM: 0 }); return [d.encoding, d.fatal, d.ignoreBOM, new TextEncoder().encoding] })
attempt('options', () => new TextDecoder('utf-8', 5))
for (const bytes of [[0x68, 0x69], [0xff], [0xe2, 0x82], [0xe2, 0x82, 0x41], [0xf0, 0x9f, 0x98, 0x80], [0xf0, 0x9f, 0x98], [0xf0, 0x9f, 0x41, 0x98], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80],
  [0xe0, 0x80, 0x80], [0xef, 0xbb, 0xbf, 0x41], [0xef, 0xbb, 0xbf, 0xef, 0xbb, 0xbf], [0xef, 0xbb], [0x80, 0x81, 0xfe, 0x41], [0x41, 0, 0x42], [0x3d, 0xd8, 0, 0xde], [0x3d, 0xd8], [0, 0xde, 0x41, 0], [0xff, 0xfe, 0x41, 0],
  [0xfe, 0xff, 0, 0x41], [0x3d, 0xd8, 0x41, 0], [0x80, 0x9f, 0xa0, 0xe4], []]) {
  for (const label of ['utf-8', 'utf-16le', 'utf-16be']) {
    for (const options of [undefined, { fatal: true }, { ignoreBOM: true }]) {
      attempt(`${hex(bytes)} ${label} ${JSON.stringify(options)}`, () => new TextDecoder(label, options).decode(new Uint8Array(bytes)))
    }
  }
}
attempt('latin1', () => new TextDecoder('latin1').decode(new Uint8Array([0x41, 0xa0, 0xe4, 0xff])))
for (const [label, ...chunks] of [['utf-8', [0xf0, 0x9f], [0x98], [0x80, 0x41]], ['utf-8', [0xef], [0xbb, 0xbf, 0x41], [0xef, 0xbb, 0xbf]], ['utf-8', [0xe2], [0x41]], ['utf-8', [0xe2, 0x82], []],
  ['utf-16le', [0x3d], [0xd8, 0], [0xde, 0x41], [0]], ['utf-16le', [0x3d, 0xd8], [0x41, 0]], ['utf-16le', [0xff, 0xfe], [0x41, 0, 0x42]]]) {
  for (const fatal of [false, true]) {
    const d = new TextDecoder(label, { fatal })
    for (const chunk of chunks) attempt(`${label} ${hex(chunk)}`, () => d.decode(new Uint8Array(chunk), { stream: true }))
    if (!fatal) attempt('flush', () => d.decode())
    if (!fatal) attempt('again', () => d.decode(new Uint8Array([0x41, 0x42])))
  }
}
const d = new TextDecoder()
attempt('view', () => d.decode(new DataView(new Uint8Array([1, 0x41, 0x42, 2]).buffer, 1, 2)))
attempt('buffer', () => d.decode(new Uint8Array([0x43]).buffer))
attempt('nothing', () => d.decode(undefined))
attempt('number', () => d.decode(5))
attempt('text', () => d.decode('abc'))
const e = new TextEncoder()
for (const text of ['', 'hé', '\u{1F600}', '\ud800', 'a\udc00b', undefined, null, 12, 'x\0y']) console.log(hex(text === undefined ? e.encode() : e.encode(text)))
attempt('symbol', () => e.encode(Symbol('x')))
for (const [text, size] of [['abc', 2], ['aé', 2], ['é\u{1F600}z', 6], ['\u{1F600}', 3], ['\ud800x', 4], ['', 1]]) {
  const into = new Uint8Array(size)
  console.log(JSON.stringify(e.encodeInto(text, into)), hex(into))
}
attempt('into', () => e.encodeInto('x', [1]))
attempt('into', () => e.encodeInto('x', new Uint16Array(2)))
for (const text of ['', 'a', 'ab', 'abc', '\xff\x00é', null, 12]) attempt('btoa', () => btoa(text))
attempt('btoa', () => btoa('\u0100'))
attempt('btoa', () => btoa())
for (const text of ['', 'YQ==', 'YQ', 'YQ=', 'Y', 'YWI=', 'Y WJ\n j', 'YW-j', 'YR==', '====', 'YQ==YQ==', 'YQ== ', 'ab\u00a0c', null, 'é', '/+8=', 'YQ===']) attempt(`atob ${text}`, () => [...atob(text)].map(c => c.charCodeAt(0)))
attempt('atob', () => atob())
attempt('random', () => crypto.getRandomValues(new Uint8Array(65537)))
attempt('random', () => crypto.getRandomValues(new Float32Array(1)))
attempt('random', () => crypto.getRandomValues(new DataView(new ArrayBuffer(2))))
attempt('random', () => crypto.getRandomValues())
attempt('random', () => { const a = new BigUint64Array(4); return [crypto.getRandomValues(a) === a, a.some(n => n > 0n), crypto.getRandomValues(new Uint8ClampedArray(65536)).some(n => n > 0)] })
attempt('uuid', () => [/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID()), crypto.randomUUID() !== crypto.randomUUID()])
for (const text of ['ok', '\ud800', 'a\udc00\ud800b', '\u{1F600}']) console.log(text.isWellFormed(), JSON.stringify(text.toWellFormed()))
