package editor

// What is assumed of a terminal that does not tell its size.
const (
	defaultColumns = 80
	defaultRows    = 24
)
