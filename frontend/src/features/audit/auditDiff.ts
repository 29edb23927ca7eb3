// Before and after of an audit event, field by field.

export interface DiffRow {
  field: string;
  before: string;
  after: string;
  isChanged: boolean;
}

function fieldsOf(value: unknown): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  return value === null || value === undefined ? {} : { value };
}

function show(value: unknown): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/**
 * Compares the recorded objects before and after an event: one row for each field, the changed ones first. Nothing
 * counts as changed for a creation or deletion, where one side is null.
 */
export function auditDiff(before: unknown, after: unknown): DiffRow[] {
  const old = fieldsOf(before);
  const now = fieldsOf(after);
  const isEdit = Object.keys(old).length > 0 && Object.keys(now).length > 0;
  const fields = [...new Set([...Object.keys(old), ...Object.keys(now)])];
  const rows = fields.map((field) => {
    const row = { field, before: show(old[field]), after: show(now[field]) };
    // Creation and deletion affect every field, so no field is highlighted.
    return { ...row, isChanged: isEdit && row.before !== row.after };
  });
  return rows.sort((a, b) => Number(b.isChanged) - Number(a.isChanged));
}
