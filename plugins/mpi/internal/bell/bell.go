// Package bell wakes processes of one machine that sleep until messages arrive. The state of a bell is a word of shared memory, so
// that ringing costs a system call only if the other process sleeps.
package bell

import (
	"crypto/rand"
	"sync/atomic"
	"time"
)

// Address tells other processes of this machine where a bell is. It is zero for a bell that they cannot ring.
type Address struct {
	PID   int32
	File  int32 // number of an open file of that process
	Token [16]byte
}

// Bell is a bell of this process, or of another one.
type Bell struct {
	word    *atomic.Uint32 // bit 0 is set if rings are heard; the other bits change when the bell rings
	address Address
}

const heard = 1

// New returns a bell of this process. Without shared memory, only this process can ring it.
func New() *Bell {
	b := &Bell{word: new(atomic.Uint32)}
	var token [16]byte
	_, _ = rand.Read(token[:]) // never fails
	if word, address, err := share(token); err == nil {
		b.word, b.address = word, address
	}
	return b
}

// Address returns the address by which other processes find the bell.
func (b *Bell) Address() Address { return b.address }

// Open returns the bell of another process, nil if this process cannot ring it.
func Open(a Address) *Bell {
	if a == (Address{}) {
		return nil
	}
	word, err := find(a)
	if err != nil {
		return nil
	}
	return &Bell{word: word, address: a}
}

// Ring wakes the bell's owner if the owner hears rings. The owner then hears no further ones until it calls Hear. The receiver
// may be nil.
func (b *Bell) Ring() {
	if b == nil {
		return
	}
	if v := b.word.Load(); v&heard != 0 && b.word.CompareAndSwap(v, v+1) {
		wake(b.word)
	}
}

// Wake ends the owner's Wait. Only the owner may call it.
func (b *Bell) Wake() {
	b.word.Add(heard + 1)
	wake(b.word)
}

// Hear makes rings wake this process, and returns the state for Wait. The caller looks for messages after it, since earlier ones
// have not rung.
func (b *Bell) Hear() (state uint32) { return b.word.Or(heard) | heard }

// Ignore makes rings do nothing, while this process looks for messages anyway.
func (b *Bell) Ignore() { b.word.And(^uint32(heard)) }

// State returns the state for Wait, like Hear, but does not change whether rings are heard.
func (b *Bell) State() uint32 { return b.word.Load() }

// Wait sleeps until the bell rings, Wake is called or d has passed. It returns at once if the state has changed, and may return early.
func (b *Bell) Wait(state uint32, d time.Duration) { wait(b.word, state, d) }
