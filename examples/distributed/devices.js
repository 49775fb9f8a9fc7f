// What the programs in this folder share: the devices that they run on, how parts are dealt to them, and a digest of results.
import { args, device, devices } from 'offload'

/** The devices that the command line names, or all: cpu, opencl:0, far:0/cpu:0, mpi:1/cpu:0 and so on. */
export const places = args.length > 0 ? args.map(id => device(id)) : devices().filter(d => d.features.exact)

/**
 * The device of a part: neighbours in a row of parts are on one device or on neighbouring ones.
 * @param {number} part
 * @param {number} parts
 */
export const placeOf = (part, parts) => places[Math.floor(part * places.length / parts)]

/**
 * Prints a digest of values: the same on any number of devices.
 * @param {string} name
 * @param {...ArrayBufferView} arrays
 */
export function report(name, ...arrays) {
  let hash = 0x811c9dc5
  for (const array of arrays)
    for (const byte of new Uint8Array(array.buffer, array.byteOffset, array.byteLength)) hash = Math.imul(hash ^ byte, 0x01000193)
  console.log(`${name}: ${(hash >>> 0).toString(16)}`)
}
