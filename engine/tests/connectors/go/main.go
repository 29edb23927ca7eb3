// The scenario for go-sql-driver/mysql. Arguments of a query go through the binary protocol unless they are interpolated.
package main

import (
	"database/sql"
	"fmt"
	"log"
	"os"
	"strings"

	_ "github.com/go-sql-driver/mysql"
)

const (
	read   = "SELECT id, name, note, price, day, moment FROM c.item WHERE id = ?"
	rounds = 20
)

type asker interface {
	Query(query string, arguments ...any) (*sql.Rows, error)
}

func main() {
	text, binary := open("&interpolateParams=true"), open("")
	both("first", text, binary, 1)
	must(binary.Exec("UPDATE item SET price = price + 1 WHERE id = ?", 1))
	both("fresh", text, binary, 1)
	transaction(text, binary, func(textLine, binaryLine *sql.Tx) {
		must(textLine.Exec("UPDATE item SET note = 'gone' WHERE id = 1"))
		say("inside", "text", textLine, 1)
		check(textLine.Rollback())
		must(binaryLine.Exec("UPDATE item SET note = 'gone' WHERE id = 1"))
		say("inside", "prepared", binaryLine, 1)
		check(binaryLine.Rollback())
	})
	both("rolled back", text, binary, 1)
	transaction(text, binary, func(textLine, binaryLine *sql.Tx) {
		must(binaryLine.Exec("UPDATE item SET name = ? WHERE id = 1", "ʎʇıʌ 🐬"))
		check(binaryLine.Commit())
		check(textLine.Commit())
	})
	both("committed", text, binary, 1)
	both("empty", text, binary, 99)
}

func open(options string) *sql.DB {
	address := fmt.Sprintf("root@tcp(127.0.0.1:%s)/c?charset=utf8mb4%s", os.Getenv("FQC_PORT"), options)
	pool, err := sql.Open("mysql", address)
	check(err)
	pool.SetMaxOpenConns(1)
	return pool
}

func transaction(text, binary *sql.DB, work func(textLine, binaryLine *sql.Tx)) {
	textLine, err := text.Begin()
	check(err)
	binaryLine, err := binary.Begin()
	check(err)
	work(textLine, binaryLine)
}

func both(step string, text, binary asker, key int) {
	say(step, "text", text, key)
	say(step, "prepared", binary, key)
}

// say reads the row with this key many times and prints its step, the name of the protocol and the row. Ends the program if the answers
// differ.
func say(step, name string, line asker, key int) {
	first := worded(line, key)
	for range rounds - 1 {
		if next := worded(line, key); next != first {
			log.Fatalf("%s: %s reads differ: %q and %q", step, name, first, next)
		}
	}
	fmt.Printf("%s %s: %s\n", step, name, first)
}

func worded(line asker, key int) string {
	rows, err := line.Query(read, key)
	check(err)
	defer rows.Close()
	var lines []string
	for rows.Next() {
		values := make([]sql.NullString, 6)
		targets := make([]any, len(values))
		for index := range values {
			targets[index] = &values[index]
		}
		check(rows.Scan(targets...))
		words := make([]string, len(values))
		for index, value := range values {
			words[index] = "NULL"
			if value.Valid {
				words[index] = value.String
			}
		}
		lines = append(lines, strings.Join(words, "|"))
	}
	check(rows.Err())
	return strings.Join(lines, ";")
}

func must(_ sql.Result, err error) { check(err) }

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
