import { flagParam, numberParam, textParam, type RawSearch } from '@/lib/searchParams';

export interface TemplateSearch {
  /** The number of the shown version. Absent means the newest. */
  version?: number;
  /** The id of another template to compare with, and (`withVersion`) the version of it. */
  with?: string;
  withVersion?: number;
}

export interface TemplatesSearch {
  /** True while the dialog for a new template is open. */
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
