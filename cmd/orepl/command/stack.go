package command

// enlargeStack makes room on the goroutine's stack at once. Otherwise it doubles several times in each run, and each time all
// frames are walked and copied.
//
//go:noinline
func enlargeStack() byte {
	var room [48 << 10]byte
	return room[len(room)-1-int(first(&room)&1)]
}

//go:noinline
func first(room *[48 << 10]byte) byte { return room[0] }
