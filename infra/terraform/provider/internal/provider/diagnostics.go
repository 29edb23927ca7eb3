package provider

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"fast-query-cache.dev/terraform-provider-fqc/internal/api"
)

// locate finds the attribute that a field of the API, or a parameter, came from; false: it came from none.
type locate func(field string) (path.Path, bool)

// roots are attributes that are called as in the API.
func roots(names ...string) locate {
	return func(field string) (path.Path, bool) {
		first, _, _ := strings.Cut(field, ".")
		for _, name := range names {
			if name == first {
				return path.Root(name), true
			}
		}
		return path.Empty(), false
	}
}

// keys are parameters inside the map attribute.
func keys[V any](attribute string, values map[string]V) locate {
	return func(field string) (path.Path, bool) {
		name := strings.TrimPrefix(field, attribute+".")
		_, known := values[name]
		return path.Root(attribute).AtMapKey(name), known
	}
}

// either asks one after the other.
func either(all ...locate) locate {
	return func(field string) (path.Path, bool) {
		for _, at := range all {
			if where, known := at(field); known {
				return where, true
			}
		}
		return path.Empty(), false
	}
}

// subjects are the attributes that a request as a whole can fail over, by the code of its refusal.
var subjects = map[string]path.Path{"not_found": rootInstance, "template_not_found": rootTemplate}

// orSubject is for what names an instance or a template that may not exist.
func orSubject(at locate) locate {
	return func(field string) (path.Path, bool) {
		if where, known := subjects[field]; known {
			return where, true
		}
		return at(field)
	}
}

// addError reports a failed request, on the attributes at fault where the API names them.
func addError(diags *diag.Diagnostics, summary string, err error, at locate) {
	var refusal *api.Error
	located := false
	if errors.As(err, &refusal) && refusal.Problem.Errors != nil {
		for _, field := range *refusal.Problem.Errors {
			if where, known := at(field.Field); known {
				diags.AddAttributeError(where, summary, field.Detail+refusal.ToRun())
				located = true
			}
		}
	}
	if located {
		return
	}
	if refusal != nil {
		if where, known := at(refusal.Problem.Code); known {
			diags.AddAttributeError(where, summary, err.Error())
			return
		}
	}
	diags.AddError(summary, err.Error())
}

// addFindings reports what a preview found: what blocks as an error, advice as a warning.
func addFindings(diags *diag.Diagnostics, found []api.InstanceFinding, at locate) {
	for _, finding := range found {
		where, known := at(finding.Parameter)
		if !known {
			where = path.Empty()
		}
		switch finding.Severity {
		case api.FindingSeverityBlocking:
			diags.AddAttributeError(where, "Refused by the check "+finding.Code, explained(finding))
		case api.FindingSeverityAdvice:
			diags.AddAttributeWarning(where, "Advice: "+finding.Code, explained(finding))
		}
	}
}

func explained(finding api.InstanceFinding) string {
	words := fmt.Sprintf("Seen: %s.\nNeeded: %s.\n%s", finding.Seen, finding.Needed, finding.Remedy)
	if finding.Action == nil {
		return words
	}
	return words + api.ToRun(finding.Action.Statements)
}
