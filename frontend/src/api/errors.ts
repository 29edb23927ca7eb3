// Failures of the API as values the pages can show. The API answers problem+json; `code` is stable, prose is not.

/** The body of a refused request (`application/problem+json`). `code` and the codes of `errors` are stable names. */
export interface Problem {
  title?: string;
  status?: number;
  code?: string;
  detail?: string;
  errors?: { field: string; code: string; detail: string }[];
  request_id?: string;
  /** SQL statements that a person has to run on the server to make the request possible. */
  statements?: string[];
}

/**
 * One field of a request that the API rejected. `field` is its dotted path, empty for the request as a whole; `detail`
 * is the API's English sentence.
 */
export interface FieldError {
  field: string;
  code: string;
  detail: string;
}

/** The API answered a request with an error status. Its fields have defaults if the body was no problem document. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly title: string;
  readonly requestId: string | undefined;
  readonly fields: FieldError[];
  readonly statements: string[];

  constructor(status: number, problem: Problem, requestId?: string) {
    super(problem.detail ?? problem.title ?? `HTTP ${status}`);
    this.name = 'ApiError';
    this.status = status;
    this.code = problem.code ?? `http_${status}`;
    this.title = problem.title ?? `HTTP ${status}`;
    this.requestId = problem.request_id ?? requestId;
    this.fields = problem.errors ?? [];
    this.statements = problem.statements ?? [];
  }
}

/** The API could not be reached at all, or a proxy answered because it could not reach the API. */
export class ConnectionLost extends Error {
  constructor() {
    super('The control plane cannot be reached.');
    this.name = 'ConnectionLost';
  }
}

/**
 * The error of a field of the form, or of one item of its list (`mail_to.0`). Undefined if `error` is no ApiError, or
 * does not reject this field.
 */
export function fieldRefusal(error: unknown, field: string): FieldError | undefined {
  if (!(error instanceof ApiError)) return undefined;
  const list = new RegExp(`^${field.replaceAll('.', '\\.')}(\\.\\d+)?$`);
  return error.fields.find((item) => list.test(item.field));
}
