package provider

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"fast-query-cache.dev/terraform-provider-fqc/internal/api"
)

// locate returns the attribute that a field of the API's request, or a parameter, was configured by; false if there is
// none.
type locate func(field string) (path.Path, bool)

// roots locates the fields that the configuration has as attributes of the same name. Only the first part of a dotted
// field counts.
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

// keys locates a parameter as the key of this name in the map attribute. Parameters that are not in values are not
// found.
func keys[V any](attribute string, values map[string]V) locate {
	return func(field string) (path.Path, bool) {
		name := strings.TrimPrefix(field, attribute+".")
		_, known := values[name]
		return path.Root(attribute).AtMapKey(name), known
	}
}

// either locates a field by the first of the functions that finds it.
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

// subjects are the attributes that are at fault when the API refuses a request as a whole, by the code of the refusal.
var subjects = map[string]path.Path{"not_found": rootInstance, "template_not_found": rootTemplate}

// orSubject locates a field like at, and the code of a refusal by subjects: for requests that name an instance or a
// template that may not exist.
func orSubject(at locate) locate {
	return func(field string) (path.Path, bool) {
		if where, known := subjects[field]; known {
			return where, true
		}
		return at(field)
	}
}

// addError adds a failed request to the diagnostics: an error for each attribute that at finds for the rejected fields,
// or for the code of the refusal; otherwise one error without an attribute.
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

// addFindings adds the findings of a preview to the diagnostics: blocking ones as errors, advice as warnings, all other
// ones not at all.
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
