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
// client counts its own ticks, so the time in which it was stopped is no silence. Nor is the time in which a server on this machine
// waits for a core.
//
// The client divides blocks of the server's memory into small buffers. Such a buffer needs no round trip, and a lack of memory is
// reported at its allocation. The price is one unused block, of up to 1 MiB, for each of nine sizes and each device.
//
// Both sides keep the newest launch of each kernel of a queue, so a message has only the scalars that changed.
//
// Tokens and encryption belong to the streams: package socket has them.
//
// Two workers exchange memory over a stream of their own for each client, since a copy over the host would cross the host's link
// twice. The session's random number proves that both workers serve the same client.
//
// A reduction, or a set of copies between three or more servers, is one command for each server. The servers send each other the
// bytes over a connection of their own (package joint). Between two servers an exchange takes less time, since only one of them
// needs a command. The client tells the other servers when a part has failed, since they may have no connection to its server.
//
// The goroutine that drives MPI also reads what other servers send, directly to its destination. Waking another goroutine for these
// bytes took up to a third of the time of a broadcast.
//
// Bytes of copies go through buffers of the connection, because MPI cannot take back a receive when the sender is lost.
//
// A worker runs with GOGC=400: its heap holds only messages, and collections took a quarter of its time.
package remote
