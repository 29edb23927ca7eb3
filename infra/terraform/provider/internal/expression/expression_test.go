package expression

import (
	"errors"
	"math/big"
	"strings"
	"testing"
)

var large = map[string]*big.Int{
	"DBInstanceClassMemory": big.NewInt(12884901888),
	"DBInstanceClassCPU":    big.NewInt(4),
}

func TestValuesOfExpressions(t *testing.T) {
	for text, wanted := range map[string]string{
		"{DBInstanceClassMemory*3/4}":                                "9663676416",
		"{DBInstanceClassMemory*63/100}":                             "8117488189",
		"<DBInstanceClassMemory*7/10>":                               "9019431321",
		"{LEAST(DBInstanceClassMemory/1073741824*256, 2048)}":        "2048",
		"LEAST({DBInstanceClassMemory/256},10485760)":                "10485760",
		"greatest({DBInstanceClassMemory/9868951},80)":               "1305",
		"{SUM(DBInstanceClassMemory/1073741824,DBInstanceClassCPU)}": "16",
		"{7/2*2}":                    "6",
		"{99999999999999999999*10}":  "999999999999999999990",
		"{ {8/4} * GREATEST(1,3,2)}": "6",
	} {
		value, err := Evaluate(text, large)
		if err != nil || value.String() != wanted {
			t.Errorf("%s is %v (%v), wanted %s", text, value, err, wanted)
		}
	}
}

func TestErrorsPointAtTheColumn(t *testing.T) {
	for text, column := range map[string]int{
		"":                             1,
		"DBInstanceClassMemory":        1,
		"{DBInstanceClassMemory*0.75}": 24,
		"{DBInstanceClassMemory+1024}": 23,
		"{LEAST(1,,8)}":                10,
		"{8/0}":                        3,
		"{8*}":                         4,
		"{8":                           3,
		"{8} 9":                        5,
		"{dbinstanceclassmemory}":      2,
		"{AllocatedStorage}":           2,
		"{SUM()}":                      6,
		strings.Repeat("{", 1000):      65,
	} {
		_, err := Evaluate(text, large)
		var found *Error
		if !errors.As(err, &found) || found.Column != column {
			t.Errorf("%q gives %v, wanted column %d", text, err, column)
		}
	}
}

func FuzzNoTextBreaksIt(f *testing.F) {
	f.Add("{LEAST(DBInstanceClassMemory/256,10485760)}")
	f.Fuzz(func(t *testing.T, text string) {
		value, err := Evaluate(text, large)
		if (value == nil) == (err == nil) {
			t.Errorf("%q gives both or neither of %v and %v", text, value, err)
		}
	})
}
