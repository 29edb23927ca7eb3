package api

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func serve(t *testing.T, answer http.HandlerFunc) *Client {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	client, err := New(server.URL+"/", "secret", "tests")
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func TestABrokenConnectionIsAnsweredByTheSameRequestOnceMore(t *testing.T) {
	keys, bodies := []string{}, []string{}
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		keys = append(keys, r.Header.Get("Idempotency-Key"))
		text, _ := io.ReadAll(r.Body)
		bodies = append(bodies, string(text))
		if len(keys) == 1 {
			panic(http.ErrAbortHandler)
		}
		_, _ = w.Write([]byte(`{"name": "x"}`))
	})
	made, err := Read[Template](client.TemplatesCreateWithBody(context.Background(), nil, JSON, Body(map[string]string{"name": "x"})))
	if err != nil || made.Name != "x" || len(keys) != 2 || keys[0] != keys[1] || keys[0] == "" || bodies[1] != `{"name":"x"}` {
		t.Errorf("%v, %v, keys %q, bodies %q", made, err, keys, bodies)
	}
}

func TestWhatABusyControlPlaneHasNotBegunIsSentAgain(t *testing.T) {
	keys, bodies, busy := []string{}, []string{}, 3
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		keys = append(keys, r.Header.Get("Idempotency-Key"))
		text, _ := io.ReadAll(r.Body)
		bodies = append(bodies, string(text))
		if len(keys) <= busy {
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusTooManyRequests)
			_, _ = w.Write([]byte(`{"status": 429, "code": "busy", "detail": "Try again.", "request_id": "req-1"}`))
			return
		}
		_, _ = w.Write([]byte(`{"name": "x"}`))
	})
	create := func() (Template, error) {
		return Read[Template](client.TemplatesCreateWithBody(context.Background(), nil, JSON, Body(map[string]string{"name": "x"})))
	}
	made, err := create()
	if err != nil || made.Name != "x" || len(keys) != 4 || keys[3] != keys[0] || bodies[3] != `{"name":"x"}` {
		t.Errorf("%v, %v, keys %q, bodies %q", made, err, keys, bodies)
	}
	keys, busy = nil, 100
	var refusal *Error
	if _, err = create(); !errors.As(err, &refusal) || refusal.Problem.Code != "busy" || len(keys) != mostRepeats+1 {
		t.Errorf("%v after %d requests", err, len(keys))
	}
}

func TestAProblemDocumentIsARefusalAndAnythingElseIsNot(t *testing.T) {
	body, client := "", (*Client)(nil)
	client = serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte(body))
	})
	body = `{"status": 404, "code": "not_found", "detail": "There is no such thing.", "request_id": "req-1"}`
	_, err := Read[Template](client.TemplatesRetrieve(context.Background(), "x"))
	if !IsNotFound(err) || !strings.Contains(err.Error(), "no such thing") || !strings.Contains(err.Error(), "req-1") {
		t.Errorf("the refusal is %v", err)
	}
	body = "<html>some proxy</html>"
	_, err = Read[Template](client.TemplatesRetrieve(context.Background(), "x"))
	var refusal *Error
	if err == nil || errors.As(err, &refusal) || !strings.Contains(err.Error(), "not by the API") {
		t.Errorf("a stranger's 404 is taken for %v", err)
	}
}

func TestListsAreFollowedToTheirEnd(t *testing.T) {
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		page := `{"items": [{"name": "a"}], "next": "two"}`
		if r.URL.Query().Get("cursor") == "two" {
			page = `{"items": [{"name": "b"}], "next": null}`
		}
		_, _ = w.Write([]byte(page))
	})
	found, err := List[Template](func(cursor *string) (*http.Response, error) {
		return client.TemplatesList(context.Background(), &TemplatesListParams{Cursor: cursor})
	})
	if err != nil || len(found) != 2 || found[1].Name != "b" {
		t.Errorf("%v, %v", found, err)
	}
}

func TestAnAddressIsChecked(t *testing.T) {
	for _, address := range []string{"", "localhost:8000", "ftp://host", "http://"} {
		if _, err := New(address, "", ""); err == nil {
			t.Errorf("%q is taken for an address", address)
		}
	}
}
