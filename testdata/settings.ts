export const port: number = 9000
export const stages = { blur: 2.5, edges: true }
