// the absolute value of a BigInt that is a constant
//# z: i64[3] -> 5 5 0
(g, z) => { z[0] = Math.abs(-5n); z[1] = Math.abs(5n); z[2] = Math.abs(0n) }
