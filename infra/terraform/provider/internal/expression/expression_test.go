package expression

import (
	"encoding/json"
	"errors"
	"math/big"
	"os"
	"testing"
)

type example struct {
	Text      string
	Variables map[string]*big.Int
	Value     *big.Int
	Kind      string
	Column    int
	Found     string
	Expected  string
	Hint      string
	Message   string
}

// examples returns the valid and invalid expressions with their results, which the control plane's own tests use, too.
func examples(t *testing.T) (cases struct{ Valid, Invalid []example }) {
	t.Helper()
	text, err := os.ReadFile("../../../../../docs/reference/expressions.json")
	if err == nil {
		err = json.Unmarshal(text, &cases)
	}
	if err != nil || len(cases.Valid) == 0 || len(cases.Invalid) == 0 {
		t.Fatal("no cases: ", err)
	}
	return cases
}

func TestAValidExpressionHasTheValueThatTheControlPlaneGivesIt(t *testing.T) {
	for _, each := range examples(t).Valid {
		value, err := Evaluate(each.Text, each.Variables)
		if err != nil || value.Cmp(each.Value) != 0 {
			t.Errorf("%q with %v is %v (%v), wanted %v", each.Text, each.Variables, value, err, each.Value)
		}
	}
}

func TestAnInvalidExpressionIsRefusedInTheWordsOfTheControlPlane(t *testing.T) {
	for _, each := range examples(t).Invalid {
		if _, err := Parse(each.Text); (err == nil) != (each.Kind == "evaluation") {
			t.Errorf("%q is parsed with %v, wanted an error of %s", each.Text, err, each.Kind)
		}
		_, err := Evaluate(each.Text, each.Variables)
		wanted := Error{each.Column, each.Found, each.Expected, each.Hint}
		var found *Error
		if !errors.As(err, &found) || *found != wanted || found.Error() != each.Message {
			t.Errorf("%q gives %v, wanted %v", each.Text, err, each.Message)
		}
	}
}

func FuzzNoTextBreaksIt(f *testing.F) {
	f.Add("{LEAST(DBInstanceClassMemory/256,10485760)}")
	f.Fuzz(func(t *testing.T, text string) {
		value, err := Evaluate(text, map[string]*big.Int{"DBInstanceClassMemory": big.NewInt(12884901888)})
		if (value == nil) == (err == nil) {
			t.Errorf("%q gives both or neither of %v and %v", text, value, err)
		}
	})
}
