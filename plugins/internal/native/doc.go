// Package native loads shared objects for the host from memory and calls their functions as kernels.
//
// An image is copied to an anonymous file and loaded by the system's loader. Thread-local storage, relocations and needed
// libraries thus work as for any other library. Its constructors and destructors are taken from the loader
// and run here, in order and guarded: a fault in one is an error, and no lock of the loader is held meanwhile.
//
// Calls run under a guard of package process: SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT and the end of the stack become
// errors, and a call that does not end is interrupted. A lock or memory of malloc that the code held then stays
// held. Faults on threads that the code made itself are not caught.
package native
