package manual

import _ "embed"

// Types holds the TypeScript declarations that the entries refer to.
//
//go:embed types.d.ts
var Types string
