// Package native loads shared objects for the host from memory and calls their functions as kernels.
//
// An image is copied to an anonymous file and loaded by the system's loader. Thread-local storage, relocations and needed libraries
// thus work as in any other library. Its constructors and destructors are hidden from the loader and run by this package, in order
// and guarded. A fault in one becomes an error, and no lock of the loader is held meanwhile.
//
// Calls run under a guard of package process. SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT and stack overflows become errors,
// and endless calls can be interrupted. Locks and malloc memory of an ended call stay held. A fault on a thread that the
// code created stops that thread, and is an error of the calls that run.
//
// # Design
//
// Constructors of an image are called after dlopen and not by it: a fault inside dlopen leaves the loader's lock held.
//
// A script states the convention of a function, since a shared object does not, and a wrong guess is a wild access.
package native
