package expression

import (
	"math/big"
	"strings"
)

var functions = map[string]func(left, right *big.Int) *big.Int{
	"LEAST":    func(left, right *big.Int) *big.Int { return pick(left, right, -1) },
	"GREATEST": func(left, right *big.Int) *big.Int { return pick(left, right, 1) },
	"SUM":      func(left, right *big.Int) *big.Int { return new(big.Int).Add(left, right) },
}

func pick(left, right *big.Int, wanted int) *big.Int {
	if left.Cmp(right) == wanted {
		return left
	}
	return right
}

func isFunction(found token) bool {
	_, known := functions[strings.ToUpper(found.text)]
	return found.kind == word && known
}

func function(name token, arguments []Node) Node {
	combine := functions[strings.ToUpper(name.text)]
	return func(variables map[string]*big.Int) (*big.Int, error) {
		total, err := arguments[0](variables)
		for _, argument := range arguments[1:] {
			var value *big.Int
			if err == nil {
				value, err = argument(variables)
			}
			if err == nil {
				total = combine(total, value)
			}
		}
		return total, err
	}
}

func product(left, right Node) Node {
	return func(variables map[string]*big.Int) (*big.Int, error) {
		first, err := left(variables)
		if err != nil {
			return nil, err
		}
		second, err := right(variables)
		if err != nil {
			return nil, err
		}
		return new(big.Int).Mul(first, second), nil
	}
}

// quotient returns the quotient of two nodes, truncated. It evaluates the divisor first. A divisor of 0 is an error at
// column, where the divisor begins.
func quotient(left, right Node, column int) Node {
	return func(variables map[string]*big.Int) (*big.Int, error) {
		divisor, err := right(variables)
		if err != nil {
			return nil, err
		}
		if divisor.Sign() == 0 {
			return nil, &Error{column, "a divisor of 0", "a divisor of at least 1", ""}
		}
		dividend, err := left(variables)
		if err != nil {
			return nil, err
		}
		return new(big.Int).Quo(dividend, divisor), nil
	}
}

func variable(name string, column int) Node {
	return func(variables map[string]*big.Int) (*big.Int, error) {
		if value, known := variables[name]; known {
			return value, nil
		}
		return nil, &Error{column, name + " without a value", "a value for it", ""}
	}
}
