package process

// Lacking returns the reason why this program runs no native code: the tag nonative of its build, or else needs.
func Lacking(needs string) string {
	if NoNative {
		return "this program was built with the tag nonative"
	}
	return needs
}
