package vcode

// Part gives the register of part i of a value, which is the only one of a uniform value.
func Part(v []Reg, i int) Reg {
	if len(v) == 1 {
		return v[0]
	}
	return v[i]
}
