// Helpers of the programs in this folder: their devices, the assignment of parts to devices, and a digest of results.
import { args, device, devices } from 'offload'

/** The devices named on the command line, or all: cpu, opencl:0, far:0/cpu:0, mpi:1/cpu:0 and so on. */
export const places = args.length > 0 ? args.map(id => device(id)) : devices().filter(d => d.features.exact)

/**
 * Returns the device of a part. Adjacent parts get the same device or adjacent ones.
 * @param {number} part
 * @param {number} parts
 */
export const placeOf = (part, parts) => places[Math.floor(part * places.length / parts)]

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
