package orepl

import "github.com/orepl/orepl/bindings/offloadjs/params"

// Parse adds values of parameters and of inputs that are numbers to in, which may be nil, and returns it. They are the values of texts by the
// declared types, such as those of a URL's query: the first text of each name that in lacks. A text without a value of its
// type, or with a name that is not declared, is added as it is, and [Pipeline.Run] reports it.
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
