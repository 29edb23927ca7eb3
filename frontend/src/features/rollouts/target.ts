// The instances of a fleet apply: selected ones, those with certain tags, or all. Pure.

export type TargetKind = 'instances' | 'tags' | 'every';

export interface Target {
  kind: TargetKind;
  /** Ids or names of instances as typed, separated by blanks or commas. Only used if `kind` is 'instances'. */
  instances: string;
  tags: string;
}

function words(text: string): string[] {
  return text.split(/[\s,]+/).filter(Boolean);
}

/**
 * The request of a fleet apply to these instances. `template` is the id of the template; null upgrades the engine
 * instead.
 */
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

/** True if instances were named, or well-formed tags, as far as the chosen kind needs them. */
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

/**
 * The numbers of previewed instances: blocked ones; and of the others, those that would change, stay the same, or
 * restart.
 */
export function tallyOf(items: PreviewItem[]) {
  const open = items.filter(({ blocking }) => blocking.length === 0);
  return {
    differing: open.filter(({ lines }) => lines.length > 0).length,
    same: open.filter(({ lines }) => lines.length === 0).length,
    blocked: items.length - open.length,
    restarting: open.filter((item) => item.needs_restart).length,
  };
}
