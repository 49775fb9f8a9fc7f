// Package scripts tests kernels in scripts: captures, launches, and their errors.
package scripts
