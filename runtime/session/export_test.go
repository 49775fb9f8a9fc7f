package session

// StagingBytes returns the bytes of the staging blocks that the device holds.
func (d *Device) StagingBytes() (n int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, list := range [][]*stage{d.stages, d.staging} {
		for _, s := range list {
			n += int64(len(s.bytes))
		}
	}
	return n
}
