// Package api is the client of the control plane: operations and types generated from its contract, and the transport
// that sends all requests.
//
// Every POST carries an Idempotency-Key, so that it can be sent again when the connection breaks, without being done
// twice. A request that a busy control plane refuses is sent again after the time that the response names. A refusal
// becomes an *Error. Rules of the domain are deliberately absent: the control plane checks them.
package api

//go:generate go tool oapi-codegen -config codegen.yaml -o operations.gen.go ../../../../../backend/openapi.yaml

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// JSON is the content type of every request body.
const JSON = "application/json"

// Client has the operations of the API of one control plane. It may be used concurrently.
type Client struct{ *Operations }

// Error is the API's refusal of a request. Its problem names the fields at fault, if any.
type Error struct {
	Problem Problem
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s (%s, request %s)", e.Problem.Detail, e.Problem.Code, e.Problem.RequestId) + e.ToRun()
}

// ToRun returns the statements that a person has to run on the server to make the request possible, such as a GRANT, as
// lines to append to a message. It is empty if there are none.
func (e *Error) ToRun() string {
	if e.Problem.Statements == nil {
		return ""
	}
	return ToRun(*e.Problem.Statements)
}

// ToRun returns SQL statements as lines to append to a message; empty if there are none.
func ToRun(statements []string) string {
	if len(statements) == 0 {
		return ""
	}
	return "\nRun on the server:\n  " + strings.Join(statements, "\n  ")
}

// IsNotFound reports whether the API refused a request because the object does not exist. It is false for nil.
func IsNotFound(err error) bool {
	var refusal *Error
	return errors.As(err, &refusal) && refusal.Problem.Status == http.StatusNotFound
}

// New returns a client for the control plane at this address. It only checks the address, and sends nothing. The agent
// is the User-Agent of every request.
func New(address, token, agent string) (*Client, error) {
	base, err := url.Parse(address)
	if err != nil || base.Host == "" || (base.Scheme != "http" && base.Scheme != "https") {
		return nil, fmt.Errorf("%q is not the address of a control plane: write http://host:port", address)
	}
	sent := &transport{token: token, agent: agent, http: &http.Client{Timeout: time.Minute}}
	operations, err := NewClient(address, WithHTTPClient(sent))
	return &Client{operations}, err
}

// Body returns the value as the JSON body of a request. If the value cannot be encoded, sending the request fails.
func Body(value any) io.Reader {
	text, err := json.Marshal(value)
	if err != nil {
		return unsendable{err}
	}
	return bytes.NewReader(text)
}

type unsendable struct{ err error }

func (u unsendable) Read([]byte) (int, error) { return 0, u.err }

// IfVersion makes the API refuse an update or deletion unless the object still has the version that was read.
func IfVersion(version int) RequestEditorFn {
	return func(_ context.Context, request *http.Request) error {
		request.Header.Set("If-Match", strconv.Quote(strconv.Itoa(version)))
		return nil
	}
}

// Read decodes the response of an operation and closes it. It returns the operation's own error, an *Error if the API
// refused the request, and the zero value of T if the response has no body.
func Read[T any](answer *http.Response, err error) (T, error) {
	var found T
	if err != nil {
		return found, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode >= http.StatusBadRequest {
		err = refusal(answer, text)
	}
	if err != nil || len(text) == 0 {
		return found, err
	}
	if err := json.Unmarshal(text, &found); err != nil {
		return found, fmt.Errorf("%s was answered with something else than the contract says: %w", asked(answer), err)
	}
	return found, nil
}

// List requests all pages of a list and returns their items in order. It calls page with the cursor of each page, nil
// for the first. After an error it returns no items.
func List[T any](page func(cursor *string) (*http.Response, error)) ([]T, error) {
	all, cursor := []T{}, (*string)(nil)
	for {
		found, err := Read[struct {
			Items []T     `json:"items"`
			Next  *string `json:"next"`
		}](page(cursor))
		if err != nil {
			return nil, err
		}
		all = append(all, found.Items...)
		if cursor = found.Next; cursor == nil {
			return all, nil
		}
	}
}

func refusal(answer *http.Response, text []byte) error {
	problem := Problem{}
	if json.Unmarshal(text, &problem) != nil || problem.Code == "" {
		return fmt.Errorf("%s was answered with %d, and not by the API: check the address", asked(answer), answer.StatusCode)
	}
	return &Error{problem}
}

func asked(answer *http.Response) string {
	return answer.Request.Method + " " + answer.Request.URL.Path
}

// transport sends the requests of all operations. It adds the token, and repeats requests for a busy control plane.
type transport struct {
	token, agent string
	http         *http.Client
}

// Do sends a request, and again, at most 5 times, while the control plane is busy. Refusals of the API are responses
// here, not errors.
func (t *transport) Do(request *http.Request) (*http.Response, error) {
	request.Header.Set("Authorization", "Bearer "+t.token)
	request.Header.Set("User-Agent", t.agent)
	if request.Method == http.MethodPost {
		request.Header.Set("Idempotency-Key", rand.Text())
	}
	for again := 0; ; again++ {
		answer, err := t.send(request)
		if err != nil {
			return nil, fmt.Errorf("%s cannot be reached: %w. Is it up, and is the address right?", request.URL.Host, err)
		}
		pause := pauseOf(answer)
		if pause == 0 || again == mostRepeats || rewind(request) != nil {
			return answer, nil
		}
		_ = answer.Body.Close()
		select {
		case <-time.After(pause):
		case <-request.Context().Done():
			return nil, request.Context().Err()
		}
	}
}

// send sends a request, and once more if the connection broke.
func (t *transport) send(request *http.Request) (*http.Response, error) {
	answer, err := t.http.Do(request)
	if err != nil && request.Context().Err() == nil && rewind(request) == nil {
		return t.http.Do(request)
	}
	return answer, err
}

const (
	mostRepeats  = 5
	longestPause = 10 * time.Second
)

// pauseOf returns how long a busy control plane asks the client to wait. It returns 0 if the request must not be
// repeated: the control plane is not busy, or names no time or one of more than 10 seconds.
func pauseOf(answer *http.Response) time.Duration {
	seconds, err := strconv.Atoi(answer.Header.Get("Retry-After"))
	pause := time.Duration(seconds) * time.Second
	if answer.StatusCode != http.StatusTooManyRequests || err != nil || pause < 0 || pause > longestPause {
		return 0
	}
	return max(pause, time.Millisecond)
}

// rewind makes the body of a request readable again from its start.
func rewind(request *http.Request) error {
	if request.GetBody == nil {
		return nil
	}
	body, err := request.GetBody()
	request.Body = body
	return err
}
