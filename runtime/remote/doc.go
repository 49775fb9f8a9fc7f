// Package remote makes devices of another process look like devices of this one. A client is a plugin whose objects stand for
// objects of a server; the server uses plugins of its own process. They exchange messages over any byte stream.
//
// # Wire
//
// A frame is a length of four bytes, a message type of one byte, and the message. Integers are little-endian and of fixed
// width; texts, byte strings and lists have a length of four bytes before them. No message contains an address or depends on
// the layout of a Go struct. Objects have numbers, chosen by the side that requests them. The first message of either side
// states the version; sides of different versions refuse each other.
//
// # Order
//
// Each side handles messages in the order of arrival. Commands of a queue are sent as they begin, without a reply. A report that
// the queue has reached a command covers all commands before it. Requests have a number and a reply.
//
// # Images
//
// The content of an image is sent once on a connection, before the first message that names its digest.
//
// # Loss
//
// The client's devices are lost when the stream ends, carries what cannot be a message, or carries nothing for a while. The server
// then frees the client's objects. Neither side trusts the other: each checks the messages that it reads.
//
// # Design
//
// The protocol has a codec of its own: one function writes and reads each message, and golden files hold the bytes. Commands
// carry numbers of the client and need no reply.
//
// Only the server sends messages when it is idle, because a stopped script must find its devices when it continues. The
// client counts its own ticks, so the time in which it was stopped is no silence.
//
// Small memory is cut from blocks at the host. A small buffer needs no round trip, and a lack of memory is reported at once.
// The price is up to 1 MiB for each of nine sizes.
//
// Both sides keep the newest launch of each kernel of a queue, so a message has only the scalars that changed.
//
// Tokens and encryption belong to the streams: package socket has them.
//
// Two workers exchange memory over a stream of their own for each client, since a copy over the host would cross its link
// twice. The session's random number proves the client.
//
// A reduction, or copies between three and more servers, are one command for each. The servers send each other the bytes over a
// connection of their own (package joint). Between two servers an exchange takes less time, since only one of them needs a
// command. A part that fails reports so to the client, which tells the other servers: they may have no connection.
//
// A goroutine that drives MPI reads the bytes of copies of other servers to their destination as they arrive. To wake another
// goroutine for them took up to a third of the time of a broadcast.
//
// Bytes of copies go through buffers of the connection, because MPI cannot take back a receive when the sender is lost.
//
// A worker collects garbage at 400 percent: its heap has only messages, and collections took a quarter of its time.
package remote
