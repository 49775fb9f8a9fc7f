package offloadjs

import _ "embed"

// types holds the TypeScript declarations that the entries refer to.
//
//go:embed types.d.ts
var types string
