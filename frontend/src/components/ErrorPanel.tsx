import { Button } from '@mantine/core';
import { ApiError, ConnectionLost } from '@/api/errors';
import { useT, useApiText } from '@/lib/i18n/context';
import { fieldErrorText } from '@/lib/i18n/apiTexts';
import { CopyLink } from './CopyLink';
import { IconAlertTriangle, IconRefresh } from './icons';
import { EnglishText } from './EnglishText';
import { Statements } from './Statements';
import classes from './ErrorPanel.module.css';

interface ErrorPanelProps {
  error: unknown;
  onRetry?: () => void;
}

/**
 * An error in words. For an error of the API also the rejected fields, the statements that a person has to run, and the
 * request id to search for in the log of the control plane. With `onRetry` it has a button.
 */
export function ErrorPanel({ error, onRetry }: ErrorPanelProps) {
  const t = useT();
  const apiText = useApiText();
  const isApi = error instanceof ApiError;
  const own = isApi ? apiText(`problem.${error.code}`, '') : '';
  const title = own || (isApi ? error.title : undefined);
  const message =
    error instanceof ConnectionLost
      ? t('error.unreachable')
      : error instanceof Error
        ? error.message
        : String(error);
  return (
    <div className={classes.panel} role="alert">
      <IconAlertTriangle size={18} aria-hidden="true" className={classes.icon} />
      <div className={classes.text}>
        {title !== undefined && title !== message && <div className={classes.title}>{title}</div>}
        {own ? <EnglishText>{message}</EnglishText> : <div>{message}</div>}
        {isApi && !isToldBy(message, error) && <FieldErrors error={error} />}
        {isApi && error.statements.length > 0 && <Statements lines={error.statements} />}
        {isApi && error.requestId && <RequestId id={error.requestId} />}
      </div>
      {onRetry && (
        <Button variant="default" leftSection={<IconRefresh size={14} />} onClick={onRetry}>
          {t('action.retry')}
        </Button>
      )}
    </div>
  );
}

/**
 * True if the message contains the names and details of all rejected fields, so that they need no list of their own.
 */
function isToldBy(message: string, { fields }: ApiError): boolean {
  return fields.every(({ field, detail }) => message.includes(field) && message.includes(detail));
}

function FieldErrors({ error }: { error: ApiError }) {
  const apiText = useApiText();
  return (
    <ul className={classes.fields}>
      {error.fields.map((item) => (
        <li key={`${item.field}:${item.detail}`}>
          {item.field && <code>{item.field}</code>} {fieldErrorText(apiText, item)}
        </li>
      ))}
    </ul>
  );
}

function RequestId({ id }: { id: string }) {
  const t = useT();
  return (
    <div className={classes.request}>
      {t('error.requestId')} <code>{id}</code> <CopyLink value={id} />
    </div>
  );
}
