package rpc

// Order is the memory order of an atomic operation, as C11 defines it.
type Order uint8

const (
	Relaxed Order = iota
	Acquire
	Release
	SeqCst // of a fence
)

func (o Order) String() string { return [...]string{"relaxed", "acquire", "release", "seq_cst"}[o] }

// Transition is an atomic operation of the protocol.
type Transition struct {
	Name    string // name in the device header, after OREPL_RPC_ORDER_ and in capitals
	Order   Order  // the weakest sufficient order
	Meaning string
}

// These are the indices of Transitions.
const (
	Lock = iota
	OpenInbox
	OpenOutbox
	HandOver
	AwaitInbox
	Unlock
	ServeInbox
	Answer
	ClientBell
	ServerBell
)

// Transitions lists the atomic operations of the protocol. The Go sides use sequentially consistent operations for all.
var Transitions = []Transition{
	Lock:       {"lock", Acquire, "the client sets the lock bit of a port; the call before it happens before this one"},
	OpenInbox:  {"open_inbox", Acquire, "the client reads the inbox of a locked port; the server has read the last packet"},
	OpenOutbox: {"open_outbox", Relaxed, "the client reads its outbox; the lock orders it after the last write"},
	HandOver:   {"hand_over", Release, "the client inverts its outbox; header and packets are written"},
	AwaitInbox: {"await_inbox", Acquire, "the client reads the inbox until the packets are its own; the reply is written"},
	Unlock:     {"unlock", Release, "the client clears the lock bit; its reads of the reply are done"},
	ServeInbox: {"serve_inbox", Acquire, "the server reads its inbox; header and packets are written"},
	Answer:     {"answer", Release, "the server inverts its outbox; its reads and its reply are done"},
	ClientBell: {"client_bell", SeqCst, "a fence between the client's inverted outbox and its look at the bell"},
	ServerBell: {"server_bell", SeqCst, "a fence between the armed bell and the server's last look at the mailboxes"},
}
