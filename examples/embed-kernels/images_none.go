//go:build noimages

package main

// bundle is empty in a program that is built without images.
var bundle []byte
