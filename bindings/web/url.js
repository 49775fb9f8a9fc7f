(function (parse, change, decode, encode) {
  'use strict'
  const inspect = Symbol.for('nodejs.util.inspect.custom')
  const tag = (c, name) => Object.defineProperty(c.prototype, Symbol.toStringTag, { value: name, configurable: true })
  const text = v => {
    if (typeof v === 'symbol') throw new TypeError('a symbol is no text: write String(symbol)')
    return String(v).toWellFormed()
  }
  const need = (given, count, call) => {
    if (given.length < count) throw new TypeError(`${call}: ${given.length} arguments are too few, it takes ${count}`)
  }
  class URLSearchParams {
    #list = []
    #changed = () => {}
    constructor(init = '') {
      if (init !== null && (typeof init === 'object' || typeof init === 'function')) {
        if (init[Symbol.iterator] == null) {
          for (const name of Reflect.ownKeys(init)) {
            if (Object.prototype.propertyIsEnumerable.call(init, name)) this.#list.push([text(name), text(init[name])])
          }
          return
        }
        for (const pair of init) {
          const both = pair !== null && typeof pair === 'object' ? [...pair] : []
          if (both.length !== 2) throw new TypeError('URLSearchParams: each element must be a pair [name, value]')
          this.#list.push(both.map(text))
        }
      } else {
        this.#list = URLSearchParams.#read(text(init).replace(/^\?/, ''))
      }
    }
    static #read(query) {
      return query.split('&').filter(Boolean).map(part => {
        const at = part.indexOf('=')
        return at < 0 ? [decode(part), ''] : [decode(part.slice(0, at)), decode(part.slice(at + 1))]
      })
    }
    static bind(params, changed) {
      params.#changed = changed
      return search => { params.#list = URLSearchParams.#read(search.slice(1)) }
    }
    get size() { return this.#list.length }
    append(name, value) {
      need(arguments, 2, 'append(name, value)')
      this.#list.push([text(name), text(value)])
      this.#changed()
    }
    delete(name, value) {
      need(arguments, 1, 'delete(name, value?)')
      const [n, v] = [text(name), value === undefined ? undefined : text(value)]
      this.#list = this.#list.filter(p => p[0] !== n || v !== undefined && p[1] !== v)
      this.#changed()
    }
    get(name) {
      need(arguments, 1, 'get(name)')
      const n = text(name)
      return this.#list.find(p => p[0] === n)?.[1] ?? null
    }
    getAll(name) {
      need(arguments, 1, 'getAll(name)')
      const n = text(name)
      return this.#list.filter(p => p[0] === n).map(p => p[1])
    }
    has(name, value) {
      need(arguments, 1, 'has(name, value?)')
      const [n, v] = [text(name), value === undefined ? undefined : text(value)]
      return this.#list.some(p => p[0] === n && (v === undefined || p[1] === v))
    }
    set(name, value) {
      need(arguments, 2, 'set(name, value)')
      const [n, v] = [text(name), text(value)]
      const at = this.#list.findIndex(p => p[0] === n)
      if (at < 0) this.#list.push([n, v])
      else {
        this.#list[at][1] = v
        this.#list = this.#list.filter((p, i) => i <= at || p[0] !== n)
      }
      this.#changed()
    }
    sort() { this.#list.sort((a, b) => a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0); this.#changed() }
    forEach(fn, self) {
      if (typeof fn !== 'function') throw new TypeError('forEach takes a function (value, name, params)')
      for (const [name, value] of this) fn.call(self, value, name, this)
    }
    *#each(part) { for (let i = 0; i < this.#list.length; i++) yield part([...this.#list[i]]) }
    entries() { return this.#each(pair => pair) }
    keys() { return this.#each(pair => pair[0]) }
    values() { return this.#each(pair => pair[1]) }
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
  const parts = ['href', 'origin', 'protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname', 'search', 'hash']
  class URL {
    #u
    #params
    #read
    constructor(url, base) {
      need(arguments, 1, 'new URL(url, base?)')
      this.#u = parse(text(url), base === undefined ? undefined : text(base))
      this.#params = new URLSearchParams(this.#u.search)
      this.#read = bind(this.#params, () => { this.#u = change(this.#u.href, 'search', this.#params.toString()) })
    }
    static canParse(url, base) {
      need(arguments, 1, 'URL.canParse(url, base?)')
      return URL.parse(url, base) !== null
    }
    static parse(url, base) {
      need(arguments, 1, 'URL.parse(url, base?)')
      const [u, b] = [text(url), base === undefined ? undefined : text(base)]
      try { return new URL(u, b) } catch { return null }
    }
    #set(part, value) {
      this.#u = change(this.#u.href, part, text(value))
      if (part === 'search') this.#read(this.#u.search)
    }
    get href() { return this.#u.href }
    set href(v) { this.#u = parse(text(v)); this.#read(this.#u.search) }
    get origin() { return this.#u.origin }
    get protocol() { return this.#u.protocol }
    set protocol(v) { this.#set('protocol', v) }
    get username() { return this.#u.username }
    set username(v) { this.#set('username', v) }
    get password() { return this.#u.password }
    set password(v) { this.#set('password', v) }
    get host() { return this.#u.host }
    set host(v) { this.#set('host', v) }
    get hostname() { return this.#u.hostname }
    set hostname(v) { this.#set('hostname', v) }
    get port() { return this.#u.port }
    set port(v) { this.#set('port', v) }
    get pathname() { return this.#u.pathname }
    set pathname(v) { this.#set('pathname', v) }
    get search() { return this.#u.search }
    set search(v) { this.#set('search', v) }
    get searchParams() { return this.#params }
    get hash() { return this.#u.hash }
    set hash(v) { this.#set('hash', v) }
    toString() { return this.href }
    toJSON() { return this.href }
    [inspect]() {
      const shown = Object.create(URL.prototype)
      for (const name of [...parts.slice(0, -1), 'searchParams', 'hash']) Object.defineProperty(shown, name, { value: this[name], enumerable: true })
      return shown
    }
  }
  tag(URL, 'URL')
  tag(URLSearchParams, 'URLSearchParams')
  return { URL, URLSearchParams }
})
