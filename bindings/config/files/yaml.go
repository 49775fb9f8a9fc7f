package files

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

func parseYAML(data []byte) (map[string]any, lines, error) {
	tree, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, nil, wrongYAML(data, err)
	}
	if line := secondDocument(data); line > 0 {
		const what = "a second document begins here: settings are one document, without another --- after its beginning"
		return nil, nil, wrongIn(line, what, what)
	}
	var whole ast.Node
	for _, doc := range tree.Docs {
		if _, isDirective := doc.Body.(*ast.DirectiveNode); !isDirective {
			whole = content(doc.Body)
			break
		}
	}
	if whole == nil || whole.Type() == ast.NullType {
		return map[string]any{}, lines{}, nil
	}
	at := lines{}
	switch n := whole.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		if err := at.addYAML(n, ""); err != nil {
			return nil, nil, err
		}
	case *ast.SequenceNode:
		return nil, nil, wrongIn(lineOfYAML(n, 1), "settings are a mapping, not a list", "settings are a mapping, not a list")
	default:
		return nil, nil, wrongIn(lineOfYAML(n, 1), "settings are a mapping such as name: value, not one value", "settings are a mapping such as name: value, not one value")
	}
	values := map[string]any{}
	if err := yaml.Unmarshal(data, &values); err != nil {
		return nil, nil, wrongYAML(data, err)
	}
	return values, at, nil
}

// secondDocument returns the line of the first value of a second document, counted from 1, or 0 if there is none.
func secondDocument(data []byte) int {
	begun, ended := false, false // the first document
	directive := 0               // the line of one
	for _, t := range lexer.Tokenize(string(data)) {
		if t.Type == token.DirectiveType {
			directive = t.Position.Line
		}
		if t.Position.Line == directive {
			continue
		}
		switch t.Type {
		case token.CommentType:
		case token.DocumentHeaderType:
			begun, ended = true, begun
		case token.DocumentEndType:
			ended = true
		default:
			if ended {
				return t.Position.Line
			}
			begun = true
		}
	}
	return 0
}

// wrongYAML returns the error of a text of YAML.
func wrongYAML(data []byte, err error) error {
	var wrong yaml.Error
	if !errors.As(err, &wrong) {
		what := strings.TrimSpace(err.Error())
		return &syntaxError{what, withoutText(what, data)}
	}
	line := 1
	if at := wrong.GetToken(); at != nil && at.Position != nil {
		line = at.Position.Line
	}
	what := wrong.GetMessage()
	var name string
	var first, column int
	if n, _ := fmt.Sscanf(what, "mapping key %q already defined at [%d:%d]", &name, &first, &column); n == 3 {
		return doubled(name, line, first)
	}
	return wrongIn(line, what, withoutText(what, data))
}

// content returns a node without its anchor and tag.
func content(n ast.Node) ast.Node {
	for {
		switch x := n.(type) {
		case *ast.AnchorNode:
			n = x.Value
		case *ast.TagNode:
			n = x.Value
		default:
			return n
		}
	}
}

// addYAML adds the lines of the values in a node. It returns an error for a key that is in a mapping twice.
func (l lines) addYAML(n ast.Node, path string) error {
	switch n := content(n).(type) {
	case *ast.MappingValueNode:
		return l.addPairs([]*ast.MappingValueNode{n}, path)
	case *ast.MappingNode:
		return l.addPairs(n.Values, path)
	case *ast.SequenceNode:
		for i, value := range n.Values {
			at := element(path, i)
			l[at] = lineOfYAML(value, l[path])
			if err := l.addYAML(value, at); err != nil {
				return err
			}
		}
	}
	return nil
}

func (l lines) addPairs(pairs []*ast.MappingValueNode, path string) error {
	seen := map[string]int{}
	for _, pair := range pairs {
		at := pair.Key.GetToken()
		if at == nil || at.Position == nil || pair.Key.IsMergeKey() {
			continue
		}
		name, line := at.Value, at.Position.Line
		if first := seen[name]; first != 0 {
			return doubled(name, line, first)
		}
		seen[name] = line
		l[inner(path, name)] = line
		if err := l.addYAML(pair.Value, inner(path, name)); err != nil {
			return err
		}
	}
	return nil
}

// lineOfYAML returns the first line of a node, or other if the node has none.
func lineOfYAML(n ast.Node, other int) int {
	switch x := content(n).(type) {
	case *ast.MappingNode:
		if len(x.Values) > 0 {
			n = x.Values[0].Key
		}
	case *ast.MappingValueNode:
		n = x.Key
	case nil:
		return other
	}
	if at := n.GetToken(); at != nil && at.Position != nil {
		return at.Position.Line
	}
	return other
}
