// URLs and queries: what is read, resolved, refused and changed. Left out is what node 20 does not do as the standard
// says: ^ in paths, going up to the root of a scheme of one's own, relative fragments of mailto:, hosts given to URLs
// that have none, ports that begin with a letter, queries of null.
const parts = ['href', 'origin', 'protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname', 'search', 'hash']
const show = (url, base) => {
  try {
    const u = base === undefined ? new URL(url) : new URL(url, base)
    console.log(JSON.stringify([url, base ?? null, ...parts.map(p => u[p])]))
  } catch (e) {
    console.log(JSON.stringify([url, base ?? null]), e.name, e instanceof TypeError)
  }
}
for (const url of [
  'https://User:pa%20ss@Example.ORG:443/a/./b/../c?x=1#y', 'http://h', 'http:h', 'http:/h', 'http:\\\\h\\a\\b', 'HTTP://H:80', 'http://h:0', 'http://h:65535',
  'http://h:65536', 'http://h:', 'http://h:8a', 'http://', 'http:', 'http://@', 'http://a@', 'http://:80', 'https://a@b@c:d@e/', 'ftp://f:21/x', 'ftp://f:22/x',
  'mailto:a@b.c', 'data:text/plain,hello world#frag ment', 'javascript:alert(1)', 'blob:https://a.b/c-d', 'blob:nope', 'x:y', 'x://y', 'x://', 'x:///', 'x:/a/../b',
  'x://h:99/p?q#r', 'x://%zz', 'x://a b', 'x://[::1]', 'about:blank', 'file:///a/b', 'file://host/a', 'file://localhost/a', 'file:a', 'file:/C|/x/../..',
  'file:///C:/../a', 'file://C:/x', 'file:', 'file:?q', 'ws://w/', 'wss://w:443', 'http://1.2.3', 'http://0x7f.1', 'http://256.1.1.1', 'http://1.2.3.4.5', 'http://017700000001',
  'http://4294967295', 'http://4294967296', 'http://1.2.3.08', 'http://a.1', 'http://1.a', 'http://0x', 'http://1..2', 'http://1.2.3.4.', 'http://[::1]:80/', 'http://[1:2:3:4:5:6:7:8]',
  'http://[1:0:0:4::]', 'http://[::1.2.3.4]', 'http://[::ffff:1.2.3.400]', 'http://[1::2::3]', 'http://[12345::]', 'http://[:1]', 'http://[::1', 'http://[1:2:3:4:5:6:7::]',
  'http://[0:0:1:0:0:0:1:0]', 'http://[FE80::A]', 'http://[::1%25eth0]', 'http://a b', 'http://a<b', 'http://a%20b', 'http://%41%42', 'http://a%00b', 'http://a_b', 'http://ex%zzample',
  'http://münchen.de/ä?ö#ü', 'http://日本語.jp', 'http://例え。テスト', 'http://faß.de', 'http://ＧＯ.com', 'http://xn--mnchen-3ya.de', 'http://a\u00adb.c', 'http://☃.net', 'http://xn--',
  ' \t http://h/ \n', 'ht\ntp://h\t/x', '', ' ', 'a', '//x', '/x', '1http://x', 'ht_tp://x', 'http://h/a%2e%2E/b', 'http://h/%2e/a', 'http://h/..', 'http://h/a/.', 'http://h/a/..;/b',
  'http://h/ "<>`{}|\\~\'', 'http://h/?a b"<>`{}|^\\~\'', 'x:/?a\'b', 'http://h/#a b"<>`{}|^\\~\'', 'http://a:b:c@h', 'http://a b:c d@h', 'http://h/\u{1F600}?\u{1F600}#\u{1F600}', 'http://h/\ud800',
  'http://h/?', 'http://h/#', 'http://h/?#', 'http://h?q', 'http://h#f', 'http://h//a//b', 'web+x:/.//p', 'non:..//', 'http://h/%', 'http://h/%7E%41', 'http://h/?%zz+%20',
]) show(url)
for (const base of ['http://a/b/c/d;p?q', 'http://a', 'file:///C:/a/b', 'file:///a/b', 'x://h/a/b?q#f', 'x:/a/b', 'mailto:a', 'http://u:p@h:8/a#f', 'nonsense']) {
  for (const url of ['g', './g', 'g/', '/g', '//g', '?y', 'g?y', '#s', 'g#s', ';x', '', '.', './', '..', '../', '../g', '../..', '../../../g', '/./g', 'g/./h', 'http:g', 'http://z/', 'file:x',
    'C|/z', '/C:/z', '\\g', '/\\g', 'x:g', 'x:/g', '////g', 'file:///D:/q', '///g', '?', '#']) {
    if (!(url === '../..' && base[0] === 'x') && !(url === 'g#s' && base === 'mailto:a')) show(url, base)
  }
}
// changing parts
for (const start of ['http://u:p@h:8/a?q#f', 'https://h', 'file:///a', 'x://h/a', 'mailto:m', 'x:/a']) {
  for (const [part, ...values] of [
    ['protocol', 'https', 'http:', 'ftp://x', 'file', 'y', 'a b', '', '1x'], ['username', '', 'ä b', '@:'], ['password', '', 'ä/b', ':'],
    ['host', '', 'z', 'z:9', 'z:http', '[::1]:3', 'a b', 'z/y', 'z?y', '1.2'], ['hostname', 'z', 'z:9', '', '[::2]', 'a@b'],
    ['port', '', '80', '443', '9x', '99999', '08', '-1'], ['pathname', '', 'x', '/x/../y', '?', 'ä#b', '//z', '\\w'],
    ['search', '', '?', 'a=b c', '?ä#', '??'], ['hash', '', '#', 'a b', '#ä', '##'], ['href', 'http://n/?z=1', 'bad'],
  ]) {
    for (const value of values) {
      if (part.startsWith('host') && start === 'x:/a') continue
      const u = new URL(start)
      try { u[part] = value } catch (e) { console.log(e.name) }
      console.log(start, part, JSON.stringify(value), u.href, [...u.searchParams].join(';'))
    }
  }
}
console.log(URL.canParse('x:y'), URL.canParse('/x'), URL.canParse('/x', 'http://h'), String(new URL('http://h')), JSON.stringify({ u: new URL('http://h') }))
console.log(Object.prototype.toString.call(new URL('http://h')), Object.prototype.toString.call(new URLSearchParams()))
// queries
for (const init of ['a=1&b=2&a=3', '?x=y', '??x', '&&a&&=b&c=&=', 'a=b=c', 'a+b=%20%2B+', '%', '%f', '%ff=%c3%a4', 'ä=ö', '%EF%BB%BFx=1', { x: 1, y: [2, 3] }, [['a', 'b'], ['c', 'd']], new Map([['m', 'n']]),
  new URLSearchParams('s=t'), undefined, 5, 'a=\u{1F600}', "!'()*~-._ $&+,/:;=?@"]) {
  const p = new URLSearchParams(init)
  console.log(JSON.stringify([...p]), p.toString(), p.size)
}
for (const bad of [[1], [['a']], [['a', 'b', 'c']], 'ok']) {
  try { console.log(new URLSearchParams(bad).toString()) } catch (e) { console.log(e.name) }
}
const p = new URLSearchParams('b=1&a=2&b=3&\u{1F600}=4&\uFFFD=5')
p.append('c', ' x&y=z '); console.log(p.get('b'), p.getAll('b'), p.has('b', '3'), p.has('b', '9'), p.has('q'), p.get('q'))
p.set('b', 'n'); p.delete('a', 'no'); console.log(p.toString()); p.sort(); console.log(p.toString()); p.delete('b'); console.log(p.toString(), p.size)
p.forEach(function (value, name, all) { console.log(name, value, all === p, this.t) }, { t: 1 })
for (const [name] of p) if (name === 'c') p.append('d', 'late')
console.log([...p.keys()].join(), [...p.values()].join(), p.entries().next().value)
const u = new URL('http://h/?a=1#f')
u.searchParams.append('b', 'ä b'); console.log(u.href); u.search = '?z=1'; console.log(u.searchParams.get('z'), u.searchParams.get('a'))
u.searchParams.delete('z'); console.log(u.href, u.search === ''); u.searchParams.set("it's", '*'); console.log(u.href)
for (const wrong of [() => new URL(), () => p.get(), () => p.append('x'), () => p.forEach(3), () => new URL(Symbol('x')), () => URL('x:'), () => p.append(Symbol('a'), 1), () => new URLSearchParams(Symbol())]) {
  try { console.log(wrong()) } catch (e) { console.log(e.name) }
}
console.log(new URL('http://u:p@h:8/a?q=1#f'), new URLSearchParams('a=1&b=it'), new URLSearchParams())
