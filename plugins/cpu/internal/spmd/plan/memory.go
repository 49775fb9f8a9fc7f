package plan

// LineBytes is the size of a cache line.
const LineBytes = 64

// IsFar reports whether a stride reaches another cache line.
func IsFar(stride int64) bool { return stride <= -LineBytes || stride >= LineBytes }
