//go:build !linux

package far_test

func suffer() {}

func host() {}
