package provider

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"fast-query-cache.dev/terraform-provider-fqc/internal/api"
)

// One private stack for all tests of this package, started by the first test that needs it.

var backend, _ = filepath.Abs("../../../../../backend")

type stack struct {
	Address string
	Admin   struct{ Username, Password string }
	// Instances as `python -m stack up --json` lists them.
	Instances []server
	mysql     *server // absent where no MySQL server can be had
	token     string
	client    *api.Client
	binary    string // the folder of the built provider
	stuck     string // what did not end, after which nothing else would
}

type server struct {
	ID, Name, Host, Username, Password, Product, Folder string
	Port                                                int
	PublicKey                                           string `json:"public_key"`
	Owner                                               string
	OwnerPassword                                       string `json:"owner_password"`
}

// run executes an SQL statement as the user of the operating system that owns the server. An error fails the test.
func (s *server) run(t *testing.T, statement string) {
	t.Helper()
	command := exec.Command("mariadb", "--no-defaults", "--socket="+filepath.Join(s.Folder, "server.sock"), "--user="+s.Owner, "-e", statement)
	command.Env = append(os.Environ(), "MYSQL_PWD="+s.OwnerPassword)
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", statement, err, out)
	}
}

// needMySQL returns the stack and its MySQL server. It skips the test if there is none.
func needMySQL(t *testing.T) (*stack, *server) {
	t.Helper()
	s := needStack(t)
	if s.mysql == nil {
		t.Skip("NO MYSQL SERVER IS HERE: set FQC_MYSQLD, or run scripts/fetch-server MySQL tested")
	}
	return s, s.mysql
}

var running = sync.OnceValues(start)

func TestMain(m *testing.M) {
	code := m.Run()
	stop()
	os.Exit(code)
}

// needStack returns the stack of all tests, which the first call starts. It skips the test if TF_ACC is not set or
// Terraform is missing, and fails it if the stack cannot start or is stuck.
func needStack(t *testing.T) *stack {
	t.Helper()
	if os.Getenv("TF_ACC") == "" {
		t.Skip("TF_ACC is not set: this test runs terraform against a real stack")
	}
	if reason := noTerraform(); reason != "" {
		t.Skip(reason + ": install 1.11 or newer to run this test")
	}
	found, err := running()
	if err != nil {
		t.Fatal(err)
	}
	if found.stuck != "" {
		t.Fatal("not run, since something did not end before: " + found.stuck)
	}
	return found
}

// isStuck records that the stack is stuck, so that later tests fail at once instead of waiting as long. It returns
// `what` with the ends of the services' logs.
func (s *stack) isStuck(what string) string {
	s.stuck, _, _ = strings.Cut(what, "\n")
	for _, service := range []string{"web", "worker", "scheduler"} {
		text, _ := os.ReadFile(filepath.Join(workspace, "run", "logs", service+".log"))
		what += fmt.Sprintf("\nthe end of the log of %s:\n%s", service, text[max(0, len(text)-4000):])
	}
	return what
}

// noTerraform returns why there is no Terraform for these tests; empty if there is a recent enough one.
func noTerraform() string {
	text, err := exec.Command("terraform", "version", "-json").Output()
	if err != nil {
		return "there is no terraform on the PATH"
	}
	found := struct {
		Version string `json:"terraform_version"`
	}{}
	var major, minor int
	_ = json.Unmarshal(text, &found)
	if _, err := fmt.Sscanf(found.Version, "%d.%d", &major, &minor); err != nil || major < 1 || (major == 1 && minor < 11) {
		return "the terraform on the PATH is " + found.Version
	}
	return ""
}

var workspace string

// start builds the provider, and starts a stack in a temporary folder.
func start() (*stack, error) {
	var err error
	if workspace, err = os.MkdirTemp("", "fqc-terraform-"); err != nil {
		return nil, err
	}
	found := &stack{binary: filepath.Join(workspace, "bin")}
	build := exec.Command("go", "build", "-o", filepath.Join(found.binary, "terraform-provider-fqc"), "../..")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build: %w\n%s", err, out)
	}
	text, err := control("up", "--ports", "auto", "--json")
	if err != nil {
		return nil, err
	}
	if err = json.Unmarshal(text, found); err != nil {
		return nil, err
	}
	if err = found.startMySQL(); err != nil {
		return nil, err
	}
	if found.token, err = found.logIn(); err != nil {
		return nil, err
	}
	found.client, err = api.New(found.Address, found.token, "tests")
	return found, err
}

// startMySQL adds a MySQL server to the stack, as the last of its servers. It does nothing if FQC_MYSQLD names no file.
func (s *stack) startMySQL() error {
	if _, err := os.Stat(os.Getenv("FQC_MYSQLD")); err != nil {
		return nil
	}
	text, err := control("up", "--ports", "auto", "--json", "--count", "1", "--product", "MySQL")
	if err != nil {
		return err
	}
	all := struct{ Instances []server }{}
	if err := json.Unmarshal(text, &all); err != nil {
		return err
	}
	s.mysql = &all.Instances[len(all.Instances)-1]
	return nil
}

func stop() {
	if workspace == "" {
		return
	}
	if _, err := control("reset"); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.RemoveAll(workspace)
}

// control runs a command of the backend's supervisor on this stack, and returns what it printed.
func control(action string, more ...string) ([]byte, error) {
	arguments := append([]string{"-m", "stack", action, "--run-dir", filepath.Join(workspace, "run")}, more...)
	ctx, cancel := context.WithTimeout(context.Background(), 2*runLimit)
	defer cancel()
	command := exec.CommandContext(ctx, filepath.Join(backend, ".venv/bin/python"), arguments...)
	command.WaitDelay = time.Second
	command.Dir = backend
	text, err := command.Output()
	if failed, ok := err.(*exec.ExitError); ok {
		return nil, fmt.Errorf("stack %s: %s", action, failed.Stderr)
	}
	return text, err
}

// logIn returns a token of the administrator's, created like in the console: in a session that began with the password.
func (s *stack) logIn() (string, error) {
	jar, _ := cookiejar.New(nil)
	session := &browser{s.Address, &http.Client{Jar: jar}, ""}
	if _, err := session.call("GET", "auth/session", nil); err != nil {
		return "", err
	}
	if _, err := session.call("POST", "auth/session", map[string]string{"username": s.Admin.Username, "password": s.Admin.Password}); err != nil {
		return "", err
	}
	made, err := session.call("POST", "tokens", map[string]string{"name": "acceptance tests", "scope": "admin"})
	token, _ := made["token"].(string)
	return token, err
}

type browser struct {
	address   string
	http      *http.Client
	csrfToken string
}

func (b *browser) call(method, path string, body any) (map[string]any, error) {
	content, _ := json.Marshal(body)
	request, err := http.NewRequest(method, b.address+"/api/v1/"+path, strings.NewReader(string(content)))
	if err != nil {
		return nil, err
	}
	request.Header = http.Header{"Content-Type": {"application/json"}, "X-Csrftoken": {b.csrfToken}, "Origin": {b.address}}
	answer, err := b.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	found := map[string]any{}
	if err := json.NewDecoder(answer.Body).Decode(&found); err != nil || answer.StatusCode >= 400 {
		return nil, fmt.Errorf("%s %s: %d %v %v", method, path, answer.StatusCode, found, err)
	}
	if token, renewed := found["csrf_token"].(string); renewed {
		b.csrfToken = token
	}
	return found, nil
}

// connection returns a connection for changes without Terraform, like those of a user in the console.
func (s *stack) connection() *Connection {
	return &Connection{Client: s.client, when: api.WhenNow, note: "beside terraform"}
}

// operation is an API operation that creates a change set of an instance.
type operation func(ctx context.Context, instance string, body io.Reader) (*http.Response, error)

func (s *stack) setParameters(ctx context.Context, instance string, body io.Reader) (*http.Response, error) {
	return s.client.InstancesChangesCreateWithBody(ctx, instance, nil, api.JSON, body)
}

func (s *stack) setProxy(ctx context.Context, instance string, body io.Reader) (*http.Response, error) {
	return s.client.InstancesProxyWithBody(ctx, instance, nil, api.JSON, body)
}

func (s *stack) disableCache(ctx context.Context, instance string, body io.Reader) (*http.Response, error) {
	return s.client.InstancesCacheDisableWithBody(ctx, instance, nil, api.JSON, body)
}

// alter runs an operation without Terraform, and waits until its change set has been applied. It adds to body that this
// is done at once.
func (s *stack) alter(t *testing.T, instance string, how operation, body map[string]any) {
	t.Helper()
	body["apply"], body["when"] = true, "now"
	ctx, cancel := context.WithTimeout(context.Background(), runLimit)
	defer cancel()
	answer, failed := how(ctx, instance, api.Body(body))
	err := s.connection().applied(ctx, answer, failed)
	if ctx.Err() != nil {
		t.Fatal(s.isStuck(fmt.Sprint(err)))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// inHours returns the start of a maintenance window, HH:MM in UTC, so many hours from a minute ago. With 0 hours the
// window is open already.
func inHours(hours int) string {
	return time.Now().UTC().Add(time.Duration(hours)*time.Hour - time.Minute).Format("15:04")
}

// setWindow sets the instance's maintenance window: every day, from start (HH:MM in UTC), for an hour.
func (s *stack) setWindow(t *testing.T, instance, start string) {
	t.Helper()
	now, err := api.Read[api.Instance](s.client.InstancesRetrieve(t.Context(), instance))
	if err != nil {
		t.Fatal(err)
	}
	body := api.Body(map[string]any{"maintenance_window": map[string]any{"weekday": nil, "start": start, "minutes": 60}})
	_, err = api.Read[api.Instance](s.client.InstancesPartialUpdateWithBody(t.Context(), instance, nil, api.JSON, body, api.IfVersion(now.Version)))
	if err != nil {
		t.Fatal(err)
	}
}

// parameter returns a parameter of the instance. It fails the test if there is none of this name.
func (s *stack) parameter(t *testing.T, instance, name string) api.InstanceParameter {
	t.Helper()
	found, err := api.Read[api.InstanceParameters](s.client.InstancesParametersList(context.Background(), instance))
	if err != nil {
		t.Fatal(err)
	}
	for _, each := range found.Items {
		if each.Name == name {
			return each
		}
	}
	t.Fatalf("%s has no parameter %s", instance, name)
	return api.InstanceParameter{}
}

// abortWaiting aborts the instance's change sets that wait for their window, and waits until those that run have ended.
func (s *stack) abortWaiting(t *testing.T, instance string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), runLimit)
	defer cancel()
	for {
		left, err := s.connection().waiting(ctx, instance)
		if ctx.Err() != nil {
			t.Fatal(s.isStuck("a change of instance " + instance + " did not end"))
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(left) == 0 {
			return
		}
		for _, change := range left { // too late for one at work: then its end is awaited
			_, _ = api.Read[api.Change](s.client.ChangesAbortCreate(ctx, change.Id, nil))
		}
		if err := pause(ctx); err != nil {
			t.Fatal(err)
		}
	}
}
