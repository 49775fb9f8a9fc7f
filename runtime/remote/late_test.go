package remote

import (
	"strings"
	"testing"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/remote/protocol"
	"github.com/orepl/orepl/runtime/remote/wire"
)

// TestLatePrint delivers a print after the end of its launch: it is dropped. A print that no launch can have sent is an
// error.
func TestLatePrint(t *testing.T) {
	stream := &stream{Reader: strings.NewReader("")}
	l := &lane{device: &device{client: &client{link: newLink(stream, false)}}, ended: 3, newest: 5, services: map[uint64]offload.Services{}, failures: map[uint64][]error{}}
	if err := l.print(&protocol.Printed{At: protocol.At{Number: 3}}); err != nil {
		t.Error(err)
	}
	if sent := l.device.client.link.position(); sent != int64(len(protocol.Append(nil, &protocol.PrintsDone{Count: 1}, 0))) {
		t.Errorf("%d bytes were sent, which do not report a line as printed", sent)
	}
	if err := l.print(&protocol.Printed{At: protocol.At{Number: 4}}); err == nil {
		t.Error("a print of a launch without services is no error")
	}
}

// TestWrongDescriptions refuses descriptions of kernels that no server has.
func TestWrongDescriptions(t *testing.T) {
	for _, p := range []offload.Param{{Rank: -1}, {Rank: 4}, {Elem: -1}} {
		c := &wire.Coder{}
		wire.Param(c, &p)
		c.Reading = true
		if wire.Param(c, &p); c.Err == nil || !strings.Contains(c.Err.Error(), "outside of") {
			t.Errorf("%+v: %v", p, c.Err)
		}
	}
	c := &wire.Coder{}
	wire.Symbol(c, &offload.Symbol{Size: -5})
	c.Reading = true
	if wire.Symbol(c, &offload.Symbol{}); c.Err == nil {
		t.Error("a variable of -5 bytes is no error")
	}
}
