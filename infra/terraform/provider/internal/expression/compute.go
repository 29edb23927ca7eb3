package expression

import (
	"math/big"
	"slices"
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
		var total *big.Int
		for _, argument := range arguments {
			value, err := argument(variables)
			if err != nil {
				return nil, err
			}
			if total == nil {
				total = value
			} else {
				total = combine(total, value)
			}
		}
		return total, nil
	}
}

func operation(sign token, left, right Node) Node {
	return func(variables map[string]*big.Int) (*big.Int, error) {
		first, err := left(variables)
		if err != nil {
			return nil, err
		}
		second, err := right(variables)
		if err != nil {
			return nil, err
		}
		if sign.kind == '*' {
			return new(big.Int).Mul(first, second), nil
		}
		if second.Sign() == 0 {
			return nil, &Error{sign.column, "a division by zero", "a divisor above zero", ""}
		}
		return new(big.Int).Quo(first, second), nil
	}
}

func variable(name token) Node {
	return func(variables map[string]*big.Int) (*big.Int, error) {
		if value, known := variables[name.text]; known {
			return value, nil
		}
		return nil, &Error{name.column, name.text + " without a value", "a value for it", ""}
	}
}

// Unknown names those given that no expression may use.
func Unknown(variables map[string]*big.Int) []string {
	unknown := []string{}
	for name := range variables {
		if !slices.Contains(Variables, name) {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	return unknown
}
