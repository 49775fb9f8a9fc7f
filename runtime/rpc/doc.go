// Package rpc lets device code ask the host for services through shared memory. It is the protocol of LLVM's libc for GPUs
// (libc/shared/rpc.h), with a handshake, a doorbell and replies that carry a status.
//
// # Ports
//
// A channel is an array of ports. A port has two mailbox words, a header and one packet of 64 bytes for each lane. Each side
// writes its own mailbox, the outbox, and reads the other's, the inbox. The client owns the packets of a port while the two
// words are equal, the server while they differ. A side that has finished with the packets inverts its outbox, which hands
// them over. A client takes the lock bit of a port for the whole of a call, so that clients of one channel do not meet.
//
// The client begins with a send, and each send is mirrored by a receive. Two receives in a row acknowledge the first packet.
// A client may close a port right after a send: the call is one-way, and the port is free again when the server has read it.
//
// # Memory orders
//
// [Transitions] lists the atomic operations of the protocol with the weakest order that is sufficient. The explorer in
// internal/explore runs two clients, a server and three ports through all executions that these orders permit. It finds no
// race, no lost, doubled or crossed packet and no deadlock; with any of the orders weakened it does.
//
// # Hostile clients
//
// A client may write anything into shared memory at any time. The server therefore reads a header once and copies packets
// before it looks at them. It bounds every length by a limit of its own, and visits the ports in turn. A client that breaks
// the protocol can spoil calls on its channel, but not the server's memory.
//
// # Design
//
// Ports follow LLVM's layout, so code for LLVM's libc needs no second protocol. A control block in front adds a version, a
// doorbell and the end of the server.
//
// Files, memory and exit have the operation numbers of LLVM's libc. Printing and services have others, since LLVM's state
// neither the work-item nor the failure of a call.
//
// An image with this channel and LLVM's client is refused: each keeps locks of its own, and both would use one port.
//
// A launch that ended in the middle of a call costs the program its channel, since only the lock's owner could release it.
package rpc
