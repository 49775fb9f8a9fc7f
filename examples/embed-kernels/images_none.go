//go:build noimages

package main

// bundle is empty in a program built without images.
var bundle []byte
