package offload

// HostPinner is a [Device] whose driver copies faster from and to host memory that it has pinned. Default: memory stays as it is.
type HostPinner interface {
	// PinHost pins data, which overlaps no other pinned memory of the device, until release is called. release waits for the copies that
	// the driver has begun; other ones run as without pinning.
	PinHost(data []byte) (release func() error, err error)
}
