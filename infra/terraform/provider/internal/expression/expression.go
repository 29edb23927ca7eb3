// Package expression reads and evaluates the expressions of parameter values: {DBInstanceClassMemory*7/10}.
//
// Whole numbers of any size; every division truncates. It exists because Terraform's functions run without a control
// plane; docs/reference/expressions.json holds both to the same answers, also for what is wrong. Deliberately absent:
// ranges of parameters, which only the API knows.
package expression

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// Variables are what an instance class states.
var Variables = []string{"AllocatedStorage", "DBInstanceClassMemory", "DBInstanceClassCPU", "DBInstanceClassConnections"}

const factorWords = "an integer, a variable, a function or '{'"

// Error points at a column, from 1.
type Error struct {
	Column                int
	Found, Expected, Hint string
}

func (e *Error) Error() string {
	words := fmt.Sprintf("column %d: found %s, expected %s", e.Column, e.Found, e.Expected)
	if e.Hint != "" {
		words += " (" + e.Hint + ")"
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
	tokens, err := scan(text)
	if err != nil {
		return nil, err
	}
	p := &parser{tokens: tokens}
	if first := p.peek(); first.kind != '{' && first.kind != '<' && !isFunction(first) {
		hint := ""
		if slices.Contains(Variables, first.text) {
			hint = "put the expression in braces"
		}
		return nil, first.unexpected("'{' or a function", hint)
	}
	node, err := p.factor()
	if err != nil {
		return nil, err
	}
	return node, p.expect(end, "the end of the expression")
}

type parser struct {
	tokens   []token
	position int
	depth    int
}

func (p *parser) peek() token { return p.tokens[p.position] }

// next stays at the end: peeking past it must remain possible.
func (p *parser) next() token {
	found := p.peek()
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
		sign, column := p.next().kind, p.peek().column
		var right Node
		if right, err = p.factor(); sign == '*' {
			left = product(left, right)
		} else {
			left = quotient(left, right, column)
		}
	}
	return left, err
}

func (p *parser) factor() (Node, error) {
	found := p.next()
	switch {
	case found.kind == '{':
		return p.nested(found, func() (Node, error) { return p.enclosed('}') })
	case found.kind == '<':
		return p.nested(found, func() (Node, error) { return p.enclosed('>') })
	case found.kind == number:
		value, _ := new(big.Int).SetString(found.text, 10)
		return func(map[string]*big.Int) (*big.Int, error) { return value, nil }, nil
	case isFunction(found):
		return p.nested(found, func() (Node, error) { return p.call(found) })
	case found.kind == word:
		return p.variable(found)
	}
	return nil, found.unexpected(factorWords, "")
}

func (p *parser) nested(opening token, inner func() (Node, error)) (Node, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, opening.unexpected(fmt.Sprintf("at most %d levels of nesting", maxDepth), "")
	}
	defer func() { p.depth-- }()
	return inner()
}

// variable points at the first place that names it, wherever its value is missed.
func (p *parser) variable(found token) (Node, error) {
	if !slices.Contains(Variables, found.text) {
		return nil, found.unexpected(factorWords, nameHint(found.text))
	}
	first := slices.IndexFunc(p.tokens, func(each token) bool { return each.text == found.text })
	return variable(found.text, p.tokens[first].column), nil
}

func nameHint(text string) string {
	for _, name := range Variables {
		if strings.EqualFold(name, text) {
			return "variables are case-sensitive: " + name
		}
	}
	return "variables: " + strings.Join(Variables, ", ")
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
	return function(name, arguments), p.expect(')', "'*', '/', ',' or ')'")
}
