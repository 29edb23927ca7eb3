// Package expression parses and evaluates the expressions of parameter values, such as {DBInstanceClassMemory*7/10}.
//
// Numbers are integers of any size; every division truncates. The package exists because Terraform's functions run
// without a control plane. Tests of both use docs/reference/expressions.json, so that they agree on values and errors.
// Ranges of parameters are deliberately absent, since only the API knows them.
package expression

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// Variables are the names that an expression can use: the numbers of an instance class.
var Variables = []string{"AllocatedStorage", "DBInstanceClassMemory", "DBInstanceClassCPU", "DBInstanceClassConnections"}

const factorWords = "an integer, a variable, a function or '{'"

// Error is an error in an expression: at Column (from 1) the text has Found, where Expected should be. Hint says how to
// fix it, and may be empty.
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

// Node is a parsed expression. Called with the values of the variables, it returns the expression's value, or an *Error
// if a variable has no value or a divisor is 0.
type Node func(variables map[string]*big.Int) (*big.Int, error)

// Evaluate returns the value of an expression with these values of its variables. Errors in the text are of type
// *Error.
func Evaluate(text string, variables map[string]*big.Int) (*big.Int, error) {
	node, err := Parse(text)
	if err != nil {
		return nil, err
	}
	return node(variables)
}

// Parse parses an expression: a term in braces or angle brackets, or a call of a function. Errors are of type *Error.
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

// next returns the current token and moves on to the next one. At the end it stays, so that peek remains possible.
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

// variable returns the node for a variable. If its value is missing, the error is at the first use of the variable in
// the text. An unknown name is an error, with a hint on the known ones.
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
