// Package scripts tests kernels as scripts meet them: their captures, their launches, and the errors of both.
package scripts
