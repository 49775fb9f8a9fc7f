package vcode

// Part returns register i of a value. A uniform value has one register for all parts.
func Part(v []Reg, i int) Reg {
	if len(v) == 1 {
		return v[0]
	}
	return v[i]
}
