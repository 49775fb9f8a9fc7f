package offloadjs

import _ "embed"

// types is TypeScript that the entries refer to.
//
//go:embed types.d.ts
var types string
