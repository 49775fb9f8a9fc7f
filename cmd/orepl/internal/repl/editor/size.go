package editor

// The assumed size of a terminal that does not report one.
const (
	defaultColumns = 80
	defaultRows    = 24
)
