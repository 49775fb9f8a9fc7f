package orepl

import "github.com/orepl/orepl/bindings/offloadjs/params"

// Parse returns a copy of in, which may be nil, with values from texts, such as those of a URL's query. in takes precedence. The
// first text of a name is converted by the declared type of the parameter, or of the input that is a number. A text without a value
// of its type, or with a name that is not declared, is added as it is, and [Pipeline.Run] reports it.
func (p *Pipeline) Parse(texts map[string][]string, in Data) Data {
	types := map[string]string{}
	for _, at := range p.Params() {
		types[at.Name] = at.Type
	}
	for _, at := range p.Inputs() {
		if at.Rank == 0 {
			types[at.Name] = at.Type
		}
	}
	all := make(Data, len(texts)+len(in))
	for name, list := range texts {
		if len(list) == 0 {
			continue
		}
		all[name] = list[0]
		if typ, ok := types[name]; ok {
			if value, ok := params.Parse(typ, list[0]); ok {
				all[name] = value
			}
		}
	}
	for name, value := range in {
		all[name] = value
	}
	return all
}
