// This file lets the package declare functions without a body, which are functions of the interpreter.
