package plan

// LineBytes is the size of a cache line.
const LineBytes = 64

// IsFar reports whether a stride in bytes, of either sign, is at least a cache line.
func IsFar(stride int64) bool { return stride <= -LineBytes || stride >= LineBytes }
