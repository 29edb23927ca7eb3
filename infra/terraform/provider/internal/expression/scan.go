package expression

import (
	"strings"
	"unicode"
)

const (
	end    rune = 0
	number rune = '0'
	word   rune = 'a'
)

type token struct {
	kind   rune // a sign of its own, or one of the constants
	text   string
	column int
}

func (t token) unexpected(expected, hint string) *Error {
	found := "'" + t.text + "'"
	if t.kind == end {
		found = "the end"
	}
	return &Error{t.column, found, expected, hint}
}

func scan(text string) ([]token, error) {
	tokens, letters := []token{}, []rune(text)
	for at := 0; at < len(letters); {
		letter := letters[at]
		switch {
		case letter == ' ' || letter == '\t':
			at++
		case strings.ContainsRune("{}<>()*/,", letter):
			tokens = append(tokens, token{letter, string(letter), at + 1})
			at++
		case isDigit(letter):
			length := span(letters[at:], func(r rune) bool { return isDigit(r) || r == '.' })
			found := token{number, string(letters[at : at+length]), at + 1}
			if strings.Contains(found.text, ".") {
				return nil, found.unexpected("an integer", "write a fraction: *3/4 instead of *0.75")
			}
			tokens, at = append(tokens, found), at+length
		case isLetter(letter):
			length := span(letters[at:], func(r rune) bool { return isLetter(r) || isDigit(r) })
			tokens, at = append(tokens, token{word, string(letters[at : at+length]), at + 1}), at+length
		default:
			found := token{letter, string(letter), at + 1}
			return nil, found.unexpected("a number, a name or one of { } ( ) * / ,", "")
		}
	}
	return append(tokens, token{kind: end, column: len(letters) + 1}), nil
}

func span(letters []rune, belongs func(rune) bool) int {
	for at, letter := range letters {
		if !belongs(letter) {
			return at
		}
	}
	return len(letters)
}

func isDigit(letter rune) bool { return letter >= '0' && letter <= '9' }
func isLetter(letter rune) bool {
	return letter == '_' || (letter < unicode.MaxASCII && unicode.IsLetter(letter))
}
