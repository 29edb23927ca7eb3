// Failures of the API as values the pages can show. The API answers problem+json; `code` is stable, prose is not.

export interface Problem {
  title?: string;
  status?: number;
  code?: string;
  detail?: string;
  errors?: { field: string; code: string; detail: string }[];
  request_id?: string;
  /** SQL statements that a person has to run on the server. */
  statements?: string[];
}

/** One rejected field; `field` is a dotted path, empty for the request as a whole. */
export interface FieldError {
  field: string;
  code: string;
  detail: string;
}

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

/** The API could not be reached at all, or a proxy answered for it. */
export class ConnectionLost extends Error {
  constructor() {
    super('The control plane cannot be reached.');
    this.name = 'ConnectionLost';
  }
}

/** The error of a field, or of an item of its list (`mail_to.0`); undefined if the API did not reject the field. */
export function fieldRefusal(error: unknown, field: string): FieldError | undefined {
  if (!(error instanceof ApiError)) return undefined;
  const list = new RegExp(`^${field.replaceAll('.', '\\.')}(\\.\\d+)?$`);
  return error.fields.find((item) => list.test(item.field));
}
