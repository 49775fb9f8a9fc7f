package benchmark

import "encoding/json"

// UnmarshalJSON accepts a text or an array of texts.
func (l *list) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*l = list{one}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(l))
}
