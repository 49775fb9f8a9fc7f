package process

// Lacking returns why this program has no native code: that it was built without, or what it needs.
func Lacking(needs string) string {
	if NoNative {
		return "this program was built with the tag nonative"
	}
	return needs
}
