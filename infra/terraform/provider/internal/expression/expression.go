// Package expression reads and evaluates the expressions of parameter values: {DBInstanceClassMemory*7/10}.
//
// Whole numbers of any size; every division truncates. It exists because Terraform's functions run without a control
// plane; a test holds both to the same answers. Deliberately absent: ranges of parameters, which only the API knows.
package expression

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// Variables are what an instance class states.
var Variables = []string{"AllocatedStorage", "DBInstanceClassCPU", "DBInstanceClassConnections", "DBInstanceClassMemory"}

// maxDepth keeps a hostile text from exhausting the stack.
const maxDepth = 64

// Error points at a column, from 1.
type Error struct {
	Column                int
	Found, Expected, Hint string
}

func (e *Error) Error() string {
	words := fmt.Sprintf("column %d: found %s, expected %s", e.Column, e.Found, e.Expected)
	if e.Hint != "" {
		words += "; " + e.Hint
	}
	return words
}

// Node is a parsed expression.
type Node func(variables map[string]*big.Int) (*big.Int, error)

// Evaluate parses the text and computes it.
func Evaluate(text string, variables map[string]*big.Int) (*big.Int, error) {
	node, err := Parse(text)
	if err != nil {
		return nil, err
	}
	return node(variables)
}

// Parse takes braces or angle brackets around a term, or a call.
func Parse(text string) (Node, error) {
	p := &parser{}
	var err error
	if p.tokens, err = scan(text); err != nil {
		return nil, err
	}
	if first := p.peek(); first.kind != '{' && first.kind != '<' && !isFunction(first) {
		return nil, first.unexpected("'{' or a function", "put the expression in braces")
	}
	node, err := p.factor()
	if err != nil {
		return nil, err
	}
	if rest := p.peek(); rest.kind != end {
		return nil, rest.unexpected("the end of the expression", "")
	}
	return node, nil
}

type parser struct {
	tokens   []token
	position int
	depth    int
}

func (p *parser) peek() token { return p.tokens[p.position] }

func (p *parser) next() token {
	found := p.tokens[p.position]
	if found.kind != end {
		p.position++
	}
	return found
}

func (p *parser) expect(kind rune, words string) error {
	if found := p.next(); found.kind != kind {
		return found.unexpected(words, "")
	}
	return nil
}

func (p *parser) term() (Node, error) {
	left, err := p.factor()
	for err == nil && (p.peek().kind == '*' || p.peek().kind == '/') {
		sign := p.next()
		var right Node
		if right, err = p.factor(); err == nil {
			left = operation(sign, left, right)
		}
	}
	return left, err
}

func (p *parser) factor() (Node, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, p.peek().unexpected("less nesting", "")
	}
	defer func() { p.depth-- }()
	found := p.next()
	switch {
	case found.kind == '{':
		return p.enclosed('}')
	case found.kind == '<':
		return p.enclosed('>')
	case found.kind == number:
		value, _ := new(big.Int).SetString(found.text, 10)
		return func(map[string]*big.Int) (*big.Int, error) { return value, nil }, nil
	case isFunction(found):
		return p.call(found)
	case found.kind == word && slices.Contains(Variables, found.text):
		return variable(found), nil
	case found.kind == word:
		return nil, found.unexpected("a number, a variable or a function", "variables: "+strings.Join(Variables, ", "))
	}
	return nil, found.unexpected("a number, a variable or a function", "")
}

func (p *parser) enclosed(closing rune) (Node, error) {
	inner, err := p.term()
	if err != nil {
		return nil, err
	}
	return inner, p.expect(closing, fmt.Sprintf("'*', '/' or '%c'", closing))
}

func (p *parser) call(name token) (Node, error) {
	if err := p.expect('(', "'('"); err != nil {
		return nil, err
	}
	arguments := []Node{}
	for {
		argument, err := p.term()
		if err != nil {
			return nil, err
		}
		arguments = append(arguments, argument)
		if p.peek().kind != ',' {
			break
		}
		p.next()
	}
	return function(name, arguments), p.expect(')', "',' or ')'")
}
