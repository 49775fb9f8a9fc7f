// Functions that compare a kernel's result with a reference.

/** @typedef {ArrayLike<number | string | bigint>} List */

/**
 * Throws unless the two arrays are equal, element by element.
 * @param {string} name @param {List} got @param {List} want
 */
export function equal(name, got, want) {
  compare(name, got, want, (a, b) => a === b || (a !== a && b !== b))
}

/**
 * Throws unless the two arrays agree within a relative tolerance.
 * @param {string} name @param {ArrayLike<number>} got @param {ArrayLike<number>} want
 */
export function close(name, got, want, tolerance = 1e-5) {
  compare(name, got, want, (a, b) => Math.abs(a - b) <= tolerance * Math.max(1, Math.abs(a), Math.abs(b)))
}

/**
 * @template T
 * @param {string} name @param {ArrayLike<T>} got @param {ArrayLike<T>} want @param {(a: T, b: T) => boolean} same
 */
function compare(name, got, want, same) {
  if (got.length !== want.length) throw new Error(`${name}: ${got.length} values, expected ${want.length}`)
  for (let i = 0; i < got.length; i++) {
    if (!same(got[i], want[i])) throw new Error(`${name}[${i}] is ${got[i]}, expected ${want[i]}`)
  }
  console.log(`${name}: ${got.length} values as expected`)
}

/**
 * Returns a generator of numbers in [0, 1), the same in every run (mulberry32).
 * @param {number} seed
 */
export function random(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}
