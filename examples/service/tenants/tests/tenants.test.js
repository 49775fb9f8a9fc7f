import { test, near, throws, run } from 'test'
import smooth from '../smooth.js'
import level from '../level.js'

test('smooths', async () => near((await run(smooth, { x: [0, 3, 0] })).y, [1, 1, 1]))
test('smooths twice', async () => near((await run(smooth, { x: [0, 9, 0, 0], rounds: 2, gain: 2 })).y, [6, 6, 4, 2], 1e-5))
test('bounds the gain', () => throws(() => run(smooth, { x: [1], gain: 101 }), 'not at most 100'))
test('levels', async () => near((await run(level, { x: [1, 2, 3, 6] })).y, [-4 / 3, -2 / 3, 0, 2], 1e-5))
test('levels a constant', async () => near((await run(level, { x: [5, 5] })).y, [0, 0]))
