import type { Instance, InstanceParameter } from '@/api/instances';
import { ErrorPanel } from '@/components/ErrorPanel';
import { ToneIcon } from '@/components/StatusBadge';
import { formatBytes } from '@/lib/bytes';
import { useT, useApiText } from '@/lib/i18n/context';
import { useVerdict } from './useVerdict';
import classes from './parameters.module.css';

interface ExpressionResultProps {
  instance: Instance;
  row: InstanceParameter;
  text: string;
}

/**
 * The value of a typed expression on this instance's class, or the position of its error. Updated after a pause in
 * typing.
 */
export function ExpressionResult({ instance, row, text }: ExpressionResultProps) {
  const t = useT();
  const apiText = useApiText();
  const { data, isError, error, findings } = useVerdict(instance, row, text);
  if (isError) return <ErrorPanel error={error} />;
  if (!data) return <div>{t('state.loading')}</div>;
  if (data.error) {
    return (
      <div className={classes.bad} role="alert">
        <pre className={classes.caret}>{`${data.expression}\n${' '.repeat(data.error.column - 1)}^`}</pre>
        {t('parameters.expressionError', { found: data.error.found, expected: data.error.expected })}{' '}
        {data.error.hint}
      </div>
    );
  }
  return (
    <div aria-live="polite">
      <div className={classes.result}>
        = <strong>{data.value}</strong>
        {row.unit === 'bytes' && data.value && <> · {formatBytes(data.value)}</>}{' '}
        <span>({t('parameters.onClass', { name: instance.instance_class })})</span>
      </div>
      {findings.map((finding) => (
        <div key={finding.code} className={classes.finding}>
          <ToneIcon tone={finding.severity === 'blocking' ? 'danger' : 'warn'} size={14} />{' '}
          {apiText(`finding.${finding.code}`, finding.seen)}. {finding.needed}
        </div>
      ))}
    </div>
  );
}
