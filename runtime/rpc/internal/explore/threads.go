package explore

import (
	"fmt"

	"github.com/orepl/orepl/runtime/rpc"
)

// These are the program counters of a client.
const (
	clientChoose = iota // take the lock of some port
	clientInbox
	clientOutbox
	clientFill
	clientHandOver
	clientBell // the fence, and the read of the bell
	clientRing
	clientAwait
	clientRead
	clientUnlock
	clientGiveUp // unlock a port that the server has not read yet
)

// These are the program counters of the server.
const (
	serverScan = iota
	serverRead
	serverWrite
	serverAnswer
	serverArm   // arms the bell
	serverLook  // scans the ports again, after the fence
	serverSleep // sleeps until the bell is disarmed
)

const replied = 0x80 // in the data of a port

// id identifies a call: clients and their calls have different ones.
func (x *explorer) id(client int, call uint8) uint8 {
	if client == 1 {
		return uint8(len(x.Calls[0])) + call
	}
	return call
}

// kind returns the kind of the call with an id.
func (x *explorer) kind(id uint8) Call {
	if n := uint8(len(x.Calls[0])); id >= n {
		return x.Calls[1][id-n]
	}
	return x.Calls[0][id]
}

// client takes every possible next step of a client.
func (x *explorer) client(s *state, t int, step func(*state)) {
	th := &s.threads[t]
	port := int(th.port)
	to := func(n *state, pc uint8) { n.threads[t].pc = pc; step(n) }
	switch th.pc {
	case clientChoose:
		if int(th.call) == len(x.Calls[t]) {
			return
		}
		for p := range x.Ports {
			w := s.writes[locLock+p]
			if w[len(w)-1].value == 0 {
				n := s.clone()
				n.read(t, locLock+p, len(w)-1, x.Orders[rpc.Lock])
				n.store(t, locLock+p, 1, rpc.Relaxed)
				n.threads[t].port = uint8(p)
				to(n, clientInbox)
			}
		}
	case clientInbox:
		x.load(s, t, locServerOut+port, rpc.OpenInbox, func(n *state, value uint8) {
			n.threads[t].in = value
			to(n, clientOutbox)
		})
	case clientOutbox:
		x.load(s, t, locClientOut+port, rpc.OpenOutbox, func(n *state, value uint8) {
			n.threads[t].out = value
			if value != th.in {
				to(n, clientGiveUp)
			} else {
				to(n, clientFill)
			}
		})
	case clientFill:
		n := s.clone()
		n.writeData(t, port, x.id(t, th.call))
		to(n, clientHandOver)
	case clientHandOver:
		n := s.clone()
		n.threads[t].out ^= 1
		n.store(t, locClientOut+port, th.out^1, x.Orders[rpc.HandOver])
		if x.Bell {
			to(n, clientBell)
		} else {
			to(n, x.afterHandOver(t, th.call))
		}
	case clientBell:
		fenced := s.clone()
		fenced.sync(t, x.Orders[rpc.ClientBell])
		x.load(fenced, t, locBell, rpc.OpenOutbox, func(n *state, value uint8) {
			if value == 1 {
				to(n, clientRing)
			} else {
				to(n, x.afterHandOver(t, th.call))
			}
		})
	case clientRing:
		n := s.clone()
		w := n.writes[locBell]
		n.read(t, locBell, len(w)-1, rpc.Relaxed)
		n.store(t, locBell, 0, rpc.Relaxed)
		to(n, x.afterHandOver(t, th.call))
	case clientAwait:
		x.load(s, t, locServerOut+port, rpc.AwaitInbox, func(n *state, value uint8) {
			if value == th.out {
				to(n, clientRead)
			}
		})
	case clientRead:
		n := s.clone()
		if got, want := n.readData(t, port), x.id(t, th.call)|replied; got != want {
			panic(violation(fmt.Sprintf("crossed: client %d got the reply %#x, want %#x", t, got, want)))
		}
		to(n, clientUnlock)
	case clientUnlock, clientGiveUp:
		n := s.clone()
		n.store(t, locLock+port, 0, x.Orders[rpc.Unlock])
		if th.pc == clientUnlock {
			n.threads[t].call++
		}
		n.threads[t].port, n.threads[t].in, n.threads[t].out = 0, 0, 0
		to(n, clientChoose)
	}
}

func (x *explorer) afterHandOver(t int, call uint8) uint8 {
	if x.Calls[t][call] == OneWay {
		return clientUnlock
	}
	return clientAwait
}

// serve takes every possible next step of the server.
func (x *explorer) serve(s *state, step func(*state)) {
	th := &s.threads[server]
	port := int(th.port)
	to := func(n *state, pc uint8) { n.threads[server].pc = pc; step(n) }
	switch th.pc {
	case serverScan:
		for p := range x.Ports {
			x.load(s, server, locClientOut+p, rpc.ServeInbox, func(n *state, value uint8) {
				if value != s.outs[p] {
					n.threads[server].port = uint8(p)
					to(n, serverRead)
				}
			})
		}
		if x.Bell && s.served != 1<<x.total-1 {
			to(s.clone(), serverArm)
		}
	case serverRead:
		n := s.clone()
		id := n.readData(server, port)
		if id&replied != 0 || int(id) >= x.total {
			panic(violation(fmt.Sprintf("crossed: the server read %#x", id)))
		}
		if n.served&(1<<id) != 0 {
			panic(violation(fmt.Sprintf("doubled: call %d was served twice", id)))
		}
		n.served |= 1 << id
		n.threads[server].in = id
		if x.kind(id) == Reply {
			to(n, serverWrite)
		} else {
			to(n, serverAnswer)
		}
	case serverWrite:
		n := s.clone()
		n.writeData(server, port, th.in|replied)
		to(n, serverAnswer)
	case serverAnswer:
		n := s.clone()
		n.outs[port] ^= 1
		n.store(server, locServerOut+port, n.outs[port], x.Orders[rpc.Answer])
		n.threads[server].port, n.threads[server].in = 0, 0
		to(n, serverScan)
	case serverArm:
		n := s.clone()
		n.store(server, locBell, 1, rpc.Relaxed)
		n.sync(server, x.Orders[rpc.ServerBell])
		to(n, serverLook)
	case serverLook:
		x.load(s, server, locClientOut+port, rpc.ServeInbox, func(n *state, value uint8) {
			switch {
			case value != s.outs[port]:
				to(n, serverRead) // the bell stays armed: a superfluous ring is harmless
			case port+1 < x.Ports:
				n.threads[server].port++
				to(n, serverLook)
			default:
				n.threads[server].port = 0
				to(n, serverSleep)
			}
		})
	case serverSleep:
		w := s.writes[locBell]
		if w[len(w)-1].value == 0 { // the kernel compares the last value
			n := s.clone()
			n.read(server, locBell, len(w)-1, rpc.Relaxed)
			to(n, serverScan)
		}
	}
}
