package protocol

import (
	"bytes"
	"encoding/hex"
	"flag"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/remote/joint"
)

var update = flag.Bool("update", false, "write the golden bytes")

// samples are messages of every type, whose fields differ from each other.
func samples() []Message {
	pos := offload.Position{File: "a.js", Line: 3, Col: 9}
	ref := ImageRef{Kind: offload.ImageIR, Target: "t", Arch: "a", Label: "l", Producers: "p", Other: "c", Meta: map[string]string{"k": "v", "a": "b"},
		Digest: Digest{1, 2, 3}, Size: 77}
	info := offload.DeviceInfo{Name: "n", Vendor: "v", Type: offload.GPU, Arch: "x", UID: "u", DriverVersion: "d", Class: 1, ComputeUnits: 2, ClockMHz: 3,
		MemoryBytes: 1 << 40, VectorBits: 512, Limits: offload.Limits{AllocationBytes: 5, SharedBytes: 6, GroupItems: 7, GroupSize: [3]int{8, 9, 10},
			Groups: [3]int{11, 12, 13}, SubgroupSizes: []int{32, 64}}, Features: offload.Features{Exact: true, F64: true, Clock: true}}
	params := []offload.Param{{Name: "x", Buffer: true, Type: offload.F32, Elem: 4, Rank: 2, Reads: true}, {Name: "s", Elem: 8,
		Fields: []offload.Field{{Type: offload.I32, Offset: 4}}}}
	kernel := offload.KernelInfo{Name: "k", Params: params, Convention: offload.PerRange, ObservesGroup: true, SharedBytes: 1, GroupItems: 2, Registers: 3, DynamicShared: true,
		Cooperative: true, Services: []string{"s"}, AnyService: true, Prints: true}
	msg := offload.Message{Kernel: "k", Item: [3]int{1, -2, 3}, Pos: pos, Text: "hé"}
	w := &Welcome{Version: Version, Error: []byte{1}, Platform: offload.PlatformInfo{Name: "n", Vendor: "v", Version: "1", Library: "f"}, Hooks: true, Address: "2", Session: SessionID{4, 5}, Machine: MachineID{8},
		Devices: []Device{{Name: "cpu:0", Platform: offload.PlatformInfo{Name: "p", Vendor: "w", Version: "2", Library: "l"}, Info: info, Properties: []byte("[]")}}}
	h := &Hello{Version: Version}
	copy(h.Magic[:], Magic)
	copy(w.Magic[:], Magic)
	ph := &PeerHello{Version: Version, Session: SessionID{6}, From: "3"}
	copy(ph.Magic[:], Magic)
	return []Message{
		h, w,
		&Reply{Request: 1, Error: []byte("e"), Value: -2, Kind: offload.SharedMemory, Symbols: []offload.Symbol{{Name: "k", Kernel: true, Size: 3}}, Info: kernel, Inexact: true},
		&CancelRequest{4}, &ImageData{Digest: Digest{9}, Total: 10, Data: []byte("ab")}, &ForgetImages{}, &CheckImage{1, AnyDevice, ref}, &Load{1, 2, 3, ref},
		&FindKernel{Request: 1, Program: 2, Kernel: 3, Name: "k", Signed: true, Signature: offload.Signature{Params: params, Convention: offload.PerItem, Axes: 2, Pos: pos}},
		&FindGlobal{1, 2, 3, "g"}, &Allocate{1, 2, 3, 1 << 33, offload.HostMemory}, &NewQueue{1, 2, 3, "q"}, &Release{ProgramObject, 5},
		&Transfer{At: At{Queue: 1, Number: 2}, Dst: Place{3, 4, 5, 6}, Src: Place{7, 8, 9, 10}, Extent: [3]int64{11, 12, 13}},
		&Fragment{At{Queue: 1, Number: 2}, 3, []byte("data")}, &Fill{At{Queue: 1, Number: 2}, 3, 4, 5, []byte{1, 2}},
		&Launch{At: At{Queue: 1, Number: 2}, Kernel: 3, Size: [3]int{4, 5, 6}, GroupSize: [3]int{7, 8, 9}, Args: []Arg{{Type: offload.F32, Bits: 1 << 63,
			Struct: true, Data: []byte{1}, Memory: 2, Offset: 3, Dims: [3]int32{-1, 2, 3}, Label: "b"}}, Checks: offload.ChecksOff, Pos: pos, Services: true,
			SharedBytes: 10, Cooperative: true, Teams: 11, ThreadLimit: 12},
		&Record{At{Queue: 1, Number: 2}}, &Stop{At{Queue: 1, Number: 2}}, &Reached{At{Queue: 1, Number: 2}, Failed, []byte("e"), true, -7}, &Printed{At{Queue: 1, Number: 2}, msg},
		&ServiceCall{At{Queue: 1, Number: 2}, 3, offload.Request{Message: msg, Name: "s", Args: []offload.Scalar{{Type: offload.I8, Bits: 255}}, Result: offload.F64}},
		&ServiceAnswer{1, 2, []byte("e")}, &ServiceCancel{1},
		&RegisterLibrary{1, 2, "l", []ImageRef{ref}, []offload.Entry{{Name: "e", Kind: offload.EntryLink, Flags: 3, Size: 4, Data: 5}}, 6}, &UnregisterLibrary{1, 2}, &Alive{},
		&Exchange{At{Queue: 1, Number: 2}, "3", SessionID{4}, true, Place{5, 6, 7, 8}, Place{9, 10, 11, 12}, [3]int64{13, 14, 15}}, ph,
		&PeerCopy{true, Place{1, 2, 3, 4}, [3]int64{5, 6, 7}}, &PeerLost{"2"}, &PrintsDone{7}, &FindAddress{1, 2, 3, "v"},
		&Relaunch{At{Queue: 1, Number: 2}, 3, []ChangedArg{{4, 1 << 63}}},
		&FileRequest{At{Queue: 1, Number: 2}, 3, WriteFile, 4, "n", "o", -5, 1, []byte("data")}, &FileAnswer{1, -2, []byte("data"), true, []byte("e")}, &Warning{1, "w"}, &Unloaded{1},
		&JointLaunch{Launch: Launch{At: At{Queue: 1, Number: 2}, Kernel: 3, Size: [3]int{4, 1, 1}, Args: []Arg{{Type: offload.F32, Memory: 5, Offset: 6, Dims: [3]int32{4}}}}, Operation: 7, Member: 1,
			Members: []JointMember{{"1", SessionID{8}}, {"2", SessionID{9}}}, Flows: []joint.Flow{{Member: 0, Send: true, Offset: 10, Size: 11}}}, &Abandon{1, []byte("e")},
	}
}

// TestGoldenBytes compares the bytes of each message with golden ones: peers of other builds must parse them.
func TestGoldenBytes(t *testing.T) {
	var b strings.Builder
	fmt.Fprintf(&b, "version %d\n", Version)
	for i, p := range samples() {
		if int(TypeOf(p)) != i {
			t.Errorf("%T is sample %d and type %d", p, i, TypeOf(p))
		}
		if made := constructors[i](); reflect.TypeOf(made) != reflect.TypeOf(p) {
			t.Errorf("type %d makes %T, want %T", i, made, p)
		}
		fmt.Fprintf(&b, "%T\n%s", p, hex.Dump(Append(nil, p, 0)))
	}
	if len(samples()) != len(constructors) {
		t.Errorf("%d samples of %d types", len(samples()), len(constructors))
	}
	const file = "testdata/wire.golden"
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("the bytes of messages changed: raise version and run with -update\n%s", b.String())
	}
}

func TestMessagesComeBackEqual(t *testing.T) {
	for _, p := range samples() {
		frame := Append(nil, p, 0)
		got, err := Parse(frame[4:])
		if err != nil || !reflect.DeepEqual(got, p) {
			t.Errorf("%T: got %+v, %v, want %+v", p, got, err, p)
		}
		for n := range len(frame) - 4 { // cut anywhere it is refused, or was complete
			if _, err := Parse(frame[4 : 4+n]); err == nil {
				t.Errorf("%T: its first %d bytes are a message", p, n)
			}
		}
		if _, err := Parse(append(bytes.Clone(frame[4:]), 0)); err == nil {
			t.Errorf("%T: a byte more is a message", p)
		}
	}
}

// TestEndOfStream checks the error of a stream that ends before a frame or anywhere in one.
func TestEndOfStream(t *testing.T) {
	for _, p := range samples() {
		frame := Append(nil, p, 0)
		for n := range frame {
			want := io.ErrUnexpectedEOF
			if n == 0 {
				want = io.EOF
			}
			if _, err := Read(bytes.NewReader(frame[:n])); err != want {
				t.Errorf("%T: after %d of %d bytes: %v, want %v", p, n, len(frame), err, want)
			}
		}
	}
}
