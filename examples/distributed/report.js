// The digest that the programs print, which is the same for any number of devices and processes.

/**
 * Prints a digest of values, which is the same for any number of devices.
 * @param {string} name
 * @param {...ArrayBufferView} arrays
 */
export function report(name, ...arrays) {
  let hash = 0x811c9dc5
  for (const array of arrays)
    for (const byte of new Uint8Array(array.buffer, array.byteOffset, array.byteLength)) hash = Math.imul(hash ^ byte, 0x01000193)
  console.log(`${name}: ${(hash >>> 0).toString(16)}`)
}
