// Package helm tests the chart: by Helm itself, by Kubernetes' own types, and by what the rest of the checkout says.
package helm

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"
)

const (
	chart = "fqc-control-plane"
	// The Kubernetes version to render for. A Helm that is built from source defaults to a version older than the chart
	// allows.
	kubernetes = "1.30.0"
)

var (
	update = flag.Bool("update", false, "write what the chart renders now into golden/")
	// For each case golden/NAME.values.yaml has the values, and golden/NAME.yaml the expected output.
	cases   = []string{"small", "full"}
	secrets = []string{"FQC_DATABASE_URL", "FQC_BROKER_URL", "FQC_SECRET_KEY", "FQC_SEALING_KEYS", "FQC_OIDC_CLIENT_SECRET"}
	strict  = serializer.NewCodecFactory(scheme.Scheme, serializer.EnableStrict).UniversalDeserializer()
)

func helm(words ...string) (string, error) {
	told, err := exec.Command("go", append([]string{"tool", "helm"}, words...)...).CombinedOutput()
	return string(told), err
}

func values(name string) string { return filepath.Join("golden", name+".values.yaml") }

func rendered(t *testing.T, words ...string) string {
	t.Helper()
	told, err := helm(append([]string{"template", "fqc", chart, "--namespace", "fleet", "--kube-version", kubernetes}, words...)...)
	if err != nil {
		t.Fatal(told)
	}
	return told
}

// objects returns every object of a golden file (an expected output), by its kind and name joined by a blank. A field
// that Kubernetes does not know fails the test.
func objects(t *testing.T, name string) map[string]runtime.Object {
	t.Helper()
	found := map[string]runtime.Object{}
	for _, text := range strings.Split(read(t, filepath.Join("golden", name+".yaml")), "\n---\n") {
		object, kind, err := strict.Decode([]byte(text), nil, nil)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		metadata, _ := reflect.ValueOf(object).Elem().FieldByName("Name").Interface().(string)
		found[kind.Kind+" "+metadata] = object
	}
	return found
}

func pods(t *testing.T, name string) map[string]corev1.PodSpec {
	t.Helper()
	found := map[string]corev1.PodSpec{}
	for key, object := range objects(t, name) {
		switch known := object.(type) {
		case *appsv1.Deployment:
			found[key] = known.Spec.Template.Spec
		case *batchv1.Job:
			found[key] = known.Spec.Template.Spec
		}
	}
	if len(found) != 4 {
		t.Fatalf("web, worker, scheduler and migration are expected, not %v", found)
	}
	return found
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestHelmFindsNothingToSay(t *testing.T) {
	for _, name := range cases {
		if told, err := helm("lint", chart, "--strict", "--quiet", "--values", values(name)); err != nil {
			t.Errorf("%s: %s", name, told)
		}
	}
}

func TestItRendersWhatItDid(t *testing.T) {
	for _, name := range cases {
		file, now := filepath.Join("golden", name+".yaml"), rendered(t, "--values", values(name))
		if *update {
			if err := os.WriteFile(file, []byte(now), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if now != read(t, file) {
			t.Errorf("%s is not what the chart renders; if that is meant: go test . -update\n%s", file, now)
		}
	}
}

func TestKubernetesKnowsEveryField(t *testing.T) {
	if count := len(objects(t, "small")); count != 6 {
		t.Errorf("four of programs, a service and its policy are expected, not %d", count)
	}
	if count := len(objects(t, "full")); count != 7 {
		t.Errorf("an ingress beside them is expected, not %d in all", count)
	}
}

func TestNothingRunsAsRootOrMayBecomeIt(t *testing.T) {
	for _, name := range cases {
		for key, pod := range pods(t, name) {
			if !*pod.SecurityContext.RunAsNonRoot || *pod.SecurityContext.RunAsUser == 0 || *pod.AutomountServiceAccountToken {
				t.Errorf("%s %s: %v", name, key, pod.SecurityContext)
			}
			for _, container := range pod.Containers {
				context := container.SecurityContext
				if *context.AllowPrivilegeEscalation || !*context.ReadOnlyRootFilesystem ||
					!slices.Equal(context.Capabilities.Drop, []corev1.Capability{"ALL"}) || context.Capabilities.Add != nil {
					t.Errorf("%s %s: %v", name, key, context)
				}
				if container.Resources.Limits.Memory().IsZero() {
					t.Errorf("%s %s: nothing limits its memory", name, key)
				}
			}
		}
	}
}

func TestTheUserIsTheImages(t *testing.T) {
	user := regexp.MustCompile(`(?m)^USER (\d+)$`).FindStringSubmatch(read(t, "../../backend/Dockerfile"))[1]
	if !strings.Contains(read(t, "golden/small.yaml"), "runAsUser: "+user+"\n") {
		t.Errorf("the image's user is %s", user)
	}
}

func TestEveryVariableIsASettingAndSecretsComeByNameAlone(t *testing.T) {
	known := read(t, "../../docs/reference/settings.md")
	for key, pod := range pods(t, "full") {
		byName := []string{}
		for _, variable := range pod.Containers[0].Env {
			if !strings.Contains(known, "`"+variable.Name+"`") {
				t.Errorf("%s: there is no setting %s", key, variable.Name)
			}
			if variable.ValueFrom != nil && variable.ValueFrom.SecretKeyRef.Name == "fqc-secrets" {
				byName = append(byName, variable.Name)
			}
		}
		if !slices.Equal(byName, secrets) {
			t.Errorf("%s: %v", key, byName)
		}
	}
}

func TestItRunsWhatTheComposeFileRuns(t *testing.T) {
	var compose struct {
		Services map[string]struct {
			Command []string `json:"command"`
		} `json:"services"`
	}
	if err := yaml.Unmarshal([]byte(read(t, "../../docker-compose.yml")), &compose); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"web", "worker", "scheduler"} {
		here := pods(t, "small")["Deployment fqc-"+part].Containers[0].Command
		if !slices.Equal(here, compose.Services[part].Command) {
			t.Errorf("%s: %v, in docker-compose.yml %v", part, here, compose.Services[part].Command)
		}
	}
}

func TestProbesAskAsTheProxyDoes(t *testing.T) {
	web := pods(t, "full")["Deployment fqc-web"].Containers[0]
	urls := read(t, "../../backend/controlplane/core/root_urls.py")
	for path, probe := range map[string]*corev1.Probe{"/healthz": web.LivenessProbe, "/readyz": web.ReadinessProbe} {
		headers := map[string]string{}
		for _, header := range probe.HTTPGet.HTTPHeaders {
			headers[header.Name] = header.Value
		}
		if probe.HTTPGet.Path != path || headers["Host"] != "fqc.example.com:8443" || headers["X-Forwarded-Proto"] != "https" {
			t.Errorf("%s: %v", path, probe.HTTPGet)
		}
		if !strings.Contains(urls, strings.TrimPrefix(path, "/")) {
			t.Errorf("the web process does not answer %s", path)
		}
	}
}

func TestWhatIsMissingOrWrongIsNamed(t *testing.T) {
	for _, each := range [][2]string{
		{"image.repository=", "image.repository: "},
		{"publicUrl=fqc.example.com", "publicUrl: "},
		{"secret=", "secret: "},
		{"endpointNetworks=null", "endpointNetworks: "},
		{"trustedProxies=0", "trustedProxies: "},
		{"settings.FQC_SECRET_KEY=x", "settings.FQC_SECRET_KEY: "},
		{"settings.FQC_PUBLIC_URL=x", "settings.FQC_PUBLIC_URL: "},
		{"web.replcas=3", "replcas"},
	} {
		told, err := helm("template", "fqc", chart, "--kube-version", kubernetes, "--values", values("small"), "--set", each[0])
		if err == nil || !strings.Contains(told, each[1]) {
			t.Errorf("%s: %v %s", each[0], err, told)
		}
	}
}

func TestNoPodButTheProxyIsBelievedAboutCallers(t *testing.T) {
	with := func(words ...string) (string, error) {
		shared := []string{"template", "fqc", chart, "--kube-version", kubernetes, "--values", values("small")}
		return helm(append(shared, words...)...)
	}
	for _, words := range [][]string{{"--set", "web.allowedFrom=null"}, {"--set-json", "web.allowedFrom=[]"}} {
		if told, err := with(words...); err == nil || !strings.Contains(told, "web.allowedFrom: ") {
			t.Errorf("%v: %v %s", words, err, told)
		}
	}
	if told, err := with("--set-json", "web.allowedFrom=[{}]"); err == nil || !strings.Contains(told, "allowedFrom") {
		t.Errorf("a peer that is nobody in particular: %v %s", err, told)
	}
	plain := []string{"--set", "web.allowedFrom=null", "--set", "trustedProxies=0", "--set", "publicUrl=http://fqc.example.com"}
	told, err := with(plain...)
	if err != nil || strings.Contains(told, "NetworkPolicy") {
		t.Errorf("where nothing in front is believed: %v %s", err, told)
	}
}

func TestEveryValueIsInTheReadme(t *testing.T) {
	var known map[string]any
	if err := yaml.Unmarshal([]byte(read(t, chart+"/values.yaml")), &known); err != nil {
		t.Fatal(err)
	}
	readme := read(t, "README.md")
	for name, value := range known {
		inner, _ := value.(map[string]any)
		names := []string{name}
		for key := range inner {
			names = append(names, name+"."+key)
		}
		if len(names) > 1 {
			names = names[1:]
		}
		for _, each := range names {
			if !strings.Contains(readme, "`"+each+"`") {
				t.Errorf("the readme does not know %s", each)
			}
		}
	}
}
