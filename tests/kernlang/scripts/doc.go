// Package scripts tests kernels as scripts meet them: what they capture, how they are launched, and what they are told
// when something is wrong.
package scripts
