import { flagParam, numberParam, textParam, type RawSearch } from '@/lib/searchParams';

export interface TemplateSearch {
  /** The number of an older version to show. */
  version?: number;
  /** The other template or version to compare with. */
  with?: string;
  withVersion?: number;
}

export interface TemplatesSearch {
  /** The form for a new template is open. */
  add?: true;
}

export function templatesSearch(raw: RawSearch): TemplatesSearch {
  return { add: flagParam(raw, 'add') };
}

export function templateSearch(raw: RawSearch): TemplateSearch {
  return {
    version: numberParam(raw, 'version'),
    with: textParam(raw, 'with'),
    withVersion: numberParam(raw, 'withVersion'),
  };
}
