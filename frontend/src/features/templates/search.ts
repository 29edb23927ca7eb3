import { flagParam, numberParam, textParam, type RawSearch } from '@/lib/searchParams';

export interface TemplateSearch {
  /** An older version to look at. */
  version?: number;
  /** Compared with another template, or with another version of this one. */
  with?: string;
  withVersion?: number;
}

export interface TemplatesSearch {
  /** The form for a new one is open. */
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
