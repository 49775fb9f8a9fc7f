// The assignment of parts to ranks: adjacent parts have the same rank or adjacent ones.
import { mpi } from 'mpi'

/**
 * Returns the rank of a part.
 * @param {number} part
 * @param {number} parts
 */
export const rankOf = (part, parts) => Math.floor(part * mpi.size / parts)

/**
 * Returns the parts of this rank.
 * @param {number} parts
 */
export const mine = parts => Array.from({ length: parts }, (_, part) => part).filter(part => rankOf(part, parts) === mpi.rank)

/**
 * Returns the data of all parts at rank 0, in order, and undefined at other ranks.
 * @template T
 * @param {number} parts
 * @param {(part: number) => Promise<T>} read returns the data of a part of this rank
 * @returns {Promise<T[] | undefined>}
 */
export async function collect(parts, read) {
  if (mpi.rank > 0) {
    for (const part of mine(parts)) await mpi.send(/** @type {any} */ (await read(part)), 0, { tag: part })
    return undefined
  }
  const all = []
  for (let part = 0; part < parts; part++)
    all.push(rankOf(part, parts) === 0 ? await read(part) : await mpi.recv(rankOf(part, parts), { tag: part }))
  return all
}
