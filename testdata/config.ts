export const config = {
  title: 'edges',
  timeout: '1.5s',
  stages: [
    { name: 'blur', radius: 2 },
    { name: 'edges', radius: 'wide' },
  ],
}
