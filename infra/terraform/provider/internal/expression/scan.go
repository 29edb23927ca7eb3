package expression

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits that keep a hostile text from exhausting memory or time. The control plane has the same limits.
const (
	maxLength = 1024
	maxDepth  = 32
	maxDigits = 40
)

const (
	end    rune = 0
	number rune = '0'
	word   rune = 'a'
)

// pattern matches one token at the start of a text, in this order: a decimal, an integer, a name, a sign, or space.
var pattern = regexp.MustCompile(`^(?:([0-9]*\.[0-9]+|[0-9]+\.)|([0-9]+)|([A-Za-z_][A-Za-z0-9_]*)|([{}<>()*/,])|[ \t]+)`)

type token struct {
	kind   rune // a sign of its own, or one of the constants
	text   string
	column int
}

func (t token) unexpected(expected, hint string) *Error {
	found := "'" + t.text + "'"
	if t.kind == end {
		found = "the end of the expression"
	}
	return &Error{t.column, found, expected, hint}
}

func scan(text string) ([]token, error) {
	if length := utf8.RuneCountInString(text); length > maxLength {
		return nil, &Error{maxLength + 1, fmt.Sprintf("%d characters", length), fmt.Sprintf("at most %d characters", maxLength), ""}
	}
	tokens := []token{}
	for at := 0; at < len(text); {
		// All before this is ASCII, so bytes count characters.
		column, parts := at+1, pattern.FindStringSubmatch(text[at:])
		switch {
		case parts == nil:
			return nil, unknownCharacter(text[at:], column)
		case parts[1] != "":
			return nil, token{number, parts[1], column}.unexpected("an integer", "write a fraction: *3/4 instead of *0.75")
		case len(parts[2]) > maxDigits:
			return nil, &Error{column, fmt.Sprintf("a number of %d digits", len(parts[2])), fmt.Sprintf("at most %d digits", maxDigits), ""}
		case parts[2] != "":
			tokens = append(tokens, token{number, parts[2], column})
		case parts[3] != "":
			tokens = append(tokens, token{word, parts[3], column})
		case parts[4] != "":
			tokens = append(tokens, token{rune(parts[4][0]), parts[4], column})
		}
		at += len(parts[0])
	}
	return append(tokens, token{kind: end, column: len(text) + 1}), nil
}

func unknownCharacter(text string, column int) *Error {
	character, _ := utf8.DecodeRuneInString(text)
	found, hint := fmt.Sprintf("%U", character), ""
	if unicode.IsPrint(character) {
		found = fmt.Sprintf("'%c'", character)
	}
	if strings.ContainsRune("+-", character) {
		hint = "only * and / combine values; SUM(a, b) adds"
	}
	return &Error{column, found, "'*', '/', '}' or a value", hint}
}
