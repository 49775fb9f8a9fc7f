package protocol

import (
	"github.com/orepl/orepl/runtime/remote/joint"
	"github.com/orepl/orepl/runtime/remote/wire"
)

// JointLaunch is a server's part in an [offload.Joint] of several servers, which send each other the operands. Member is the server's
// index in Members. With Flows it is a copy, without them a reduction.
type JointLaunch struct {
	Launch    Launch
	Operation uint64
	Member    uint32
	Members   []JointMember
	Flows     []joint.Flow
}

// JointMember is the address of a server and the session of its client.
type JointMember struct {
	Peer    string
	Session SessionID
}

func (m *JointLaunch) Code(c *wire.Coder) {
	m.Launch.Code(c)
	wire.Num(c, &m.Operation, 8)
	wire.Num(c, &m.Member, 4)
	wire.List(c, &m.Members, func(c *wire.Coder, p *JointMember) {
		wire.Text(c, &p.Peer)
		c.Array(p.Session[:])
	})
	wire.List(c, &m.Flows, func(c *wire.Coder, f *joint.Flow) {
		wire.Num(c, &f.Member, 4)
		c.Flag(&f.Send)
		wire.Num(c, &f.Offset, 8)
		wire.Num(c, &f.Size, 8)
	})
}

// Abandon tells a member of a joint launch that another one fails. It may come before the launch.
type Abandon struct {
	Operation uint64
	Error     []byte // result of [offload.EncodeError]
}

func (m *Abandon) Code(c *wire.Coder) {
	wire.Num(c, &m.Operation, 8)
	c.Bytes(&m.Error)
}
