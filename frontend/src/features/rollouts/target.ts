// The instances of a fleet apply: selected ones, those with certain tags, or all. Pure.

export type TargetKind = 'instances' | 'tags' | 'every';

export interface Target {
  kind: TargetKind;
  /** Ids or names of instances. */
  instances: string;
  tags: string;
}

function words(text: string): string[] {
  return text.split(/[\s,]+/).filter(Boolean);
}

/** The selection that the API takes. Without a template it upgrades the plugin. */
export function selectionOf(template: string | null, target: Target, allowRestart: boolean) {
  const pairs = words(target.tags).map((word) => {
    const colon = word.indexOf(':');
    return [word.slice(0, colon), word.slice(colon + 1)] as const;
  });
  return {
    kind: template === null ? ('upgrade' as const) : ('parameters' as const),
    template,
    instances: target.kind === 'instances' ? words(target.instances) : [],
    tags: target.kind === 'tags' ? Object.fromEntries(pairs) : {},
    every: target.kind === 'every',
    allow_restart: allowRestart,
  };
}

export function isTargetComplete({ kind, instances, tags }: Target): boolean {
  if (kind === 'every') return true;
  return kind === 'instances'
    ? words(instances).length > 0
    : words(tags).length > 0 && words(tags).every((word) => word.indexOf(':') > 0);
}

interface PreviewItem {
  lines: unknown[];
  blocking: string[];
  needs_restart: boolean;
}

export function tallyOf(items: PreviewItem[]) {
  const open = items.filter(({ blocking }) => blocking.length === 0);
  return {
    differing: open.filter(({ lines }) => lines.length > 0).length,
    same: open.filter(({ lines }) => lines.length === 0).length,
    blocked: items.length - open.length,
    restarting: open.filter((item) => item.needs_restart).length,
  };
}
