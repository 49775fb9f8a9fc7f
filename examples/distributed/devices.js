// Helpers of the programs in this folder: their devices, and the assignment of parts to devices.
import { args, device, devices } from 'offload'

/** The devices named on the command line, or all: cpu, opencl:0, far:0/cpu:0, mpi:1/cpu:0 and so on. */
export const places = args.length > 0 ? args.map(id => device(id)) : devices().filter(d => d.features.exact)

/**
 * Returns the device of a part. Adjacent parts get the same device or adjacent ones.
 * @param {number} part
 * @param {number} parts
 */
export const placeOf = (part, parts) => places[Math.floor(part * places.length / parts)]
