// Package conversions tests conversions between all pairs of element types against exact arithmetic.
//
// Every way of a number from one type to another is tested. They are stores and conversions of kernels, elements that scripts write
// and fill, and the text and binary files of module fs. The reference uses big numbers and shares no code with the implementations.
package conversions
