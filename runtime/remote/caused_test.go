package remote

import (
	"errors"
	"testing"

	"github.com/orepl/orepl/runtime/offload"
)

// TestCaused restores the error of a service in the error of its launch, which the connection transfers as text.
func TestCaused(t *testing.T) {
	cause := errors.New("a cause of this process")
	service := &offload.Error{Code: offload.PermissionDenied, Op: "call", Detail: "not that one", Hint: "take another", Err: cause}
	other := offload.Errorf(offload.Timeout, "call", "not that one")
	launch := &offload.Error{Code: offload.PermissionDenied, Op: "launch", Detail: "ask failed", Fault: &offload.Fault{}, Err: offload.DecodeError(offload.EncodeError(service))}
	carried := offload.DecodeError(offload.EncodeError(launch))
	if errors.Is(carried, cause) {
		t.Fatal("the wire carries causes")
	}
	if err := caused(carried, []error{other, service}); !errors.Is(err, cause) || offload.CodeOf(err) != offload.PermissionDenied {
		t.Errorf("the cause is lost: %v", err)
	}
	if err := caused(offload.DecodeError(offload.EncodeError(launch)), []error{other}); errors.Is(err, other) {
		t.Errorf("the error of another call is taken for the cause: %v", err)
	}
}
