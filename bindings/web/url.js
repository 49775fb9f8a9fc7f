(function (parse, decode, encode) {
  'use strict'
  const inspect = Symbol.for('nodejs.util.inspect.custom')
  const special = { 'http:': '80', 'https:': '443', 'ftp:': '21', 'ws:': '80', 'wss:': '443' }
  class URLSearchParams {
    #list = []
    #changed = () => {}
    constructor(init = '') {
      if (init !== null && typeof init === 'object') {
        const pairs = typeof init[Symbol.iterator] === 'function' ? init : Object.entries(init)
        for (const [name, value] of pairs) this.#list.push([String(name), String(value)])
      } else {
        this.#list = URLSearchParams.#read(String(init))
      }
    }
    static #read(text) {
      return text.replace(/^\?/, '').split('&').filter(Boolean).map(part => {
        const at = part.indexOf('=')
        return at < 0 ? [decode(part), ''] : [decode(part.slice(0, at)), decode(part.slice(at + 1))]
      })
    }
    static bind(params, changed) { params.#changed = changed; return text => { params.#list = URLSearchParams.#read(text) } }
    get size() { return this.#list.length }
    append(name, value) { this.#list.push([String(name), String(value)]); this.#changed() }
    delete(name, value) {
      this.#list = this.#list.filter(p => p[0] !== String(name) || value !== undefined && p[1] !== String(value))
      this.#changed()
    }
    get(name) { return this.#list.find(p => p[0] === String(name))?.[1] ?? null }
    getAll(name) { return this.#list.filter(p => p[0] === String(name)).map(p => p[1]) }
    has(name, value) { return this.#list.some(p => p[0] === String(name) && (value === undefined || p[1] === String(value))) }
    set(name, value) {
      const at = this.#list.findIndex(p => p[0] === String(name))
      if (at < 0) this.#list.push([String(name), String(value)])
      else {
        this.#list[at][1] = String(value)
        this.#list = this.#list.filter((p, i) => i <= at || p[0] !== String(name))
      }
      this.#changed()
    }
    sort() { this.#list.sort((a, b) => a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0); this.#changed() }
    forEach(fn, self) { for (const [name, value] of this.#list) fn.call(self, value, name, this) }
    *entries() { for (const [name, value] of this.#list) yield [name, value] }
    *keys() { for (const [name] of this.#list) yield name }
    *values() { for (const [, value] of this.#list) yield value }
    [Symbol.iterator]() { return this.entries() }
    toString() { return this.#list.map(([n, v]) => encode(n) + '=' + encode(v)).join('&') }
    [inspect]() {
      const quoted = text => `'${text.replaceAll("'", "\\'")}'`
      return this.#list.length === 0 ? 'URLSearchParams {}'
        : `URLSearchParams { ${this.#list.map(([n, v]) => `${quoted(n)} => ${quoted(v)}`).join(', ')} }`
    }
  }
  const bind = URLSearchParams.bind
  delete URLSearchParams.bind
  class URL {
    #u
    #params
    #read
    constructor(url, base) {
      this.#u = parse(String(url), base === undefined ? undefined : String(base))
      this.#params = new URLSearchParams(this.#u.search)
      this.#read = bind(this.#params, () => {
        const text = this.#params.toString()
        this.#u.search = text === '' ? '' : '?' + text
      })
    }
    static canParse(url, base) {
      try { return new URL(url, base) instanceof URL } catch { return false }
    }
    static parse(url, base) {
      try { return new URL(url, base) } catch { return null }
    }
    #set(change) {
      const u = { ...this.#u, ...change }
      this.#u = parse(URL.#text(u))
      this.#read(this.#u.search)
    }
    static #text(u) {
      const login = u.username === '' ? '' : u.username + (u.password === '' ? '' : ':' + u.password) + '@'
      const host = u.authority ? '//' + login + u.hostname + (u.port === '' ? '' : ':' + u.port) : ''
      return u.protocol + host + u.pathname + u.search + u.hash
    }
    get href() { return URL.#text(this.#u) }
    set href(v) { this.#u = parse(String(v)); this.#read(this.#u.search) }
    get origin() { return this.#u.protocol in special ? this.#u.protocol + '//' + this.host : 'null' }
    get protocol() { return this.#u.protocol }
    set protocol(v) { this.#set({ protocol: String(v).replace(/:?$/, ':') }) }
    get username() { return this.#u.username }
    set username(v) { this.#set({ username: encodeURIComponent(v) }) }
    get password() { return this.#u.password }
    set password(v) { this.#set({ password: encodeURIComponent(v) }) }
    get host() { return this.#u.hostname + (this.#u.port === '' ? '' : ':' + this.#u.port) }
    set host(v) { const [hostname, port = ''] = String(v).split(':'); this.#set({ hostname, port }) }
    get hostname() { return this.#u.hostname }
    set hostname(v) { this.#set({ hostname: String(v) }) }
    get port() { return this.#u.port }
    set port(v) { this.#set({ port: String(v) }) }
    get pathname() { return this.#u.pathname }
    set pathname(v) { this.#set({ pathname: String(v).replace(/^(?!\/)/, '/') }) }
    get search() { return this.#u.search }
    set search(v) { this.#set({ search: v === '' ? '' : String(v).replace(/^\??/, '?') }) }
    get searchParams() { return this.#params }
    get hash() { return this.#u.hash }
    set hash(v) { this.#set({ hash: v === '' ? '' : String(v).replace(/^#?/, '#') }) }
    toString() { return this.href }
    toJSON() { return this.href }
    [inspect]() {
      const shown = Object.create(URL.prototype)
      for (const name of ['href', 'origin', 'protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname', 'search', 'searchParams', 'hash']) {
        Object.defineProperty(shown, name, { value: this[name], enumerable: true })
      }
      return shown
    }
  }
  return { URL, URLSearchParams }
})
