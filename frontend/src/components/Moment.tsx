import { useI18n } from '@/lib/i18n/context';
import { formatLocal, formatRelative, formatUtc } from '@/lib/time';
import { useNow } from './useNow';

interface MomentProps {
  at: string | number | null | undefined;
  relative?: boolean;
  /** True to show seconds, for lists in which events of the same minute have an order. */
  isExact?: boolean;
}

/**
 * A timestamp in the viewer's time zone, with UTC on hover. With `relative` it is the time from now instead, such as "5
 * min. ago", and keeps itself current. A dash if there is none.
 */
export function Moment({ at, relative, isExact }: MomentProps) {
  const { locale } = useI18n();
  const now = useNow(relative ? 15_000 : undefined);
  if (!at) return <span>–</span>;
  const text = relative ? formatRelative(at, now, locale) : formatLocal(at, locale, isExact);
  return (
    <time
      data-relative={relative}
      dateTime={new Date(at).toISOString()}
      title={`${formatLocal(at, locale, true)}\n${formatUtc(at)}`}
    >
      {text}
    </time>
  );
}
