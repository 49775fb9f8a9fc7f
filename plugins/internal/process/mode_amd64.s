#include "textflag.h"

// func floatMode() uint32
TEXT ·floatMode(SB), NOSPLIT, $0-4
	STMXCSR	ret+0(FP)
	RET

// func setFloatMode(mode uint32)
TEXT ·setFloatMode(SB), NOSPLIT, $0-4
	LDMXCSR	mode+0(FP)
	RET
