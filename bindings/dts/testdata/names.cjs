// Prints, as JSON, the names of values that a program sees with orepl.d.ts: globals, and members of their prototypes.
// Usage: node names.cjs TYPESCRIPT FOLDER
const ts = require(process.argv[2])
const file = process.argv[3] + '/orepl.d.ts'
const program = ts.createProgram([file], { lib: ['lib.es2016.d.ts'], types: [], target: ts.ScriptTarget.ESNext })
const checker = program.getTypeChecker()
const at = program.getSourceFile(file)
const isLibrary = symbol => (symbol.declarations ?? []).some(d => program.isSourceFileDefaultLibrary(d.getSourceFile()))
const names = []
const members = (type, prefix) => {
  for (const p of checker.getPropertiesOfType(type)) {
    if (!isLibrary(p)) continue
    const symbol = /^__@(\w+)@\d+$/.exec(p.escapedName)
    names.push(symbol ? `${prefix}[Symbol.${symbol[1]}]` : /^[\p{L}$_][\w$]*$/u.test(p.name) ? `${prefix}.${p.name}` : `${prefix}[${JSON.stringify(p.name)}]`)
  }
}
for (const s of checker.getSymbolsInScope(at, ts.SymbolFlags.Value)) {
  if (!isLibrary(s)) continue
  names.push(s.name)
  const type = checker.getTypeOfSymbolAtLocation(s, at)
  const prototype = type.getProperty('prototype')
  if (type.isUnion() || type.flags & ts.TypeFlags.Primitive) continue
  members(type, s.name)
  if (prototype) members(checker.getTypeOfSymbolAtLocation(prototype, at), s.name + '.prototype')
}
console.log(JSON.stringify([...new Set(names)].sort()))
