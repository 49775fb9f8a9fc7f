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
// Each side handles messages in the order of arrival. Commands of a queue are sent as they begin, without a reply; a
// report that the queue has reached a command covers all commands before it. Requests have a number and a reply.
//
// # Images
//
// The content of an image is sent once on a connection, before the first message that names its digest.
//
// # Loss
//
// When the stream ends or carries what cannot be a message, the client's devices are lost. So they are when it carries nothing for
// a while. The server then frees the client's objects. Neither side trusts the other: each checks the messages that it reads.
package remote
