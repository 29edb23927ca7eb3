// Findings of a check or a preview: what was observed, what is needed, and how to fix it.
import { Button } from '@mantine/core';
import type { Finding } from '@/api/changes';
import { useT, useApiText } from '@/lib/i18n/context';
import { translateFacts } from '@/lib/i18n/apiTexts';
import type { Tone } from '@/lib/tone';
import { EnglishText } from './EnglishText';
import { Statements } from './Statements';
import { StatusBadge, ToneIcon } from './StatusBadge';
import classes from './FindingList.module.css';

/** The colour of a finding by its severity. A notice without a remedy is green: it states that the condition is met. */
function toneOf(finding: Finding): Tone {
  if (finding.severity === 'blocking') return 'danger';
  if (finding.severity === 'advice') return 'warn';
  return finding.remedy ? 'info' : 'ok';
}

interface FindingListProps {
  findings: Finding[];
  onAct?: (route: string, body: Record<string, unknown>) => void;
  isBusy?: boolean;
}

export function FindingList({ findings, onAct, isBusy }: FindingListProps) {
  return (
    <ul className={classes.list}>
      {findings.map((finding) => (
        <li key={`${finding.code}:${finding.parameter}:${finding.seen}`} className={classes.item}>
          <ToneIcon tone={toneOf(finding)} size={18} />
          <FindingText finding={finding} />
          <FindingAction finding={finding} onAct={onAct} isBusy={isBusy} />
        </li>
      ))}
    </ul>
  );
}

/**
 * The text of a finding in the viewer's language: a title, with what was observed below it. A finding that has no
 * translation shows only the API's English observation.
 */
function FindingText({ finding }: { finding: Finding }) {
  const t = useT();
  const apiText = useApiText();
  const tone = toneOf(finding);
  const { code, parameter, seen, needed, remedy } = finding;
  const title =
    apiText(`${tone === 'ok' ? 'met' : 'finding'}.${code}`, '') ||
    apiText(`problem.${code}`, '') ||
    undefined;
  // Figures and names are sent separately from the API's English sentences, so that other languages can use them.
  const facts = translateFacts(apiText, {
    ...finding.facts,
    parameter,
    ...(finding.nearest && { nearest: finding.nearest }),
  });
  const plain = apiText(`seen.${code}`, seen, facts);
  const ownSeen = tone === 'ok' ? apiText(`seenMet.${code}`, plain, facts) : plain;
  const ownNeeded = apiText(`needed.${code}`, needed, facts);
  const isNamed = parameter !== '' && !ownSeen.includes(parameter);
  return (
    <div className={classes.text}>
      <div className={classes.seen}>
        {isNamed && (
          <>
            <code>{finding.parameter}</code>:{' '}
          </>
        )}
        {title ?? seen}{' '}
        {tone === 'danger' && <StatusBadge tone="danger">{t('finding.blocking')}</StatusBadge>}
      </div>
      {title !== undefined && (ownSeen === seen ? <EnglishText>{seen}</EnglishText> : <div>{ownSeen}</div>)}
      {needed && tone !== 'ok' && (
        <div className={classes.needed}>
          {t('finding.needed')} {ownNeeded === needed ? <span lang="en">{needed}</span> : ownNeeded}
        </div>
      )}
      {remedy && <div className={classes.needed}>{apiText(`remedy.${code}`, remedy, facts)}</div>}
      {finding.action && finding.action.statements.length > 0 && (
        <Statements lines={finding.action.statements} />
      )}
    </div>
  );
}

function FindingAction({
  finding,
  onAct,
  isBusy,
}: { finding: Finding } & Pick<FindingListProps, 'onAct' | 'isBusy'>) {
  const t = useT();
  const action = finding.action;
  if (!onAct || !action?.route) return null;
  const known = ['restart', 'upgrade', 'proxy', 'resize', 'changes'] as const;
  const name = known.find((route) => route === action.route);
  return (
    <Button variant="light" loading={isBusy} onClick={() => onAct(action.route, action.body)}>
      {name ? t(`finding.action.${name}`) : action.route}
    </Button>
  );
}
