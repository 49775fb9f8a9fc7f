// Package groupop defines the values of group operations (reduce, scan, subgroup operations): the identity, the result for
// absent lanes, and the order of the language, in which values are combined. The code that grid emits follows the same
// order; exec computes with this package what the code does not.
package groupop
