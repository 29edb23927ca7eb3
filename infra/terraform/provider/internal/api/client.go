// Package api talks to the control plane: types generated from its contract, and the one transport for all of them.
//
// Every POST carries an Idempotency-Key and is sent once more when the connection breaks; a problem document becomes an
// *Error. Deliberately absent: any rule of the domain.
package api

//go:generate go tool oapi-codegen -config codegen.yaml -o models.gen.go ../../../../../backend/openapi.yaml

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
	"time"
)

// Client is safe for use by several resources at once.
type Client struct {
	base  *url.URL
	token string
	http  *http.Client
	agent string
}

// Error is the API's refusal, with the fields at fault.
type Error struct {
	Problem Problem
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s (%s, request %s)", e.Problem.Detail, e.Problem.Code, e.Problem.RequestId)
}

// IsNotFound tells whether the thing asked for does not exist.
func IsNotFound(err error) bool {
	var refusal *Error
	return errors.As(err, &refusal) && refusal.Problem.Status == http.StatusNotFound
}

// New checks the address; it connects to nothing.
func New(address, token, agent string) (*Client, error) {
	base, err := url.Parse(address)
	if err != nil || base.Host == "" || (base.Scheme != "http" && base.Scheme != "https") {
		return nil, fmt.Errorf("%q is not the address of a control plane: write http://host:port", address)
	}
	return &Client{base: base.JoinPath("api/v1/"), token: token, agent: agent, http: &http.Client{Timeout: time.Minute}}, nil
}

// Get reads one thing.
func Get[T any](ctx context.Context, c *Client, path string) (T, error) {
	return send[T](ctx, c, http.MethodGet, path, nil, nil)
}

// Post acts once, even if it has to be sent twice.
func Post[T any](ctx context.Context, c *Client, path string, body any) (T, error) {
	header := http.Header{"Idempotency-Key": {rand.Text()}}
	return send[T](ctx, c, http.MethodPost, path, body, header)
}

// Write alters or deletes exactly the version that was read.
func Write[T any](ctx context.Context, c *Client, method, path string, body any, version int) (T, error) {
	header := http.Header{"If-Match": {strconv.Quote(strconv.Itoa(version))}}
	return send[T](ctx, c, method, path, body, header)
}

type page[T any] struct {
	Items []T     `json:"items"`
	Next  *string `json:"next"`
}

// List follows the pages of a list to its end.
func List[T any](ctx context.Context, c *Client, path string, query url.Values) ([]T, error) {
	all := []T{}
	for {
		found, err := Get[page[T]](ctx, c, path+"?"+query.Encode())
		if err != nil {
			return nil, err
		}
		all = append(all, found.Items...)
		if found.Next == nil {
			return all, nil
		}
		query = withCursor(query, *found.Next)
	}
}

func withCursor(query url.Values, cursor string) url.Values {
	next := url.Values{"cursor": {cursor}}
	for name, values := range query {
		if name != "cursor" {
			next[name] = values
		}
	}
	return next
}

func send[T any](ctx context.Context, c *Client, method, path string, body any, header http.Header) (T, error) {
	var answer T
	text, err := c.exchange(ctx, method, path, body, header)
	if err != nil || len(text) == 0 {
		return answer, err
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return answer, fmt.Errorf("%s %s was answered with something else than the contract says: %w", method, path, err)
	}
	return answer, nil
}

func (c *Client) exchange(ctx context.Context, method, path string, body any, header http.Header) ([]byte, error) {
	content, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	answer, err := c.attempt(ctx, method, path, content, header)
	if err != nil && ctx.Err() == nil {
		answer, err = c.attempt(ctx, method, path, content, header)
	}
	if err != nil {
		return nil, fmt.Errorf("%s cannot be reached: %w. Is it up, and is the address right?", c.base.Host, err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode >= http.StatusBadRequest {
		err = refusal(method, path, answer.StatusCode, text)
	}
	return text, err
}

func (c *Client) attempt(ctx context.Context, method, path string, content []byte, header http.Header) (*http.Response, error) {
	target, err := c.base.Parse(path)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, method, target.String(), bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	for name, values := range header {
		request.Header[name] = values
	}
	request.Header.Set("Authorization", "Bearer "+c.token)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", c.agent)
	return c.http.Do(request)
}

func refusal(method, path string, status int, text []byte) error {
	problem := Problem{}
	if json.Unmarshal(text, &problem) != nil || problem.Code == "" {
		return fmt.Errorf("%s %s was answered with %d, and not by the API: check the address", method, path, status)
	}
	return &Error{problem}
}
