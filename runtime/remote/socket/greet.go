package socket

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/orepl/orepl/runtime/remote"
)

// role describes the two sides of a connection.
type role struct {
	opens, accepts string // names of the sides in their proofs
	other          string // the accepting side, for messages of the other one
	noAnswer       string // advice if the accepting side is silent
	refused        string // advice if it refuses the token
}

var (
	// client is the role of a script that connects to a worker.
	client = &role{"client", "worker", "worker", "see whether its process is stopped, and start another one",
		"copy the line OREPL_FAR=… that this worker printed when it began"}
	// joiner is the role of a worker that connects to a script.
	joiner = &role{"joining worker", "script", "script", "see whether its process is stopped",
		"the script and this worker must have the same token, and the address must be that of a script, which has listen: in OREPL_FAR"}
)

const nonceBytes = 32

// proof returns the proof that a side knows the token, for two nonces and bytes derived from the keys of the connection. keys is nil
// without encryption.
func (a Address) proof(side string, keys []byte, nonces ...[]byte) []byte {
	h := hmac.New(sha256.New, []byte(a.Token))
	h.Write([]byte("orepl worker, " + side))
	for _, n := range nonces {
		h.Write(n)
	}
	h.Write(keys)
	return h.Sum(nil)
}

// prove proves the token to the side that accepted a connection, and checks that side's proof. It returns the connection to use
// afterwards, which is encrypted if the address says so.
func (a Address) prove(conn net.Conn, r *role) (net.Conn, error) {
	if err := conn.SetDeadline(time.Now().Add(greetTime)); err != nil {
		return nil, err
	}
	conn, keys, err := a.encrypt(conn)
	if err != nil {
		return nil, a.unanswered(err, r)
	}
	theirs, mine := make([]byte, nonceBytes), make([]byte, nonceBytes)
	_, _ = rand.Read(mine) // never fails
	if _, err := io.ReadFull(conn, theirs); err != nil {
		return nil, a.unanswered(err, r)
	}
	if _, err := conn.Write(append(mine, a.proof(r.opens, keys, theirs, mine)...)); err != nil {
		return nil, err
	}
	answer := make([]byte, sha256.Size)
	if _, err := io.ReadFull(conn, answer); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, &remote.Unreachable{Err: fmt.Errorf("the %s at %s refuses the token", r.other, a), Hint: r.refused}
		}
		return nil, fmt.Errorf("the %s at %s does not answer: %w", r.other, a, err)
	}
	if !hmac.Equal(answer, a.proof(r.accepts, keys, mine, theirs)) {
		return nil, fmt.Errorf("the %s at %s does not know the token", r.other, a)
	}
	return conn, conn.SetDeadline(time.Time{})
}

// unanswered returns the error of a connection whose other side did not greet.
func (a Address) unanswered(err error, r *role) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return &remote.Unreachable{Err: fmt.Errorf("the %s at %s does not respond", r.other, a), Hint: r.noAnswer}
	}
	return fmt.Errorf("%s does not greet as a %s: %w", a, r.other, plain(err))
}

// GreetClient proves the token to the client at the other end of a connection, and checks the client's proof.
func (a Address) GreetClient(conn net.Conn) error { return a.check(conn, nil, client) }

// check proves the token to the side that opened a connection, and checks that side's proof. keys are bytes derived from the keys of
// the connection, or nil without encryption.
func (a Address) check(conn net.Conn, keys []byte, r *role) error {
	if err := conn.SetDeadline(time.Now().Add(greetTime)); err != nil {
		return err
	}
	mine := make([]byte, nonceBytes)
	_, _ = rand.Read(mine) // never fails
	if _, err := conn.Write(mine); err != nil {
		return err
	}
	answer := make([]byte, nonceBytes+sha256.Size)
	if _, err := io.ReadFull(conn, answer); err != nil {
		return err
	}
	theirs, proof := answer[:nonceBytes], answer[nonceBytes:]
	if !hmac.Equal(proof, a.proof(r.opens, keys, mine, theirs)) {
		return errors.New("the token is wrong")
	}
	if _, err := conn.Write(a.proof(r.accepts, keys, theirs, mine)); err != nil {
		return err
	}
	return conn.SetDeadline(time.Time{})
}
